// Elements out of data. Text becomes text nodes only: whatever a variable is called, it is never markup.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

/** Text with its `code` as code. */
export function prose(text) {
  return String(text).split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

/** HTML that the server made, in which all text is escaped already. */
export function escaped(html, tag = "div", attributes = {}) {
  const element = h(tag, attributes);
  element.innerHTML = html;
  return element;
}

export function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return value === "nan" ? "NaN" : String(value);
  if (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

export function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
export const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

/** A section with a heading, left out where it has nothing to show. */
export function section(title, ...children) {
  const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return shown.length ? h("section", {}, title && h("h2", {}, title), shown) : null;
}

export function table(headings, rows, caption, kind = "") {
  return h("div", { class: `scroll ${kind}`, tabindex: 0, role: "region", "aria-label": caption }, h("table", {},
    h("thead", {}, h("tr", {}, headings.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => h("td", { "data-heading": headings[i] }, cell)))))));
}
