// Curves and the gradient-flow map, drawn by hand: small, themed by the page, and allowed by a strict policy.

import { h, number, s } from "./dom.js";

const HEIGHT = 180;
const EDGE = { left: 58, right: 12, top: 10, bottom: 26 };
export const COLOURS = ["var(--line-1)", "var(--line-2)", "var(--line-3)", "var(--line-4)"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

function ticks(low, high, count) {
  if (low === high) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}

function logTicks(low, high) {
  const every = Math.max(1, Math.ceil((high - low) / 5));
  const factors = high - low < 2 ? [1, 2, 5].map(Math.log10) : [0];
  const found = [];
  for (let power = Math.floor(low); power <= high; power += every) found.push(...factors.map((factor) => power + factor));
  const inside = found.filter((value) => value >= low && value <= high);
  return inside.length > 1 ? inside : [low, high];
}

/** Steps that follow one another, as stretches from one to the next. */
function stretches(steps) {
  const found = [];
  for (const step of steps) {
    if (found.length && step <= found[found.length - 1][1] + 1) found[found.length - 1][1] = step;
    else found.push([step, step]);
  }
  return found;
}

/** Curves over steps. Numbers that are not there leave a gap; `marks` are steps to point at, `bad` those not finite. */
export function lineChart({ title, series, log = false, marks = [], bad = [] }) {
  const shown = series.filter((one) => one.values.some((value) => value !== null && (!log || value > 0)));
  if (!shown.length) return null;
  const frame = h("div", { class: "chart" });
  const legend = h("figcaption", {}, h("strong", {}, title), log ? " (log)" : "", " ",
    shown.length > 1 && shown.map((one, i) => h("span", { class: "key" },
      s("svg", { width: 22, height: 8, "aria-hidden": "true" }, s("line", { x1: 0, x2: 22, y1: 4, y2: 4, "stroke-width": 2,
        stroke: COLOURS[i % 4], "stroke-dasharray": DASHES[i % 4] })), one.name)));
  const draw = () => frame.replaceChildren(curves(title, shown, { log, marks, bad }, Math.max(240, frame.clientWidth || 480)));
  new ResizeObserver(draw).observe(frame);
  return h("figure", {}, legend, frame);
}

function curves(title, series, { log, marks, bad }, width) {
  const scale = (value) => (log ? Math.log10(value) : value);
  const usable = (value) => value !== null && (!log || value > 0);
  const values = series.flatMap((one) => one.values.filter(usable)).map(scale);
  const steps = series.flatMap((one) => one.steps);
  let [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const [first, last] = [steps.reduce((a, b) => Math.min(a, b)), steps.reduce((a, b) => Math.max(a, b))];
  if (low === high && low === 0) high = 1;
  if (low === high) [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  const x = (step) => EDGE.left + ((step - first) / Math.max(1, last - first)) * (width - EDGE.left - EDGE.right);
  const y = (value) => EDGE.top + ((high - value) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const rows = (log ? logTicks(low, high) : ticks(low, high, 5)).map((value) => [
    s("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
    s("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, number(log ? 10 ** value : value)),
  ]);
  const columns = ticks(first, last, width < 400 ? 3 : 6).filter(Number.isInteger).map((step) =>
    s("text", { x: x(step), y: HEIGHT - 8, "text-anchor": "middle" }, number(step)));
  const lines = series.map((one, i) => s("path", { d: path(one, x, y, scale, usable), fill: "none", "stroke-width": 1.6,
    stroke: COLOURS[i % 4], "stroke-dasharray": DASHES[i % 4] }));
  const points = marks.filter((step) => step >= first && step <= last).map((step) =>
    s("line", { class: "mark", x1: x(step), x2: x(step), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }));
  const bands = stretches(bad).map(([from, to]) => s("rect", { class: "bad", x: x(from) - 1, y: EDGE.top,
    width: x(to) - x(from) + 2, height: HEIGHT - EDGE.top - EDGE.bottom }));
  const cursor = s("g", { class: "cursor" });
  const svg = s("svg", { width, height: HEIGHT, role: "img", "aria-label": spoken(title, series) },
    bands, rows, columns, points, lines, cursor);
  svg.addEventListener("pointermove", (event) => {
    const place = event.clientX - svg.getBoundingClientRect().left;
    const step = first + ((place - EDGE.left) / (width - EDGE.left - EDGE.right)) * (last - first);
    const said = series.map((one) => ({ one, i: nearest(one.steps, step) }));
    const at = said[0].one.steps[said[0].i];
    const words = said.map(({ one, i }) => `${series.length > 1 ? `${one.name} ` : ""}${number(one.values[i])}`).join("  ");
    const left = x(at) > width / 2;
    cursor.replaceChildren(
      s("line", { x1: x(at), x2: x(at), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }),
      s("text", { x: x(at) + (left ? -6 : 6), y: EDGE.top + 12, "text-anchor": left ? "end" : "start" },
        `step ${at}: ${words}`));
  });
  svg.addEventListener("pointerleave", () => cursor.replaceChildren());
  return svg;
}

function path(one, x, y, scale, usable) {
  let pen = "M";
  const parts = [];
  one.values.forEach((value, i) => {
    if (!usable(value)) { pen = "M"; return; }
    parts.push(`${pen}${x(one.steps[i]).toFixed(1)} ${y(scale(value)).toFixed(1)}`);
    if (pen === "M" && !usable(one.values[i + 1] ?? null)) parts.push("h1"); // a lonely point is seen, too
    pen = "L";
  });
  return parts.join("");
}

function nearest(steps, wanted) {
  let [low, high] = [0, steps.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (steps[middle] < wanted) low = middle; else high = middle;
  }
  return Math.abs(steps[low] - wanted) <= Math.abs(steps[high] - wanted) ? low : high;
}

function spoken(title, series) {
  const said = series.map((one) => {
    const known = one.values.filter((value) => value !== null);
    return `${one.name}: from ${number(known[0])} to ${number(known[known.length - 1])}`;
  });
  return `${title}. ${said.join("; ")}`;
}

/** The course of positive numbers, without axes. */
export function sparkline(values) {
  const known = values.filter((value) => value !== null && value > 0).map(Math.log10);
  if (known.length < 2) return h("span", { class: "muted" }, "–");
  const low = Math.min(...known), high = Math.max(...known);
  let pen = "M";
  const parts = values.map((value, i) => {
    if (value === null || value <= 0) { pen = "M"; return ""; }
    const y = high === low ? 11 : 20 - ((Math.log10(value) - low) / (high - low)) * 18;
    const part = `${pen}${((i / (values.length - 1)) * 96).toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
    return part;
  });
  return s("svg", { class: "sparkline", width: 98, height: 22, role: "img", "aria-label": `gradient norm, last ${number(10 ** known[known.length - 1])}` },
    s("path", { d: parts.join(""), fill: "none", stroke: "var(--line-1)", "stroke-width": 1.5 }));
}

// Viridis, which is read with any eyes; what is zero, missing or not finite has colours that are not in it.
const SCALE = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const ZERO = [0, 0, 0], MISSING = [190, 190, 190], BROKEN = [214, 0, 84];
const css = (colour) => `rgb(${colour.join(" ")})`;

function shade(share) {
  const place = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const i = Math.min(Math.floor(place), SCALE.length - 2);
  return SCALE[i].map((from, channel) => Math.round(from + (SCALE[i + 1][channel] - from) * (place - i)));
}

/** Variables in model order against steps; a click leads to the variable at that step. */
export function heatMap(data, address) {
  const known = data.norms.flat().filter((value) => value !== null && value > 0).map(Math.log10);
  const low = known.reduce((a, b) => Math.min(a, b), 0), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const bottom = known.reduce((a, b) => Math.min(a, b), Infinity);
  const from = Number.isFinite(bottom) ? bottom : low, to = Number.isFinite(high) ? high : low + 1;
  const colour = (row, column) => {
    if (data.variables[row].missing) return MISSING;
    if (data.nonfinite[row][column] > 0) return BROKEN;
    const norm = data.norms[row][column];
    if (norm === null) return MISSING;
    return norm <= 0 ? ZERO : shade((Math.log10(norm) - from) / (to - from || 1));
  };
  const canvas = h("canvas", { width: Math.max(1, data.columns.length), height: data.variables.length, "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(canvas.width, canvas.height);
  for (let row = 0; row < data.variables.length; row++) {
    for (let column = 0; column < data.columns.length; column++) {
      image.data.set([...colour(row, column), 255], 4 * (row * canvas.width + column));
    }
  }
  pen.putImageData(image, 0, 0);
  const said = h("output", { class: "muted" }, "Each row is a variable, each column some steps; point at a cell.");
  const cell = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.min(canvas.height - 1, Math.floor(((event.clientY - box.top) / box.height) * canvas.height)),
      Math.min(canvas.width - 1, Math.floor(((event.clientX - box.left) / box.width) * canvas.width))];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [row, column] = cell(event);
    if (row < 0 || column < 0 || !data.columns.length) return;
    const [start, end] = data.columns[column];
    const bad = data.nonfinite[row][column];
    said.textContent = `${data.variables[row].name}, step ${start === end ? start : `${start} to ${end}`}: ` +
      (data.variables[row].missing ? "no gradient" : bad ? `not finite at ${bad} of them` : `norm at most ${number(data.norms[row][column])}`);
  });
  canvas.addEventListener("click", (event) => {
    const [row, column] = cell(event);
    location.hash = `${address(data.variables[row].name)}?step=${data.columns[column][0]}`;
  });
  const key = (colours, text) => h("span", { class: "key" }, h("i", { css: { background: css(colours) } }), text);
  const ramp = h("i", { class: "ramp", css: { background: `linear-gradient(90deg, ${SCALE.map(css).join(",")})` } });
  const states = [known.length && h("span", { class: "key" }, number(10 ** from), ramp, number(10 ** to)),
    key(ZERO, "zero"), key(MISSING, "missing"), key(BROKEN, "NaN or Inf")];
  const ends = data.columns.length ? [data.columns[0][0], data.columns[data.columns.length - 1][1]] : ["", ""];
  const rows = { "--rows": String(data.variables.length) };
  return h("figure", { class: "heat" },
    h("figcaption", {}, h("strong", {}, "Gradient flow"), " ", states),
    h("div", { class: "heat-body", css: rows, tabindex: 0, role: "region", "aria-label": "gradient flow, one row a variable" },
      h("ol", {}, data.variables.map((one) => h("li", {}, h("a", { href: address(one.name), title: one.name }, one.name)))),
      h("div", { class: "heat-cells" }, canvas)),
    h("div", { class: "heat-steps" }, h("span", {}, `step ${ends[0]}`), h("span", {}, `${ends[1]}`)), said);
}
