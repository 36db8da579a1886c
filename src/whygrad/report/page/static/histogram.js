// How the elements of a gradient, a weight and an update are spread: by sign, and by magnitude on a logarithmic axis.

import { h, number, plural, s } from "./dom.js";

const TALL = 170;
const SPACE = { left: 46, right: 20, top: 12, bottom: 26 };
const MIDDLE = 12; // pixels that the elements which are exactly zero take in the middle

const level = (value) => Math.log2(Math.abs(value));
const ends = (bucket) => { // the magnitudes of a bin; the smallest one holds all that is smaller
  const high = Math.max(Math.abs(bucket[0]), Math.abs(bucket[1])), low = Math.min(Math.abs(bucket[0]), Math.abs(bucket[1]));
  return [low || high / Math.SQRT2, high];
};

/** Where a magnitude is drawn, the same for all steps. */
function axis(every, width) {
  const sizes = every.flatMap((one) => one.buckets).filter((bucket) => bucket[0] !== bucket[1]).flatMap(ends);
  const low = sizes.length ? level(sizes.reduce((a, b) => Math.min(a, b))) : 0;
  const high = sizes.length ? level(sizes.reduce((a, b) => Math.max(a, b))) : 1;
  const half = (width - SPACE.left - SPACE.right - MIDDLE) / 2, middle = SPACE.left + half + MIDDLE / 2;
  const x = (magnitude, sign) => middle + sign * (MIDDLE / 2 + ((level(magnitude) - low) / (high - low || 1)) * half);
  const most = Math.max(2, Math.floor(half / 46)); // labels that fit on one side
  const apart = Math.max(1, Math.ceil((high - low) / Math.log2(10) / most));
  const powers = [];
  for (let exponent = Math.floor(high / Math.log2(10)); exponent * Math.log2(10) >= low; exponent -= apart) powers.push(10 ** exponent);
  return { x, middle, powers: powers.filter((size) => x(size, 1) > middle + 26) }; // the middle has a label of its own
}

const power = (value) => (Math.abs(Math.log10(Math.abs(value))) > 3 ? value.toExponential(0) : number(value));

/** Left and right end of a bin on the screen. */
function sides(bucket, { x, middle }) {
  if (bucket[0] === bucket[1]) return [middle - MIDDLE / 2 + 1, middle + MIDDLE / 2 - 1];
  const sign = bucket[1] > 0 ? 1 : -1;
  return ends(bucket).map((size) => x(size, sign)).sort((one, two) => one - two);
}

function bars(one, place, y) {
  return one.buckets.map((bucket) => {
    const [left, right] = sides(bucket, place), count = bucket[2];
    const said = bucket[0] === bucket[1] ? "zero" : `${number(bucket[0])} … ${number(bucket[1])}`;
    return s("rect", { class: bucket[0] === bucket[1] ? "bar none" : "bar", x: left, width: Math.max(1, right - left - 0.5), y: y(count),
      height: Math.max(count > 0 ? 1 : 0, y(0) - y(count)) }, s("title", {}, `${said}: ${plural(Math.round(count), "element")}`));
  });
}

/** The contour of a histogram, down to the axis where a bin is empty. */
function outline(one, place, y) {
  let at = null;
  const parts = one.buckets.map((bucket) => {
    const [left, right] = sides(bucket, place).map((value) => Math.round(value * 10) / 10);
    const part = `${at === left ? "" : `${at === null ? "" : `V${y(0)}`}M${left} ${y(0)}`}V${y(bucket[2]).toFixed(1)}H${right}`;
    at = right;
    return part;
  });
  return s("path", { class: "ghost", d: parts.length ? `${parts.join("")}V${y(0)}` : "" });
}

function drawing(kind, every, index, steps, width) {
  const one = every[index], first = every[0];
  const most = Math.max(1, ...one.buckets.map((bucket) => bucket[2]));
  const place = axis(every, width);
  const y = (count) => TALL - SPACE.bottom - Math.min(1.04, count / most) * (TALL - SPACE.top - SPACE.bottom);
  const label = (text, at) => s("text", { x: at, y: TALL - 8, "text-anchor": "middle" }, text);
  const total = one.buckets.reduce((sum, bucket) => sum + bucket[2], 0);
  return s("svg", { width, height: TALL, role: "img", "aria-label": `${kind} at step ${steps[index]}: ${plural(Math.round(total), "element")}` +
    (one.buckets.length ? `, from ${number(one.buckets[0][0])} to ${number(one.buckets[one.buckets.length - 1][1])}` : "") },
    [0, most / 2, most].map((count) => [s("line", { class: "grid", x1: SPACE.left, x2: width - SPACE.right, y1: y(count), y2: y(count) }),
      s("text", { x: SPACE.left - 6, y: y(count) + 4, "text-anchor": "end" }, number(Math.round(count)))]),
    bars(one, place, y), index > 0 && outline(first, place, y),
    place.powers.map((size) => [label(power(size), place.x(size, 1)), label(power(-size), place.x(size, -1))]), label("0", place.middle));
}

/** `at`: the step to begin with; `chosen`: told of each step that a person chooses. */
export function histograms(data, at, chosen) {
  const { steps } = data;
  let index = steps.reduce((best, step, i) => (Math.abs(step - at) < Math.abs(steps[best] - at) ? i : best), steps.length - 1);
  const shown = Object.entries(data.kinds).filter(([, every]) => every.some((one) => one.buckets.length));
  const frames = shown.map(([kind, every]) => ({ kind, every, frame: h("div", { class: "chart" }), said: h("span", { class: "muted" }) }));
  const word = h("output", {});
  const draw = () => {
    word.textContent = `step ${steps[index]}`;
    for (const { kind, every, frame, said } of frames) {
      said.textContent = every[index].nonfinite > 0 ? ` ${number(every[index].nonfinite)} not finite` : "";
      frame.replaceChildren(drawing(kind, every, index, steps, Math.max(240, frame.clientWidth || 380)));
    }
  };
  for (const { frame } of frames) new ResizeObserver(draw).observe(frame);
  draw();
  const slider = steps.length > 1 && h("label", { class: "steps" }, "at ", h("input", { type: "range", min: 0, max: steps.length - 1, value: index, "aria-label": "step of the histograms",
    oninput: (event) => { index = Number(event.target.value); draw(); chosen(steps[index]); } }), " ", word);
  return [
    h("p", { class: "muted" }, slider || word, " How many elements have which sign and size.", steps.length > 1 && ` The outline is step ${steps[0]}.`,
      data.counted < data.size ? ` Counted in ${data.counted.toLocaleString("en")} evenly spaced elements of ${data.size.toLocaleString("en")}.` : ""),
    h("div", { class: "charts" }, frames.map(({ kind, frame, said }) => h("figure", {}, h("figcaption", {}, h("strong", {}, kind), said), frame))),
  ];
}
