// Results compared: agreement, flows, samples that moved, settings.

// A cluster keeps the colour of the one it matches in the previous result; a new one gets a free colour.
const colours = [];
data.results.forEach((result, i) => {
  const flows = i ? data.steps[i - 1].filter((flow) => flow.stays) : [];
  const own = new Map(flows.map((flow) => [flow.target, colours[i - 1].get(flow.source)]));
  const before = new Set(i ? colours[i - 1].values() : []), used = new Set(own.values());
  const first = (taken) => { let k = 0; while (taken.has(k)) k++; return k; };
  for (const { label } of result.clusters) {
    if (own.has(label)) continue;
    const fresh = first(new Set([...before, ...used])), free = first(used);
    own.set(label, fresh < COLOURS ? fresh : free);
    used.add(own.get(label));
  }
  colours.push(own);
});
const palette = { ordered: false, values: null, labels: [] };
const fillOf = (i, label) => look(palette, colours[i].get(label)).fill;
const nameOf = (i, label) => el("span", { class: "who" }, marker(palette, colours[i].get(label)), ` ${label}`);
const within = (i, name, value) => ({ name, value, cell: (row) => nameOf(i, value(row)) });

function drawWords() {
  $("title").textContent = data.title;
  $("facts").append(...data.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  $("highlights").append(...data.highlights.map((sentence) => el("li", {}, sentence)));
}

function drawAgreement() {
  $("agreement-table").append(table([
    text("result", (row) => row.first),
    text("compared with", (row) => row.second),
    gauge("ARI", (row) => row.ari, { show: (x) => fixed(x, 3) }),
    gauge("NMI", (row) => row.nmi, { show: (x) => fixed(x, 3) }),
    gauge("ACC", (row) => row.acc, { show: (x) => fixed(x, 3) }),
    figure("moved", (row) => row.moved, whole),
  ], data.agreement, { label: "Agreement", kind: "cards" }));
}

// The flow picture

/** Clusters of each result from top to bottom: the first in their own order, the next ones next to their matches. */
function orders() {
  const placed = [data.results[0].clusters.map(({ label }) => label)];
  data.steps.forEach((flows, i) => {
    const weight = (label) => {
      const own = flows.filter((flow) => flow.target === label), match = own.find((flow) => flow.stays);
      if (match) return placed[i].indexOf(match.source);
      return own.reduce((sum, flow) => sum + flow.count * placed[i].indexOf(flow.source), 0) / (own.reduce((sum, flow) => sum + flow.count, 0) || 1);
    };
    placed.push(data.results[i + 1].clusters.map(({ label }) => label).sort((a, b) => weight(a) - weight(b)));
  });
  return placed;
}

function flowChart() {
  const placed = orders(), total = data.results[0].clusters.reduce((sum, { size }) => sum + size, 0);
  const most = Math.max(...placed.map((labels) => labels.length)), gap = 12, top = 34, block = 16;
  const height = Math.max(300, 26 * most) + gap * most, width = Math.max(room("flow-plot"), 150 * data.results.length), left = 70, right = 70;
  const scale = (height - gap * most) / total;
  const x = (i) => left + (i * (width - left - right - block)) / (data.results.length - 1);
  const letters = Math.floor((0.48 * (x(1) - x(0) + 2 * block)) / LETTER); // of a heading, so that it does not run into the next one
  const places = data.results.map((result, i) => {
    const size = new Map(result.clusters.map((cluster) => [cluster.label, cluster.size]));
    let at = top;
    return new Map(placed[i].map((label) => {
      const place = { y: at, size: size.get(label), out: 0, in: 0 };
      at += place.size * scale + gap;
      return [label, place];
    }));
  });
  const bands = data.steps.flatMap((flows, i) => {
    const by = (flow) => placed[i].indexOf(flow.source) * 1000 + placed[i + 1].indexOf(flow.target);
    return [...flows].sort((a, b) => by(a) - by(b)).map((flow) => band(flow, i));
  });
  function band(flow, i) {
    const from = places[i].get(flow.source), to = places[i + 1].get(flow.target), thick = flow.count * scale;
    const y0 = from.y + from.out * scale, y1 = to.y + to.in * scale, x0 = x(i) + block, x1 = x(i + 1), middle = (x0 + x1) / 2;
    from.out += flow.count;
    to.in += flow.count;
    const [a, b, c, d] = [y0, y1, y1 + thick, y0 + thick].map((value) => value.toFixed(1));
    return svg("path", { class: flow.stays ? "flow" : "flow moves", d: `M${x0},${a}C${middle},${a} ${middle},${b} ${x1},${b}V${c}C${middle},${c} ${middle},${d} ${x0},${d}z`, fill: fillOf(i, flow.source),
      onpointermove: (event) => showTip(event, el("span", {}, `${count(flow.count, "sample")}: cluster ${flow.source} to cluster ${flow.target}`)), onpointerleave: hideTip });
  }
  const blocks = data.results.flatMap((result, i) => [
    svg("text", { class: "head", x: i === 0 ? x(0) : i === data.results.length - 1 ? x(i) + block : x(i) + block / 2, y: 16, "text-anchor": i === 0 ? "start" : i === data.results.length - 1 ? "end" : "middle" },
      title(result.name), result.name.length > letters ? `…${result.name.slice(1 - letters)}` : result.name),
    ...[...places[i]].flatMap(([label, place]) => {
      const last = i === data.results.length - 1;
      return [svg("rect", { x: x(i), y: place.y, width: block, height: Math.max(place.size * scale, 1), fill: fillOf(i, label) }),
        svg("text", { class: "end", x: last ? x(i) + block + 6 : x(i) - 6, y: place.y + (place.size * scale) / 2 + 4, "text-anchor": last ? "start" : "end" }, title(label), label.length > 9 ? `${label.slice(0, 8)}…` : label)];
    })]);
  return svg("svg", { class: "chart wide", viewBox: `0 0 ${width} ${top + height}`, role: "img", "aria-label": "Flow of the samples between the clusters; the table below has the numbers" }, ...bands, ...blocks);
}

function drawFlow() {
  $("flow-plot").append(picture(flowChart(), "Who moved where"));
  data.steps.forEach((flows, i) => {
    const moves = flows.filter((flow) => !flow.stays).sort((a, b) => b.count - a.count);
    const [from, to] = [data.results[i].name, data.results[i + 1].name], caption = `Moves from ${from} to ${to}`;
    if (moves.length) $("flow-table").append(table([
      within(i, "from cluster", (flow) => flow.source),
      within(i + 1, "to cluster", (flow) => flow.target),
      figure("samples", (flow) => flow.count, whole),
    ], moves, { label: caption, caption }));
  });
}

function drawMoved() {
  if (!data.moved.length) return drop("moved");
  $("moved-table").append(table([
    text("sample", (row) => row.id),
    ...data.results.map((result, i) => within(i, result.name, (row) => String(row.labels[i]))),
  ], data.moved, { label: "Samples that moved" }));
  if (data.moved.length < data.movedTotal)
    $("moved-note").textContent = `The first ${whole(data.moved.length)} of ${whole(data.movedTotal)}; comparison.csv has all.`;
  return null;
}

function drawSettings() {
  const unknown = data.unknown.length ? ` The settings of ${data.unknown.join(", ")} are not known.` : "";
  const say = (text) => { $("settings-note").textContent = `${text}${unknown}`; };
  if (data.results.length - data.unknown.length < 2) return say("There is nothing to compare.");
  if (!data.differences.length) return say("The method, its parameters, the files and the versions of the packages are the same.");
  say("Parameters, files and versions that are not the same in all results; a dash if a result has no such setting.");
  $("settings-table").append(table([
    text("setting", (row) => row.name),
    ...data.results.map((result, i) => text(result.name, (row) => row.values[i])),
  ], data.differences, { label: "Settings that differ", kind: "cards" }));
  return null;
}

drawWords();
drawAgreement();
drawFlow();
drawMoved();
drawSettings();
