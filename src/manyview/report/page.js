// What all pages share. The parts of a page are joined into one script: this one first, the one that draws last.

const data = JSON.parse(document.getElementById("data").textContent);
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
const pValue = (p) => (p === null ? "–" : p < 1e-300 ? "<1e−300" : p < 0.001 ? minus(p.toExponential(1)) : p.toPrecision(2));

const bar = (share, text, fill = "var(--accent)") =>
  el("div", { class: "bar" }, el("i", { "--share": `${100 * Math.max(share || 0, 0)}%`, "--fill": fill }), el("span", {}, text));
const pairs = (entries) => el("dl", {}, ...entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

/** Remove a section and its link; part of a section has none. */
function drop(section) {
  $(section).remove();
  document.querySelector(`nav a[href="#${section}"]`)?.parentNode.remove();
}

// Saving: tables as CSV, pictures as SVG

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
const saver = (kind, label, content) => el("button", {
  type: "button", class: "save", "aria-label": `Save ${label} as ${kind}`,
  onclick: () => save(`${label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.${kind.toLowerCase()}`,
    kind === "CSV" ? "text/csv" : "image/svg+xml", content()),
}, `Save ${kind}`);

/** A cell of a CSV file; a text that a spreadsheet would take for a formula gets an apostrophe. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+@\t\r-]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csv = (columns, rows) =>
  [columns.map((column) => column.name), ...rows.map((row) => columns.map((column) => column.value(row)))]
    .map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity",
  "paint-order", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "visibility"];
/** A picture as a separate file: the styles of the page become attributes. */
function svgText(picture, label) {
  const copy = picture.cloneNode(true), { width, height } = picture.viewBox.baseVal;
  const originals = picture.querySelectorAll("*"), copies = copy.querySelectorAll("*");
  originals.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of DRAWN) copies[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "data-i"]) copies[i].removeAttribute(name);
  });
  for (const name of ["class", "style", "id", "tabindex"]) copy.removeAttribute(name);
  build(copy, { width, height }, []);
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.prepend(title(label), build(svg("rect", { width, height }), { fill: paper }, []));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}
const picture = (node, label) => el("div", { class: "picture" }, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, node),
  saver("SVG", label, () => svgText(node, label)));

/** The width of a picture that fills its place; small screens get a small picture, not small letters. */
const room = (id) => Math.max(340, Math.min(860, $(id).clientWidth));
const LETTER = 7; // width of a letter in a picture

// Tables: columns are {name, value(row), cell(row), kind}. A value is what is sorted and saved, a cell what is shown: text or
// a node. A kind is a class. The first column heads its row. A column without a cell is saved only. Of a long table, the first
// rows are shown, and all on request. On narrow screens, each row of a table of the kind "cards" becomes a card.

const LONG = 20, FIRST = 12; // rows; the style sheet knows the second number, too

const text = (name, value, kind = "name") => ({ name, value, cell: (row) => breakable(value(row) ?? "–"), kind });
/** A text that may go on in the next line after each _ . / : or -, as names in files are long and have no spaces. */
const breakable = (text) => el("bdi", {}, ...String(text).split(/(?<=[_./:-])(?=\w)/).flatMap((part, i) => (i ? [el("wbr"), part] : [part])));
const figure = (name, value, show = number) => ({ name, value, cell: (row) => show(value(row)), kind: "number" });
const gauge = (name, value, { show = percent, fill = () => "var(--accent)" } = {}) =>
  ({ name, value, cell: (row) => bar(value(row), show(value(row)), fill(row)) });
const ofCluster = (name, value) => ({ name, value, cell: (row) => (value(row) === null ? "–" : clusterName(value(row))) });

function table(all, rows, { caption = null, label, kind = "" }) {
  const columns = all.filter((column) => column.cell);
  const cells = (row) =>
    columns.map((column, i) =>
      el(i ? "td" : "th", { class: column.kind || "", scope: i ? null : "row", "data-name": column.name }, column.cell(row)));
  const body = el("tbody"), order = { column: null, down: false };
  const lines = new Map(rows.map((row) => [row, el("tr", {}, ...cells(row))]));
  let shown = [...rows];
  body.append(...lines.values());
  const heads = columns.map((column) => el("th", { class: column.kind || "", scope: "col" },
    rows.length > 1 && column.sorted !== false
      ? el("button", { type: "button", class: "sort", title: "Sort", onclick: () => sort(column) }, column.name) : column.name));
  function sort(column) {
    // numbers start with the largest, texts with A; the same again turns it around
    const numeric = rows.some((row) => typeof column.value(row) === "number");
    order.down = order.column === column ? !order.down : numeric;
    order.column = column;
    const sign = order.down ? -1 : 1, known = (row) => column.value(row) !== null && column.value(row) !== undefined;
    const compare = (a, b) => (numeric ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    shown = [...rows.filter(known).sort((a, b) => sign * compare(column.value(a), column.value(b))), ...rows.filter((row) => !known(row))];
    body.append(...shown.map((row) => lines.get(row)));
    heads.forEach((head, i) => {
      if (columns[i] === column) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }
  const long = rows.length > LONG;
  const whole = el("table", { class: long ? `${kind} folded` : kind, "aria-label": caption ? null : label }, caption && el("caption", {}, caption), el("thead", {}, el("tr", {}, ...heads)), body);
  return el("div", { class: "table" },
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, whole),
    el("div", { class: "below" }, long ? unfolder(whole, rows.length) : null,
      saver("CSV", label, () => csv(all.filter((column) => column.value), shown))));
}

/** The button that shows all rows of a table, or the first ones again. */
function unfolder(whole, rows) {
  const button = el("button", { type: "button", class: "save", "aria-expanded": "false", onclick: () => {
    const folded = whole.classList.toggle("folded");
    button.textContent = folded ? all : `Show the first ${FIRST}`;
    button.setAttribute("aria-expanded", !folded);
  } });
  const all = `Show all ${rows} rows`;
  button.textContent = all;
  return button;
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
function chart(name, x, y, { log = false, xName, chosen = null, others = [] }) {
  const width = 420, height = 250, left = 62, right = 14, top = 12, bottom = 44;
  const known = y.filter((value) => value !== null && (!log || value > 0));
  if (!known.length) return "";
  const marks = log ? powers(Math.min(...known), Math.max(...known)) : ticks(Math.min(...known), Math.max(...known));
  const low = Math.min(marks[0], ...known), high = Math.max(marks[marks.length - 1], ...known);
  const scale = log ? Math.log10 : (value) => value;
  const across = (value) => left + ((value - x[0]) / (x[x.length - 1] - x[0] || 1)) * (width - left - right);
  const up = (value) => height - bottom - ((scale(value) - scale(low)) / (scale(high) - scale(low) || 1)) * (height - top - bottom);
  const shown = x.map((value, i) => [value, y[i]]).filter(([, value]) => known.includes(value)).map(([a, b]) => [across(a), up(b)]);
  const drawn = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: from ${number(known[0])} to ${number(known[known.length - 1])}` },
    ...marks.flatMap((mark) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: up(mark), y2: up(mark) }),
      svg("text", { x: left - 8, y: up(mark) + 4, "text-anchor": "end" }, number(mark))]),
    svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    ...ticks(x[0], x[x.length - 1]).filter(Number.isInteger).map((mark) =>
      svg("text", { x: across(mark), y: height - bottom + 18, "text-anchor": "middle" }, whole(mark))),
    svg("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xName),
    ...others.map((other) => svg("line", { class: "other", x1: across(other), x2: across(other), y1: top, y2: height - bottom })),
    chosen === null ? null : svg("line", { class: "chosen", x1: across(chosen), x2: across(chosen), y1: top, y2: height - bottom }),
    svg("polyline", { class: "trace", points: shown.map((place) => place.join(",")).join(" ") }),
    ...(shown.length <= 40 ? shown.map(([a, b]) => svg("circle", { class: "dots", cx: a, cy: b, r: 3 })) : []));
  return el("figure", {}, el("figcaption", {}, name), picture(drawn, name));
}

// Light and dark

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").setAttribute("aria-pressed", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
}

const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(dark.matches);
dark.addEventListener("change", () => setTheme(dark.matches));
$("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
