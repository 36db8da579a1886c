// The way from a variable to the loss: values go down, the gradient comes up, and where it is cut is red.

import { escaped, h, prose, s, shortened } from "./dom.js";

const WORDS = {
  start: "variable", loss: "loss", carries: "the gradient comes here", silent: "no gradient comes here",
  cut: "the gradient is cut here", zero: "the gradient becomes zero here", aside: "carries no gradient, but another way does",
};
const SIGNS = { start: "●", loss: "◆", carries: "∇", silent: "·", cut: "✂", zero: "0", aside: "–" };

function route(points, height) {
  const [first, ...rest] = points;
  const down = points[points.length - 1][1] > first[1];
  const half = (height / 2) * (down ? 1 : -1);
  let [x, y] = [first[0], first[1] + half];
  const parts = [`M${x} ${y}`];
  rest.forEach(([nextX, nextY], i) => {
    const end = i === rest.length - 1 ? nextY - half : nextY;
    const middle = (y + end) / 2;
    parts.push(`C${x} ${middle} ${nextX} ${middle} ${nextX} ${end}`);
    [x, y] = [nextX, end];
  });
  return parts.join("");
}

function box(data, one, i, select) {
  const [width, height] = data.box;
  return s("g", { class: `box ${one.state}`, transform: `translate(${one.x - width / 2} ${one.y - height / 2})`, tabindex: 0,
    role: "button", "data-box": i, "aria-label": `${one.title}, ${one.subtitle}: ${one.reason ?? WORDS[one.state]}`,
    onclick: () => select(i), onfocus: () => select(i) },
    s("title", {}, `${one.title}\n${one.reason ?? WORDS[one.state]}`),
    s("rect", { width, height, rx: one.state === "start" || one.state === "loss" ? 20 : 6 }),
    s("text", { class: "sign", x: 16, y: height / 2 + 5, "text-anchor": "middle" }, SIGNS[one.state]),
    s("text", { class: "title", x: 32, y: 24 }, shortened(one.title, 25)),
    s("text", { class: "subtitle", x: 32, y: 43 }, shortened(one.reason ?? one.subtitle, 32)));
}

function details(one) {
  const ops = one.ops.map((op) => h("li", {}, h("code", {}, op.name), " ", h("span", { class: "muted" }, op.result)));
  return [
    h("h3", {}, h("span", { class: `badge ${one.state}` }, SIGNS[one.state]), " ", h("code", {}, one.title)),
    h("p", {}, one.reason ? h("strong", {}, `${WORDS[one.state]}: it ${one.reason}`) : WORDS[one.state],
      one.layer && [", in ", h("code", {}, one.layer)]),
    one.excerpt ? h("div", { class: "whygrad" }, escaped(one.excerpt, "div", { class: one.reason ? "wg-error" : "wg-note" })) : one.place && h("p", { class: "muted" }, one.place),
    h("details", { open: one.ops.length < 9 }, h("summary", {}, `${one.ops.length + one.more} op${one.ops.length + one.more === 1 ? "" : "s"}`), h("ul", { class: "ops" }, ops)),
  ];
}

const arrowKey = (kind) => s("svg", { class: "way", width: 26, height: 10, "aria-hidden": "true" }, s("path", { class: `arrow ${kind}`, d: "M2 5H24" }));

/** The drawing with its legend, and beside it what is known of the box that is selected. */
export function wayGraph(data) {
  if (!data.boxes.length) return h("p", {}, prose(`nothing was recorded between \`${data.variable}\` and \`${data.loss}\``));
  const [width, height] = [Math.max(data.size[0], data.box[0]) + 8, data.size[1] + 8];
  const panel = h("aside", { class: "details", "aria-live": "polite" });
  let selected = -1;
  const select = (i) => {
    if (i === selected) return;
    selected = i;
    for (const each of drawing.querySelectorAll(".box")) each.classList.toggle("selected", Number(each.dataset.box) === i);
    panel.replaceChildren(...details(data.boxes[i]).flat(Infinity).filter(Boolean));
  };
  const heads = ["open", "shut"].map((kind) => s("marker", { id: `head-${kind}`, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4,
    markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { d: "M0 0L8 4L0 8z" })));
  const drawing = s("svg", { class: "way", width, height, viewBox: `-4 -4 ${width} ${height}`, role: "group",
    "aria-label": `from ${data.variable} down to ${data.loss}` },
    s("defs", {}, heads),
    data.arrows.map((arrow) => s("path", { class: arrow.open ? "arrow open" : "arrow shut", fill: "none",
      d: route(arrow.points, data.box[1]), [arrow.open ? "marker-start" : "marker-end"]: `url(#head-${arrow.open ? "open" : "shut"})` })),
    data.boxes.map((one, i) => box(data, one, i, select)));
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "start", ArrowUp: "end" }[event.key];
    const next = step && data.arrows.find((arrow) => arrow[step] === selected);
    if (!next) return;
    event.preventDefault();
    drawing.querySelector(`[data-box="${next[step === "start" ? "end" : "start"]}"]`).focus();
  });
  const cut = data.boxes.findIndex((one) => one.state === "cut" || one.state === "zero");
  const states = [...new Set(data.boxes.map((one) => one.state))];
  const canvas = h("div", { class: "canvas" }, drawing);
  select(cut < 0 ? 0 : cut);
  requestAnimationFrame(() => { canvas.scrollLeft = data.boxes[selected].x - canvas.clientWidth / 2; });
  return h("div", { class: "way-view" },
    h("div", {}, h("p", { class: "legend" }, states.map((state) => h("span", { class: "key" }, h("span", { class: `badge ${state}` }, SIGNS[state]), WORDS[state])),
      h("span", { class: "key" }, arrowKey("open"), "the gradient comes back"), h("span", { class: "key" }, arrowKey("shut"), "values only")), canvas),
    panel);
}
