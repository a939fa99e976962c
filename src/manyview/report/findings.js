// What the clusters are associated with, and what marks them: associations, survival, batches, features.

const MOST_BANDS = 5; // survival curves whose bands can be told apart in one picture

// Associations

function drawAssociations() {
  const rows = data.associations;
  if (!rows || !several) return drop("associations");
  const tested = rows.filter((row) => !row.left_out), left = rows.filter((row) => row.left_out);
  const shown = (row, x) => (row.kind === "numbers" ? number(x) : percent(x));
  const columns = [
    { name: "column", kind: "name", value: (row) => row.column, cell: associationName },
    gauge("effect", (row) => row.effect, { show: fixed }),
    { ...figure("p corrected", (row) => row.p_corrected), cell: bothPValues },
    { name: "p", value: (row) => row.p_value },
    { name: "measure of the effect", value: (row) => row.effect_name },
    ofCluster("stands out", (row) => row.cluster),
    text("by", (row) => (row.kind === "numbers" ? "median" : row.level)),
    { ...figure("in it", (row) => row.inside), cell: (row) => shown(row, row.inside) },
    { ...figure("elsewhere", (row) => row.outside), cell: (row) => shown(row, row.outside) },
    { name: "test", value: (row) => row.test },
    { name: "missing", value: (row) => row.missing },
  ];
  if (tested.length) $("associations-table").append(table(columns, tested, { label: "Associations", kind: "cards" }));
  if (left.length) $("associations-left").append(el("h3", {}, "Columns that were not tested"),
    table([text("column", (row) => row.column), text("reason", (row) => row.left_out)], left, { label: "Columns not tested" }));
  $("associations-warning").hidden = !tested.some((row) => row.inViews.length);
  return null;
}
function associationName(row) {
  const missing = row.missing ? `, ${whole(row.missing)} missing` : "";
  return el("div", {}, breakable(row.column), el("small", {}, `${row.test}${missing}`),
    row.inViews.length ? el("small", { class: "warn" }, `also a feature of ${row.inViews.join(", ")}`) : null);
}
const bothPValues = (row) => el("div", {}, pValue(row.p_corrected), el("small", {}, `p ${pValue(row.p_value)}`));

// Survival

function drawSurvival() {
  const survival = data.survival;
  if (!survival) return drop("survival");
  const label = "Survival by cluster";
  $("survival-plot").append(picture(survivalChart(survival), label));
  if (survival.curves.length > MOST_BANDS) $("survival-panels").append(picture(survivalPanels(survival), "Survival of each cluster"));
  else $("survival-many").remove();
  const p = el("b", {}, `p = ${pValue(survival.p_value)}`);
  $("survival-note").append("Log-rank test of all clusters: ", p, ".", survival.missing ? ` Left out: ${count(survival.missing, "sample")} without a time or an event.` : "",
    ...(survival.without.length ? [` There are no data for the clusters ${survival.without.join(", ")}.`] : []));
  $("survival-table").append(table([
    ofCluster("cluster", (row) => row.cluster),
    figure("samples", (row) => row.n, whole),
    figure("events", (row) => row.events, whole),
    figure("median survival", (row) => row.median, (x) => (x === null ? "not reached" : number(x))),
    figure("restricted mean", (row) => row.mean),
    figure("95% from", (row) => row.mean_lower),
    figure("to", (row) => row.mean_upper),
  ], survival.curves, { label, caption: `Restricted mean: the mean time up to ${number(survival.horizon)}, while all clusters are observed` }));
  const name = "Log-rank tests of pairs";
  if (survival.pairs.length > 1) $("survival-pairs").append(table([
    { name: "clusters", value: (row) => `${row.first} and ${row.second}`, cell: (row) => el("span", { class: "who" }, clusterName(row.first), " and ", clusterName(row.second)) },
    figure("p corrected", (row) => row.p_corrected, pValue),
    figure("p", (row) => row.p_value, pValue),
    figure("chi-square", (row) => row.statistic, (x) => fixed(x, 1)),
  ], [...survival.pairs].sort((a, b) => a.p_value - b.p_value), { label: name, caption: name }));
  return null;
}

/** Paths of survival curves in a frame; a path goes right before it goes down, as the curve holds until the next time. */
function survivalFrame({ curves }, { left, top, width, height }) {
  const last = Math.max(...curves.map((curve) => curve.times[curve.times.length - 1])) || 1;
  const across = (time) => left + (time / last) * width, up = (share) => top + (1 - share) * height;
  const at = (time) => across(time).toFixed(1), on = (share) => up(share).toFixed(1);
  const there = (times, values) => times.map((time, i) => (i ? `H${at(time)}V${on(values[i])}` : `M${at(time)},${on(values[i])}`)).join("");
  const back = (times, values) => [...times.keys()].reverse().map((i) => (i === times.length - 1 ? `L${at(times[i])},${on(values[i])}` : `V${on(values[i])}H${at(times[i])}`)).join("");
  const fill = (curve) => clusterFill(curve.cluster);
  return {
    across, up,
    line: (curve) => there(curve.times, curve.survival),
    band: (curve) => svg("path", { class: "band", d: `${there(curve.times, curve.upper)}${back(curve.times, curve.lower)}z`, fill: fill(curve) }),
    trace: (curve) => svg("path", { class: "survival", d: there(curve.times, curve.survival), "--colour": fill(curve),
      "stroke-dasharray": curve.cluster < COLOURS ? null : "7 3" }, title(`cluster ${curve.cluster}`)), // colours repeat
    censored: (curve) => curve.times.flatMap((time, i) => (i && curve.survival[i] === curve.survival[i - 1]
      ? [svg("path", { class: "survival", d: `M${at(time)},${(up(curve.survival[i]) - 4).toFixed(1)}v8`, "--colour": fill(curve) })] : [])),
  };
}
/** A cluster's marker and number, with the baseline of the text at the given place. */
const survivalKey = ({ cluster }, x, y) => [
  svg("path", { d: look(clusterColumn, cluster).shape(5), transform: `translate(${x},${y - 4})`, fill: clusterFill(cluster) }),
  svg("text", { x: x + 10, y }, String(cluster))];

/** Kaplan-Meier curves with bands, and the samples at risk below; the rows of these are the legend. */
function survivalChart(survival) {
  const { curves, shown, horizon } = survival, width = room("survival-plot"), left = 96, right = 18, top = 12, plot = 320, line = 20;
  const below = top + plot + 62, height = below + line * curves.length + 8;
  const { across, up, band, trace, censored } = survivalFrame(survival, { left, top, width: width - left - right, height: plot });
  const risk = (curve, i) => [
    ...survivalKey(curve, 12, below + line * i),
    ...shown.map((time, j) => svg("text", { x: across(time), y: below + line * i, "text-anchor": "middle" }, whole(curve.at_risk[j])))];
  return svg("svg", { class: curves.length > MOST_BANDS ? "chart wide many" : "chart wide", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Kaplan-Meier curves of ${count(curves.length, "cluster")}; the table below has the numbers` },
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: up(share), y2: up(share) }),
      svg("text", { x: left - 8, y: up(share) + 4, "text-anchor": "end" }, `${100 * share}%`)]),
    svg("line", { class: "chosen", x1: across(horizon), x2: across(horizon), y1: top, y2: top + plot }, title("end of the restricted mean")),
    ...curves.map((curve) => svg("g", { class: "curve" }, band(curve), trace(curve), ...censored(curve))),
    svg("line", { class: "axis", x1: left, x2: width - right, y1: top + plot, y2: top + plot }),
    ...shown.map((time) => svg("text", { x: across(time), y: top + plot + 18, "text-anchor": "middle" }, number(time))),
    svg("text", { x: (left + width - right) / 2, y: top + plot + 36, "text-anchor": "middle" }, data.survivalColumns[0]),
    svg("text", { x: 6, y: below - 22 }, "cluster, samples at risk"),
    ...curves.flatMap(risk));
}

/** One small picture per cluster, with its band; the other clusters are grey. */
function survivalPanels(survival) {
  const { curves, shown } = survival, left = 40, panel = { left: 0, top: 0, width: 180, height: 110 };
  const across = panel.width + 20, down = panel.height + 50;
  const columns = Math.max(1, Math.floor((room("survival-panels") - left) / across)), rows = Math.ceil(curves.length / columns);
  const { line, band, trace, ...frame } = survivalFrame(survival, panel);
  const ends = [0, shown[shown.length - 1]];
  const axes = (j) => [0, 0.5, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: 0, x2: panel.width, y1: frame.up(share), y2: frame.up(share) }),
    ...(j ? [] : [svg("text", { x: -6, y: frame.up(share) + 4, "text-anchor": "end" }, `${100 * share}%`)])]);
  return svg("svg", { class: "chart wide", viewBox: `0 0 ${left + columns * across} ${rows * down}`, role: "img",
    "aria-label": "Kaplan-Meier curves with confidence bands, one picture per cluster; the table below has the numbers" },
    svg("defs", {}, svg("path", { class: "others", id: "survival-curves", d: curves.map(line).join("") })),
    ...curves.map((curve, i) => svg("g", { transform: `translate(${left + (i % columns) * across},${24 + Math.floor(i / columns) * down})` },
      ...survivalKey(curve, 5, -8), ...axes(i % columns), svg("use", { href: "#survival-curves" }), band(curve), trace(curve),
      ...ends.map((time) => svg("text", { x: frame.across(time), y: panel.height + 15, "text-anchor": "middle" }, number(time))))));
}

// Batches

function drawBatches() {
  const mixing = data.batches;
  if (!mixing) return drop("batches");
  const label = "Batches in the clusters";
  const rows = mixing.clusters.map((cluster, i) => ({ cluster, counts: mixing.counts[i], misplaced: mixing.misplaced[i], chance: mixing.by_chance[i] }));
  $("batches-plot").append(picture(batchBars(mixing, rows), label));
  drawWithout(data.batchesWithout);
  if (mixing.missing) $("batches-note").textContent = `${count(mixing.missing, "sample")} without a batch left out.`;
  $("batches-table").append(table([
    ofCluster("cluster", (row) => row.cluster),
    gauge("of another batch than expected", (row) => row.misplaced),
    figure("in random clusters", (row) => row.chance, percent),
    ...mixing.batches.map((name, j) => figure(name, (row) => row.counts[j], whole)),
  ], rows, { label }));
  return null;
}

function drawWithout(mixing) {
  if (!mixing) return drop("batches-without");
  const rows = mixing.clusters.map((cluster, i) => ({ cluster, counts: mixing.counts[i] }));
  $("batches-without-plot").append(picture(batchBars(mixing, rows), "Batches in the clusters of a fit without batches"));
  return null;
}

function batchBars({ batches, counts }, rows) {
  const column = { ordered: false, values: null, labels: batches };
  const width = room("batches-plot"), left = 96, line = 26, columns = Math.max(1, Math.floor((width - left) / 190)), legend = 20 * Math.ceil(batches.length / columns);
  const total = batches.map((_, j) => counts.reduce((sum, row) => sum + row[j], 0));
  const bars = [["all samples", total], ...rows.map((row) => [`cluster ${row.cluster}`, row.counts])];
  const height = legend + 12 + line * bars.length;
  return svg("svg", { class: "chart wide", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Shares of the batches in each cluster; the table below has the numbers" },
    ...batches.flatMap((name, j) => {
      const x = left + (j % columns) * 190, y = 10 + 20 * Math.floor(j / columns);
      return [svg("rect", { x, y: y - 5, width: 11, height: 11, fill: look(column, j).fill }), svg("text", { x: x + 16, y: y + 4 }, clipped(name, 24))];
    }),
    ...bars.flatMap(([name, part], i) => {
      const y = legend + 12 + line * i, sum = part.reduce((a, b) => a + b, 0) || 1;
      let at = left;
      return [svg("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, name),
        ...part.map((size, j) => {
          const span = (size / sum) * (width - left - 8), x = at;
          at += span;
          return svg("rect", { x, y, width: span, height: line - 6, fill: look(column, j).fill }, title(`${name}: ${percent(size / sum)} ${batches[j]}`));
        })];
    }));
}
const clipped = (name, most) => (name.length <= most ? name : `${name.slice(0, most - 1)}…`);

// Features

function drawFeatures() {
  if (!data.features || !several) return drop("features");
  const { markers, dots } = data.features, label = "Features that mark the clusters";
  $("features-plot").append(picture(dotPlot(dots), label));
  $("features-table").append(table([
    ofCluster("cluster", (row) => row.cluster),
    text("feature", (row) => row.feature),
    text("view", (row) => row.view),
    { name: "effect (d)", kind: "number", value: (row) => row.effect, cell: (row) => el("span", { class: row.effect > 0 ? "higher" : "lower" }, `${row.effect > 0 ? "▲" : "▼"} ${fixed(row.effect)}`) },
    figure("AUC", (row) => row.auc, fixed),
    figure("mean in it", (row) => row.mean_inside),
    figure("mean elsewhere", (row) => row.mean_outside),
    figure("missing", (row) => row.missing, percent),
  ], markers, { label }));
  return null;
}

/** Features in columns, clusters in rows: colour is the mean, from the lowest cluster to the highest, size the share above the median. */
function dotPlot(dots) {
  const cell = 21, left = 70, longest = Math.max(...dots.map((dot) => Math.min(dot.feature.length, 24)));
  const clusters = data.clusters.length, grid = cell * clusters, top = 24, names = 12 + longest * LETTER;
  const width = Math.max(left + cell * dots.length + 150, 420), height = Math.max(top + grid + names, top + 190);
  const x = (j) => left + cell * (j + 0.5), y = (k) => top + cell * (k + 0.5), radius = (share) => Math.sqrt(share) * (cell / 2 - 1.5);
  const step = (dot, k) => {
    const known = dot.means.filter((mean) => mean !== null), low = Math.min(...known), high = Math.max(...known);
    return `var(--s${high > low ? Math.round((STEPS - 1) * (dot.means[k] - low) / (high - low)) : 0})`;
  };
  const circle = (dot, j, k) => (dot.means[k] === null ? [] : [svg("circle", { cx: x(j), cy: y(k), r: radius(dot.above[k]).toFixed(2), fill: step(dot, k) },
    title(`${dot.feature} (${dot.view}), cluster ${k}: mean ${number(dot.means[k])}, ${percent(dot.above[k])} above the median`))]);
  const group = (k) => {
    const own = [...dots.keys()].filter((j) => dots[j].cluster === k);
    if (!own.length) return [];
    const from = left + cell * own[0] + 2, to = left + cell * (own[own.length - 1] + 1) - 2;
    return [svg("path", { class: "bracket", d: `M${from},${top - 4}v-4H${to}v4` }), svg("text", { x: (from + to) / 2, y: top - 11, "text-anchor": "middle" }, String(k))];
  };
  const at = left + cell * dots.length + 34;
  const legend = [svg("text", { x: at, y: top + 4 }, "above the median"),
    ...[1, 0.75, 0.5, 0.25].flatMap((share, i) => [svg("circle", { class: "key", cx: at + 10, cy: top + 22 + 21 * i, r: radius(share) }),
      svg("text", { x: at + 26, y: top + 26 + 21 * i }, `${100 * share}%`)]),
    svg("text", { x: at, y: top + 122 }, "mean"),
    ...Array.from({ length: STEPS }, (_, i) => svg("rect", { x: at + 13 * i, y: top + 130, width: 13, height: 12, fill: `var(--s${i})` })),
    svg("text", { x: at, y: top + 158 }, "lowest"), svg("text", { x: at + 13 * STEPS, y: top + 158, "text-anchor": "end" }, "highest")];
  return svg("svg", { class: "chart dotplot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Dot plot of the features that mark each cluster; the table below has the numbers" },
    svg("rect", { class: "frame", x: left, y: top, width: cell * dots.length, height: grid }),
    ...data.clusters.flatMap((_, k) => [svg("path", { d: look(clusterColumn, k).shape(5), transform: `translate(${left - 34},${y(k)})`, fill: clusterFill(k) }),
      svg("text", { x: left - 24, y: y(k) + 4 }, String(k)), ...group(k)]),
    ...dots.flatMap((dot, j) => data.clusters.flatMap((_, k) => circle(dot, j, k))),
    ...dots.map((dot, j) => svg("text", { transform: `translate(${x(j) + 4},${top + grid + 8}) rotate(-90)`, "text-anchor": "end" }, title(`${dot.feature} (${dot.view})`), clipped(dot.feature, 24))),
    ...legend);
}
