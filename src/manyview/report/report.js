"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const points = data.points;
  const $ = (id) => document.getElementById(id);

  // Building blocks: everything from the data becomes a text node, never markup

  function build(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name.startsWith("--") || name === "fill") node.style.setProperty(name, value);
      else if (value !== null && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }
  const el = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const title = (text) => svg("title", {}, text);

  const whole = (x) => x.toLocaleString("en-US");
  const minus = (text) => (/^-[0.]*$/.test(text) ? text.slice(1) : text.replaceAll("-", "−"));
  const fixed = (x, digits = 2) => (x === null ? "–" : minus(x.toFixed(digits)));
  function number(x) {
    if (x === null) return "–";
    const size = Math.abs(x);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return minus(x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e"));
    return minus(Number(x.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 7 }));
  }
  const percent = (x) => (x === null ? "–" : x > 0 && x < 0.0005 ? "<0.1%" : `${(100 * x).toFixed(1)}%`);
  const count = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;

  /** Columns are {name, cell(row), kind}; a cell is text or a node, a kind is a class. The first one heads its row. */
  function table(columns, rows, { caption = null, label, kind = "" }) {
    const cells = (row) =>
      columns.map((column, i) =>
        el(i ? "td" : "th", { class: column.kind || "", scope: i ? null : "row" }, column.cell(row)));
    return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      el("table", { class: kind },
        caption && el("caption", {}, caption),
        el("thead", {}, el("tr", {}, ...columns.map((column) => el("th", { class: column.kind || "", scope: "col" }, column.name)))),
        el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row))))));
  }
  const bar = (share, text, fill = "var(--accent)") =>
    el("div", { class: "bar" }, el("i", { "--share": `${100 * Math.max(share || 0, 0)}%`, "--fill": fill }), el("span", {}, text));
  const pairs = (entries) => el("dl", {}, ...entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

  function drop(section) {
    $(section).remove();
    document.querySelector(`nav a[href="#${section}"]`).parentNode.remove();
  }

  // Markers: ten colours, then the next shape

  const SHAPES = [
    (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
    (r) => `M0,${-1.25 * r}L${1.2 * r},${0.9 * r}H${-1.2 * r}z`,
    (r) => `M${-0.9 * r},${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
    (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0z`,
    (r) => `M0,${1.25 * r}L${1.2 * r},${-0.9 * r}H${-1.2 * r}z`,
    (r) => `M${-1.3 * r},${-0.45 * r}h${0.85 * r}v${-0.85 * r}h${0.9 * r}v${0.85 * r}h${0.85 * r}v${0.9 * r}h${-0.85 * r}v${0.85 * r}h${-0.9 * r}v${-0.85 * r}h${-0.85 * r}z`,
  ];
  const COLOURS = 10, STEPS = 8;
  function look(column, code) {
    const rest = !column.ordered && column.values && code === column.labels.length - 1; // "other"
    if (code < 0 || rest) return { fill: "var(--muted)", shape: SHAPES[0] };
    if (column.ordered) {
      const step = column.labels.length < 2 ? STEPS - 1 : Math.round((code * (STEPS - 1)) / (column.labels.length - 1));
      return { fill: `var(--s${step})`, shape: SHAPES[0] };
    }
    return { fill: `var(--c${code % COLOURS})`, shape: SHAPES[Math.floor(code / COLOURS) % SHAPES.length] };
  }
  function marker(column, code) {
    const { fill, shape } = look(column, code);
    return svg("svg", { class: "marker", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("path", { d: shape(5.5), fill }));
  }
  const clusterColumn = data.columns[0];
  const clusterName = (k) => el("span", { class: "who" }, marker(clusterColumn, k), ` ${k}`);

  // Tooltip

  const tip = $("tip");
  function showTip(event, ...content) {
    tip.replaceChildren(...content);
    tip.hidden = false;
    const { pageX = 0, pageY = 0 } = event;
    const right = window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8;
    const below = pageY + 16 + tip.offsetHeight < window.scrollY + window.innerHeight;
    tip.style.left = `${Math.max(8, Math.min(pageX + 14, right))}px`;
    const top = below ? pageY + 16 : pageY - tip.offsetHeight - 12;
    tip.style.top = `${Math.max(window.scrollY + 8, top)}px`;
  }
  const hideTip = () => { tip.hidden = true; };

  // The map

  const state = { column: clusterColumn, lit: new Set(), found: null, current: null };
  const indexOf = new Map(points.id.map((id, i) => [id, i]));
  let dots = [], places = [], ring = null;

  function drawMap() {
    const width = Math.max($("plot").clientWidth, 240);
    const height = Math.round(Math.min(Math.max(width * 0.72, 260), 620));
    const margin = 18;
    const radius = Math.max(2, Math.min(width / 190, 130 / Math.sqrt(points.id.length)));
    places = points.id.map((_, i) => [
      margin + (points.x[i] / 1000) * (width - 2 * margin),
      margin + (1 - points.y[i] / 1000) * (height - 2 * margin),
    ]);
    dots = places.map(([x, y], i) => svg("path", { class: "dot", transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, "data-i": i }));
    ring = svg("circle", { class: "ring", r: radius + 4, visibility: "hidden" });
    const plane = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img", id: "plane",
      "aria-label": `Map of ${count(points.id.length, "sample")} in ${count(data.clusters.length, "cluster")}. ` +
        "Left and right arrow keys step through the samples, Escape clears the selection.",
      onpointermove: (event) => hover(event), onpointerleave: () => { hideTip(); showRing(state.current); },
      onclick: (event) => select(nearest(event)), onkeydown: step,
    }, ...dots, ...tags(radius), ring);
    $("plot").replaceChildren(plane);
    paint(radius);
    showRing(state.current);
  }

  /** The number of each cluster, over its sample nearest to the middle of it. */
  function tags(radius) {
    const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    return data.clusters.map((_, k) => {
      const members = places.filter((_place, i) => points.cluster[i] === k);
      const x = middle(members.map((place) => place[0])), y = middle(members.map((place) => place[1]));
      const off = (place) => (place[0] - x) ** 2 + (place[1] - y) ** 2;
      const at = members.reduce((best, place) => (off(place) < off(best) ? place : best));
      return svg("text", { class: "tag", x: at[0], y: Math.max(at[1] - radius - 8, 9) }, String(k));
    });
  }

  function paint(radius) {
    dots.forEach((dot, i) => {
      const { fill, shape } = look(state.column, state.column.codes[i]);
      dot.style.fill = fill;
      dot.setAttribute("d", shape(radius));
    });
    dim();
  }
  function dim() {
    dots.forEach((dot, i) => {
      const shown = (!state.lit.size || state.lit.has(state.column.codes[i])) && (!state.found || state.found.has(i));
      dot.classList.toggle("dim", !shown);
    });
  }

  function drawLegend() {
    const column = state.column;
    const entries = column.labels.map((label, code) => [code, label, column.counts[code]]);
    if (column.missing) entries.push([-1, "missing", column.missing]);
    $("legend-title").textContent = column.name;
    $("legend").replaceChildren(...entries.map(([code, label, size]) =>
      el("li", {}, el("button", {
        type: "button", "aria-pressed": "false", title: label,
        onclick: (event) => {
          if (!state.lit.delete(code)) state.lit.add(code);
          event.currentTarget.setAttribute("aria-pressed", state.lit.has(code));
          dim();
        },
      }, marker(column, code), el("span", { class: "clip" }, label), el("span", { class: "count" }, whole(size))))));
  }

  function nearest(event) {
    const plane = $("plane"), frame = plane.getBoundingClientRect();
    const scale = plane.viewBox.baseVal.width / frame.width;
    const x = (event.clientX - frame.left) * scale, y = (event.clientY - frame.top) * scale;
    let best = null, least = (event.pointerType === "touch" ? 26 : 14) ** 2;
    places.forEach((place, i) => {
      const off = (place[0] - x) ** 2 + (place[1] - y) ** 2;
      if (off < least && !dots[i].classList.contains("dim")) [best, least] = [i, off];
    });
    return best;
  }
  function showRing(i) {
    ring.setAttribute("visibility", i === null ? "hidden" : "visible");
    if (i !== null) { ring.setAttribute("cx", places[i][0]); ring.setAttribute("cy", places[i][1]); }
  }
  const valueOf = (column, i) =>
    column.codes[i] < 0 ? "missing"
      : column.values === null ? column.labels[column.codes[i]]
      : typeof column.values[i] === "number" ? number(column.values[i]) : column.values[i];
  function membership(i) {
    const rows = [["cluster", el("span", {}, clusterName(points.cluster[i]), ` (${percent(points.own[i])} of its links)`)]];
    if (points.next[i] > 0) rows.push(["next", el("span", {}, clusterName(points.other[i]), ` (${percent(points.next[i])})`)]);
    return rows;
  }
  const values = (i, most) => data.columns.slice(1, most).map((column) => [column.name, valueOf(column, i)]);

  function hover(event) {
    const i = nearest(event);
    showRing(i === null ? state.current : i);
    if (i === null) hideTip();
    else showTip(event, el("b", {}, points.id[i]), pairs([...membership(i), ...values(i, 9)]));
  }
  function select(i) {
    state.current = i;
    showRing(i);
    $("sample").replaceChildren(...(i === null ? [] : [el("h3", { class: "name" }, points.id[i]), pairs([...membership(i), ...values(i)])]));
  }
  function step(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") select(null);
    if (!by) return;
    event.preventDefault();
    const shown = [...dots.keys()].filter((i) => !dots[i].classList.contains("dim"));
    if (!shown.length) return;
    const at = shown.indexOf(state.current);
    select(shown[at < 0 ? 0 : (at + by + shown.length) % shown.length]);
  }

  function search() {
    const text = $("search").value.trim().toLowerCase();
    const hits = [...points.id.keys()].filter((i) => points.id[i].toLowerCase().includes(text));
    state.found = text ? new Set(hits) : null;
    $("found").textContent = text ? `${whole(hits.length)} of ${whole(points.id.length)} drawn` : "";
    dim();
    return text ? hits : [];
  }

  /** A sample's id; a button that finds it on the map, if it is drawn there. */
  function sampleName(id) {
    if (!indexOf.has(id)) return el("span", { class: "name" }, id);
    return el("button", { type: "button", class: "id", onclick: () => { select(indexOf.get(id)); $("map").scrollIntoView(); } }, id);
  }

  function startMap() {
    $("colour").append(...data.columns.map((column, i) => el("option", { value: i }, column.name)));
    $("colour").addEventListener("change", (event) => {
      state.column = data.columns[event.target.value];
      state.lit.clear();
      drawLegend();
      drawMap();
    });
    $("search").addEventListener("input", search);
    $("search").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const hits = search();
      if (hits.length) select(hits[(hits.indexOf(state.current) + 1) % hits.length]);
    });
    const drawn = points.id.length < points.total
      ? `${whole(points.id.length)} of ${whole(points.total)} samples are drawn, some from every cluster; counts include all samples.`
      : "All samples are drawn.";
    const left = data.columnsLeftOut ? ` ${count(data.columnsLeftOut, "further column")} of the metadata omitted.` : "";
    $("map-note").textContent = `${drawn} Places: ${points.how} of the consensus graph.${left}`;
    drawLegend();
    drawMap();
    let width = $("plot").clientWidth;
    new ResizeObserver(() => {
      if ($("plot").clientWidth !== width) { width = $("plot").clientWidth; drawMap(); }
    }).observe($("plot"));
  }

  // Clusters and doubtful samples

  function box([low, first, middle, third, high]) {
    const at = (value) => 72 + 70 * value;
    return svg("svg", { class: "box", viewBox: "0 0 144 18", role: "img" },
      title(`median ${fixed(middle)}, middle half ${fixed(first)} to ${fixed(third)}, 90 % from ${fixed(low)} to ${fixed(high)}`),
      svg("line", { class: "axis", x1: at(0), x2: at(0), y1: 0, y2: 18 }),
      svg("line", { class: "axis", x1: at(-1), x2: at(1), y1: 9, y2: 9 }),
      svg("line", { class: "whisker", x1: at(low), x2: at(high), y1: 9, y2: 9 }),
      svg("rect", { x: at(first), y: 3, width: Math.max(at(third) - at(first), 1), height: 12 }),
      svg("line", { class: "median", x1: at(middle), x2: at(middle), y1: 3, y2: 15 }));
  }
  const hasStability = data.clusters[0].stability !== null;
  const several = data.clusters.length > 1;

  function drawClusters() {
    const largest = Math.max(...data.clusters.map((cluster) => cluster.size));
    const columns = [
      { name: "cluster", cell: ([, k]) => clusterName(k) },
      { name: "samples", cell: ([row, k]) => bar(row.size / largest, whole(row.size), look(clusterColumn, k).fill) },
      { name: "share", kind: "number", cell: ([row]) => percent(row.size / points.total) },
    ];
    if (several) columns.push(
      { name: "links inside", cell: ([row]) => bar(row.inside, percent(row.inside)) },
      { name: "silhouette", kind: "number", cell: ([row]) => fixed(row.silhouette) },
      { name: "−1 to 1", cell: ([row]) => box(row.quantiles) });
    if (hasStability) columns.push({ name: "stability", cell: ([row]) => bar(row.stability, fixed(row.stability)) });
    else document.querySelector(".if-stability").remove();
    $("clusters-table").append(table(columns, data.clusters.map((row, k) => [row, k]), { label: "Clusters" }));
  }

  function drawDoubtful() {
    if (!several) return drop("doubtful");
    const columns = [
      { name: "sample", kind: "name", cell: (row) => sampleName(row.id) },
      { name: "cluster", cell: (row) => clusterName(row.cluster) },
      { name: "links to it", cell: (row) => bar(row.own, percent(row.own), look(clusterColumn, row.cluster).fill) },
      { name: "next", cell: (row) => (row.next > 0 ? clusterName(row.other) : "–") },
      { name: "links to that", cell: (row) => bar(row.next, percent(row.next), look(clusterColumn, row.other).fill) },
      { name: "silhouette", kind: "number", cell: (row) => fixed(row.silhouette) },
    ];
    if (hasStability) columns.push({ name: "stability", kind: "number", cell: (row) => fixed(row.stability) });
    return $("doubtful-table").append(table(columns, data.doubtful, { label: "Doubtful samples" }));
  }

  // The heat map of the links

  function drawHeat() {
    const { size, cells } = data.image;
    const bytes = Uint8Array.from(atob(cells), (character) => character.charCodeAt(0));
    const canvas = el("canvas", { width: size, height: size, role: "img",
      "aria-label": `Links between samples ordered by cluster; ${percent(data.within)} are within clusters` });
    const context = canvas.getContext("2d"), image = context.createImageData(size, size);
    bytes.forEach((byte, i) => {
      const shade = byte / 255; // from white to dark blue; a style sheet turns it around for dark pages
      image.data.set([255 - 240 * shade, 255 - 190 * shade, 255 - 120 * shade, 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
    const starts = [0, ...data.ends.slice(0, -1)];
    const cluster = (share) => Math.max(0, data.ends.findIndex((end) => share < end));
    canvas.addEventListener("pointermove", (event) => {
      const frame = canvas.getBoundingClientRect();
      const from = cluster((event.clientY - frame.top) / frame.height), to = cluster((event.clientX - frame.left) / frame.width);
      showTip(event, el("span", {}, `${percent(data.links[from][to])} of the links of cluster ${from} ` + (from === to ? "stay inside" : `go to cluster ${to}`)));
    });
    canvas.addEventListener("pointerleave", hideTip);
    $("heat").append(canvas, heatFrame(starts));
  }
  function heatFrame(starts) {
    const left = 32, top = 24, span = 400;
    const lines = data.ends.slice(0, -1).flatMap((end) => [
      svg("line", { x1: left + span * end, x2: left + span * end, y1: top, y2: top + span }),
      svg("line", { x1: left, x2: left + span, y1: top + span * end, y2: top + span * end })]);
    let last = -1;
    const names = data.ends.flatMap((end, k) => {
      const at = (span * (starts[k] + end)) / 2;
      if (at - last < 13 && last >= 0) return []; // names of tiny clusters would run into each other
      last = at;
      return [svg("text", { x: left + at, y: top - 7, "text-anchor": "middle" }, String(k)),
        svg("text", { x: left - 7, y: top + at + 4, "text-anchor": "end" }, String(k))];
    });
    return svg("svg", { viewBox: `0 0 ${left + span} ${top + span}`, "aria-hidden": "true", preserveAspectRatio: "none" }, ...lines, ...names);
  }
  function drawLinks() {
    const pairsOf = data.links.flatMap((row, i) => row.slice(0, i).map((share, j) => [j, i, data.links[j][i], share]));
    const strength = ([, , there, back]) => Math.max(there, back);
    const joined = pairsOf.filter((pair) => strength(pair) > 0).sort((a, b) => strength(b) - strength(a));
    const columns = [
      { name: "clusters", cell: ([i, j]) => el("span", { class: "who" }, clusterName(i), " and ", clusterName(j)) },
      { name: "links of the first", cell: ([, , there]) => bar(there, percent(there)) },
      { name: "of the second", cell: ([, , , back]) => bar(back, percent(back)) },
    ];
    const name = "Clusters most linked to each other";
    if (joined.length) $("links").append(table(columns, joined.slice(0, 10), { caption: name, label: name }));
  }

  // Views

  function drawViews() {
    const { views, n_compared: compared } = data.agreement;
    const weights = views.some((view) => view.weight !== null), lacking = views.some((view) => view.missing > 0);
    const columns = [
      { name: "view", kind: "name", cell: (view) => view.name },
      { name: "features", kind: "number", cell: (view) => whole(view.features) },
      { name: "scaling", cell: (view) => view.scaling },
    ];
    if (lacking) columns.push(
      { name: "samples present", cell: (view) => bar(view.present, percent(view.present)) },
      { name: "values missing", kind: "number", cell: (view) => percent(view.missing) });
    if (weights) columns.push({ name: "weight", cell: (view) => bar(view.weight, fixed(view.weight)) });
    else document.querySelector(".if-weights").remove();
    columns.push(
      { name: "ACC", cell: (view) => bar(view.acc, fixed(view.acc)) },
      { name: "NMI", cell: (view) => bar(view.nmi, fixed(view.nmi)) });
    $("views-table").append(table(columns, views, { label: "Views" }));
    if (compared < points.total) $("views-note").textContent = `Views were clustered on a random ${whole(compared)} of the ${whole(points.total)} samples.`;
    if (data.unmatched.length) $("unmatched").append(el("h3", {}, "Samples missing from a file"), table([
      { name: "view", kind: "name", cell: (row) => row.name },
      { name: "samples", kind: "number", cell: (row) => whole(row.count) },
      { name: "ids", kind: "name", cell: (row) => row.ids.join(", ") + (row.count > row.ids.length ? ", …" : "") },
    ], data.unmatched, { label: "Samples missing from views" }));
  }

  // Features and suspected entries

  function drawFeatures() {
    if (!data.features || !several) return drop("features");
    const { mapped, top } = data.features;
    const strongest = Math.max(...mapped.flatMap((feature) => feature.effects.map(Math.abs)));
    const written = data.clusters.length <= 14;
    function effect(feature, k) {
      const d = feature.effects[k], share = Math.round(100 * Math.min(Math.abs(d) / Math.min(strongest, 4), 1));
      return el("td", { class: d > 0 ? "up" : "down", "--share": `${share}%`,
        title: `${feature.feature}, cluster ${k}: d = ${fixed(d)}` }, written ? fixed(d, 1) : "");
    }
    $("features-map").append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Effects of features" },
      el("table", { class: "effects" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "feature"), ...data.clusters.map((_, k) => el("th", { scope: "col" }, String(k))),
          el("th", { scope: "col", title: "share of the variation that lies between the clusters" }, "η²"))),
        el("tbody", {}, ...mapped.map((feature) => el("tr", {},
          el("th", { scope: "row", class: "name" }, el("bdi", {}, feature.feature), " ", el("small", {}, feature.view)),
          ...data.clusters.map((_, k) => effect(feature, k)), el("td", {}, fixed(feature.explained))))))));
    $("features-top").append(...top.map((effects, k) => el("article", {}, el("h4", {}, "Cluster ", clusterName(k)),
      el("table", {}, el("tbody", {}, ...effects.map((row) => el("tr", {},
        el("th", { scope: "row", class: "clip", title: `${row.feature} (${row.view})` }, el("bdi", {}, row.feature), " ", el("small", {}, row.view)),
        el("td", { class: row.effect > 0 ? "higher" : "lower" }, row.effect > 0 ? "▲" : "▼"),
        el("td", { class: "number", title: "Cohen's d" }, fixed(row.effect)),
        el("td", { class: "number", title: "mean inside, mean of the others" }, number(row.inside), el("small", {}, ` vs ${number(row.outside)}`)))))))));
    return null;
  }

  function drawSuspects() {
    if (!data.suspects) return drop("suspects");
    const most = (entries, name) => el("div", {}, ...entries.map(([what, times]) => el("div", {}, name(what), ` (${whole(times)})`)));
    $("suspects-views").append(table([
      { name: "view", kind: "name", cell: (view) => view.name },
      { name: "suspected", kind: "number", cell: (view) => whole(view.count) },
      { name: "of those observed", cell: (view) => bar(view.share, percent(view.share)) },
      { name: "most in the features", kind: "name", cell: (view) => most(view.features, (name) => el("span", { class: "name" }, name)) },
      { name: "most in the samples", kind: "name", cell: (view) => most(view.samples, sampleName) },
    ], data.suspects.views, { label: "Suspected entries by view" }));
    $("suspects-table").append(table([
      { name: "sample", kind: "name", cell: (entry) => sampleName(entry.id) },
      { name: "view", kind: "name", cell: (entry) => entry.view },
      { name: "feature", kind: "name", cell: (entry) => entry.feature },
      { name: "observed", kind: "number", cell: (entry) => number(entry.observed) },
      { name: "expected", kind: "number", cell: (entry) => number(entry.expected) },
      { name: "off by (sd)", kind: "number", cell: (entry) => (entry.size === null ? "∞" : fixed(entry.size, 1)) },
    ], data.suspects.entries, { label: "Largest suspected entries" }));
    return null;
  }

  // Line charts

  function ticks(low, high) {
    const rough = (high - low) / 4 || 1, unit = 10 ** Math.floor(Math.log10(rough));
    const by = unit * [1, 2, 5, 10].find((factor) => rough <= factor * unit);
    const first = Math.ceil(low / by - 1e-9);
    return Array.from({ length: Math.floor(high / by + 1e-9) - first + 1 }, (_, i) => (first + i) * by);
  }
  function powers(low, high) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const by = Math.ceil((last - first) / 5) || 1;
    return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, i) => 10 ** (first + i * by));
  }
  function chart(name, x, y, { log = false, xName, chosen = null }) {
    const width = 420, height = 250, left = 62, right = 14, top = 12, bottom = 44;
    const known = y.filter((value) => value !== null && (!log || value > 0));
    if (!known.length) return "";
    const marks = log ? powers(Math.min(...known), Math.max(...known)) : ticks(Math.min(...known), Math.max(...known));
    const low = Math.min(marks[0], ...known), high = Math.max(marks[marks.length - 1], ...known);
    const scale = log ? Math.log10 : (value) => value;
    const across = (value) => left + ((value - x[0]) / (x[x.length - 1] - x[0] || 1)) * (width - left - right);
    const up = (value) => height - bottom - ((scale(value) - scale(low)) / (scale(high) - scale(low) || 1)) * (height - top - bottom);
    const shown = x.map((value, i) => [value, y[i]]).filter(([, value]) => known.includes(value)).map(([a, b]) => [across(a), up(b)]);
    return el("figure", {}, el("figcaption", {}, name),
      svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: from ${number(known[0])} to ${number(known[known.length - 1])}` },
        ...marks.flatMap((mark) => [
          svg("line", { class: "grid", x1: left, x2: width - right, y1: up(mark), y2: up(mark) }),
          svg("text", { x: left - 8, y: up(mark) + 4, "text-anchor": "end" }, number(mark))]),
        svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
        ...ticks(x[0], x[x.length - 1]).filter(Number.isInteger).map((mark) =>
          svg("text", { x: across(mark), y: height - bottom + 18, "text-anchor": "middle" }, whole(mark))),
        svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xName),
        chosen !== null && svg("line", { class: "chosen", x1: across(chosen), x2: across(chosen), y1: top, y2: height - bottom }),
        svg("polyline", { class: "trace", points: shown.map((place) => place.join(",")).join(" ") }),
        ...(shown.length <= 40 ? shown.map(([a, b]) => svg("circle", { class: "dots", cx: a, cy: b, r: 3 })) : [])));
  }

  function drawSelection() {
    const selection = data.selection;
    if (!selection) return drop("selection");
    const options = { xName: "number of clusters", chosen: selection.chosen };
    return $("selection-charts").append(
      ...Object.entries({
        separation: "Separation", stability: "Stability", score: "Score", eigengap: "Eigengap (not used)",
      }).map(([name, label]) => chart(`${label} (chosen: ${selection.chosen})`, selection.candidates, selection[name], options)));
  }
  function drawConvergence() {
    const traces = Object.entries(data.convergence);
    if (!traces.length) return drop("convergence");
    const n = traces[0][1].length;
    const x = Array.from({ length: n }, (_, i) => i + 1);
    $("convergence-note").textContent = `${count(n, "iteration")}, ${data.converged ? "converged: the residual fell below the tolerance" : "not converged"}. ` +
      "The residual should decrease; if it levels off above the tolerance, more iterations will not help.";
    return $("convergence-charts").append(...traces.map(([name, y]) => chart(name, x, y, { log: name === "residual", xName: "iteration" })));
  }

  // Words

  function drawWords() {
    $("title").textContent = data.title;
    $("facts").append(...data.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    $("highlights").append(...data.highlights.map((text) => el("li", {}, text)));
    $("paragraph").textContent = data.paragraph;
    $("references").append(...data.references.map((text) => el("li", {}, text)));
    const listing = (name, rows) => table([{ name, cell: (row) => row[0] }, { name: "", kind: "name", cell: (row) => String(row[1]) }], rows, { label: name });
    $("parameters").append(listing("parameter", data.parameters));
    $("versions").append(listing("version", data.versions));
  }

  function copy() {
    const text = [data.paragraph, "", ...data.references].join("\n");
    const done = () => { $("copied").textContent = "Copied."; };
    const byHand = () => {
      getSelection().selectAllChildren($("paragraph"));
      $("copied").textContent = "Selected: press Ctrl+C.";
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  }

  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    $("theme").setAttribute("aria-pressed", dark);
    $("theme").textContent = dark ? "Light" : "Dark";
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches);
  dark.addEventListener("change", () => setTheme(dark.matches));
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
  $("copy").addEventListener("click", copy);
  drawWords();
  startMap();
  drawClusters();
  drawDoubtful();
  drawHeat();
  drawLinks();
  drawViews();
  drawFeatures();
  drawSuspects();
  drawSelection();
  drawConvergence();
})();
