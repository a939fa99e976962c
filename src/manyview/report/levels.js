// The tree of levels: a vertical line at k crosses the k clusters of that level.

function drawLevels() {
  const tree = data.levels;
  if (!tree) return drop("levels");
  const step = 18, left = 16, right = 110, top = 26, width = Math.min(760, room("levels-plot")), leaves = tree.sizes.length;
  const bottom = top + step * leaves, height = bottom + 44;
  const across = (k) => left + (Math.log(k) / Math.log(leaves)) * (width - left - right);
  const down = (row) => top + step * (row + 0.5);
  const between = (level) => across(Math.sqrt(level * (level + 1)));
  const colour = (cluster) => (cluster === null ? "var(--muted)" : `var(--c${cluster % COLOURS})`);
  const limb = (start, branch) => svg("line", {
    class: "limb", "--colour": colour(branch.cluster), x1: start, x2: across(branch.end), y1: down(branch.height), y2: down(branch.height) });
  const forks = tree.forks.flatMap(({ level, branches: [a, b] }) => {
    const start = between(level);
    return [limb(start, a), limb(start, b), svg("line", { class: "fork", x1: start, x2: start, y1: down(a.height), y2: down(b.height) })];
  });
  const dots = tree.forks.map(({ level, separation, branches: [a, b] }) => svg("circle", {
    class: "merge", fill: `var(--s${Math.min(STEPS - 1, Math.floor(STEPS * separation))})`,
    cx: between(level), cy: down((a.height + b.height) / 2), r: 5,
  }, title(`From ${level + 1} to ${count(level, "cluster")}: separation ${fixed(separation)}`)));
  const marks = [...new Set([1, 2, 3, 5, 10, 20, 30, 50, 100, tree.fitted])].filter((k) => k <= leaves &&
    (k === tree.fitted || Math.abs(across(k) - across(tree.fitted)) > 20)).map((k) =>
    svg("text", { class: k === tree.fitted ? "chosen-name" : "", x: across(k), y: bottom + 18, "text-anchor": "middle" }, whole(k)));
  const names = tree.sizes.map((size, row) => svg("text", { x: width - right + 8, y: down(row) + 4 }, `${tree.clusters[row]} (${whole(size)})`));
  const label = "Levels of the partition";
  return $("levels-plot").append(picture(svg("svg", {
    class: "chart wide", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Tree from 1 to ${count(leaves, "cluster")}; the fit has ${tree.fitted}` },
  svg("line", { class: "axis", x1: left, x2: width - right, y1: bottom, y2: bottom }), ...marks,
  svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "number of clusters"),
  svg("text", { x: width - right + 8, y: top - 8 }, "cluster (samples)"),
  svg("line", { class: "chosen", x1: across(tree.fitted), x2: across(tree.fitted), y1: top, y2: bottom }),
  ...forks, ...dots, ...names), label), table([
    figure("clusters", (fork) => fork.level + 1, whole),
    gauge("separation of the two merged next", (fork) => fork.separation, { show: fixed }),
  ], [...tree.forks].reverse(), { label: "Separation by level" }));
}
