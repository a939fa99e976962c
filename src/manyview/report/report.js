// The report, section by section. A section without content removes itself.

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
    ofCluster("cluster", (row) => row.cluster),
    { name: "samples", value: (row) => row.size, cell: (row) => bar(row.size / largest, whole(row.size), clusterFill(row.cluster)) },
    figure("share", (row) => row.size / points.total, percent),
  ];
  if (several) columns.push(
    gauge("links inside", (row) => row.inside),
    figure("silhouette", (row) => row.silhouette, fixed),
    { name: "−1 to 1", cell: (row) => box(row.quantiles), sorted: false });
  if (hasStability) columns.push(gauge("stability", (row) => row.stability, { show: fixed }));
  else document.querySelector(".if-stability").remove();
  $("clusters-table").append(table(columns, data.clusters, { label: "Clusters" }));
}

const SURE = 0.999; // a label as likely as this is not doubtful

function drawDoubtful() {
  if (!several) return drop("doubtful");
  const columns = [
    { name: "sample", kind: "name", value: (row) => row.id, cell: (row) => sampleName(row.id) },
    ofCluster("cluster", (row) => row.cluster),
    gauge("confidence", (row) => row.own, { fill: (row) => clusterFill(row.cluster) }),
    ofCluster("second", (row) => (row.next > 0 ? row.other : null)),
    gauge("its probability", (row) => row.next, { fill: (row) => clusterFill(row.other) }),
    figure("silhouette", (row) => row.silhouette, fixed),
  ];
  if (hasStability) columns.push(figure("stability", (row) => row.stability, fixed));
  const doubtful = data.doubtful.filter((row) => row.own < SURE);
  if (!doubtful.length) return $("doubtful-table").append(el("p", {}, `None: every label is at least ${percent(SURE)} likely.`));
  return $("doubtful-table").append(table(columns, doubtful, { label: "Doubtful samples" }));
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
  const frame = heatFrame(starts);
  $("heat").append(canvas, frame);
  $("heat").after(saver("SVG", "Links", () => heatText(canvas, frame)));
}
/** The cells and their frame as one picture, to save. */
function heatText(canvas, frame) {
  const cells = svg("image", { x: 32, y: 24, width: 400, height: 400, href: canvas.toDataURL() });
  frame.prepend(cells);
  const saved = svgText(frame, "Links");
  cells.remove();
  return saved;
}
function heatFrame(starts) {
  const left = 32, top = 24, span = 400;
  const lines = data.ends.slice(0, -1).flatMap((end) => [
    svg("line", { x1: left + span * end, x2: left + span * end, y1: top, y2: top + span }),
    svg("line", { x1: left, x2: left + span, y1: top + span * end, y2: top + span * end })]);
  let last = -1;
  const names = data.ends.flatMap((end, k) => {
    const at = (span * (starts[k] + end)) / 2;
    if (at - last < 18 && last >= 0) return []; // names of tiny clusters would run into each other
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
    { name: "clusters", value: ([i, j]) => `${i} and ${j}`, cell: ([i, j]) => el("span", { class: "who" }, clusterName(i), " and ", clusterName(j)) },
    gauge("links of the first", ([, , there]) => there),
    gauge("of the second", ([, , , back]) => back),
  ];
  const name = "Clusters most linked to each other";
  if (joined.length) $("links").append(table(columns, joined.slice(0, 10), { caption: name, label: name }));
}

// Views

function drawViews() {
  const { views, n_compared: compared } = data.agreement;
  const weights = views.some((view) => view.weight !== null), lacking = views.some((view) => view.missing > 0);
  const columns = [
    text("view", (view) => view.name),
    figure("features", (view) => view.features, whole),
    text("scaling", (view) => view.scaling, ""),
  ];
  if (lacking) columns.push(gauge("samples present", (view) => view.present), figure("values missing", (view) => view.missing, percent));
  if (weights) columns.push(gauge("weight", (view) => view.weight, { show: fixed }));
  else document.querySelector(".if-weights").remove();
  columns.push(gauge("ACC", (view) => view.acc, { show: fixed }), gauge("NMI", (view) => view.nmi, { show: fixed }));
  $("views-table").append(table(columns, views, { label: "Views" }));
  if (compared < points.total) $("views-note").textContent = `Views were clustered on a random ${whole(compared)} of the ${whole(points.total)} samples.`;
  if (data.unmatched.length) $("unmatched").append(el("h3", {}, "Samples missing from a file"), table([
    text("view", (row) => row.name),
    figure("samples", (row) => row.count, whole),
    text("ids", (row) => row.ids.join(", ") + (row.count > row.ids.length ? ", …" : "")),
  ], data.unmatched, { label: "Samples missing from views" }));
}

// Suspected entries

function drawSuspects() {
  if (!data.suspects) return drop("suspects");
  const most = (entries, name) => el("div", {}, ...entries.map(([what, times]) => el("div", {}, name(what), ` (${whole(times)})`)));
  const list = (entries) => entries.map(([what, times]) => `${what} (${times})`).join("; ");
  $("suspects-views").append(table([
    text("view", (view) => view.name),
    figure("suspected", (view) => view.count, whole),
    gauge("of those observed", (view) => view.share),
    { name: "most in the features", kind: "name", value: (view) => list(view.features), cell: (view) => most(view.features, (name) => el("span", { class: "name" }, name)) },
    { name: "most in the samples", kind: "name", value: (view) => list(view.samples), cell: (view) => most(view.samples, sampleName) },
  ], data.suspects.views, { label: "Suspected entries by view" }));
  if (!data.suspects.entries.length) return $("suspects-largest").remove();
  $("suspects-table").append(table([
    { name: "sample", kind: "name", value: (entry) => entry.id, cell: (entry) => sampleName(entry.id) },
    text("view", (entry) => entry.view),
    text("feature", (entry) => entry.feature),
    figure("observed", (entry) => entry.observed),
    figure("expected", (entry) => entry.expected),
    figure("off by (sd)", (entry) => (entry.size === null ? Infinity : entry.size), (size) => (size === Infinity ? "∞" : fixed(size, 1))),
  ], data.suspects.entries, { label: "Largest suspected entries" }));
  return null;
}

function drawSelection() {
  const selection = data.selection;
  if (!selection) return drop("selection");
  const options = {
    xName: "number of clusters",
    chosen: selection.chosen > 1 ? selection.chosen : null,
    others: selection.suggestions.filter((number) => number !== selection.chosen),
  };
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
  const listing = (name, rows) => table([text(name, (row) => row[0], ""), text("value", (row) => String(row[1]))], rows, { label: name });
  $("parameters").append(listing("Parameter", data.parameters));
  $("versions").append(listing("Version", data.versions));
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

$("copy").addEventListener("click", copy);
drawWords();
startMap();
drawClusters();
drawAssociations();
drawSurvival();
drawBatches();
drawDoubtful();
drawHeat();
drawLinks();
drawViews();
drawFeatures();
drawSuspects();
drawSelection();
drawLevels();
drawConvergence();
