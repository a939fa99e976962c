// The clusters by name, and the map of the samples.

const points = data.points;
const clusterColumn = data.columns[0];
const clusterName = (k) => el("span", { class: "who" }, marker(clusterColumn, k), ` ${k}`);
const clusterFill = (k) => look(clusterColumn, k).fill;

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
  const rows = [["cluster", el("span", {}, clusterName(points.cluster[i]), ` (${percent(points.own[i])} likely)`)]];
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
  $("map-note").textContent = `${drawn} Layout: ${points.how} of the consensus graph.${left}`;
  drawLegend();
  drawMap();
  $("map-note").before(saver("SVG", "Map of the samples", () => svgText($("plane"), "Map of the samples")));
  let width = $("plot").clientWidth;
  new ResizeObserver(() => {
    if ($("plot").clientWidth !== width) { width = $("plot").clientWidth; drawMap(); }
  }).observe($("plot"));
}
