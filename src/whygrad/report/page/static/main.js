// Addresses to views: everything after # says what is shown, so that it survives a reload and can be sent.

import { h } from "./dom.js";
import { get, isFile, link, of } from "./data.js";
import { nanView, runView, variableView } from "./run_view.js";
import { whyView } from "./why_view.js";
import { compareView, listed, runsView } from "./runs_view.js";

const EVERY = 2000; // milliseconds between looks at a run that is being written
const page = document.getElementById("page") ?? document.body.appendChild(h("div", { id: "page" }));
page.className = "";

function remembered(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch { return null; } // no storage: a sandbox
}

function setTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function nextTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  setTheme(remembered("whygrad-theme", now === "dark" ? "light" : "dark") ?? (now === "dark" ? "light" : "dark"));
}

function parsed() {
  const [path, words] = location.hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), parameters: new URLSearchParams(words ?? "") };
}

function view({ parts, parameters }) {
  if (parts[0] === "compare" && !isFile) return compareView(parameters);
  const id = isFile ? (parts[1] ?? "-") : parts[1];
  if (!isFile && (parts[0] !== "run" || id === undefined)) return runsView();
  switch (parts[2]) {
    case "why": return whyView(id, parts[3], parts[4], parameters);
    case "nan": return nanView(id);
    case "variable": return variableView(id, parts[3], parts[4], parameters);
    default: return runView(id);
  }
}

function tabs({ parts }) {
  const id = isFile ? (parts[1] ?? "-") : parts[0] === "run" ? parts[1] : undefined;
  const tab = (text, name) => h("a", { href: name ? link("run", id, name) : link("run", id), "aria-current": (parts[2] ?? "") === name ? "page" : null }, text);
  return h("header", {}, h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); } }, "skip to content"),
    h("nav", { "aria-label": "views" },
      h("a", { class: "brand", href: isFile ? link("run", id ?? "-") : "#/", "aria-current": !isFile && !parts.length ? "page" : null }, h("span", { "aria-hidden": "true" }, "∇? "), "whygrad"),
      id !== undefined && [tab("Run", ""), tab("Why", "why"), tab("NaN", "nan")],
      parts[2] === "variable" && h("a", { href: location.hash, "aria-current": "page" }, "Variable")),
    h("button", { type: "button", class: "quiet", onclick: nextTheme, title: "light or dark (t)" }, "◐", h("span", { class: "hidden" }, " light or dark")));
}

/** What a person did to the page, to be done again after it was drawn anew: scrolling, focus, what is folded. */
function kept() {
  const all = (what) => [...page.querySelectorAll(what)];
  const reachable = "a, button, input, select, summary, [tabindex]";
  const [top, focused, open] = [scrollY, all(reachable).indexOf(document.activeElement), all("details").map((one) => one.open)];
  return () => {
    all("details").forEach((one, i) => { if (i < open.length) one.open = open[i]; });
    if (focused >= 0) all(reachable)[focused]?.focus({ preventScroll: true });
    scrollTo(0, top);
  };
}

let turn = 0;
async function draw(quietly = false) {
  const mine = ++turn;
  const where = parsed();
  const main = h("main", { id: "main", tabindex: -1 });
  let content;
  try {
    content = await view(where);
  } catch (error) {
    content = [h("h1", {}, "This cannot be shown"), h("p", { class: "problem" }, error.message), !isFile && h("p", {}, h("a", { href: "#/" }, "all runs"))];
  }
  if (mine !== turn) return;
  main.append(...content.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  const back = quietly ? kept() : () => scrollTo(0, 0);
  page.replaceChildren(tabs(where), main);
  back();
  document.title = `${main.querySelector("h1")?.textContent ?? ""} · whygrad`;
  if (!quietly) main.focus({ preventScroll: true });
}

async function look() {
  const where = parsed();
  if (document.hidden || page.querySelector("input:focus, select:focus")) return;
  if (!where.parts.length) {
    if (JSON.stringify(await get("runs")) !== listed.drawn) await draw(true);
  } else if (where.parts[0] === "run" && (where.parts[2] === undefined || where.parts[2] === "variable")) {
    const run = await of(where.parts[1]).catch(() => null);
    if (run?.status === "running") await draw(true);
  }
}

addEventListener("hashchange", () => draw());
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select, textarea")) return;
  const { parts } = parsed();
  const id = isFile ? (parts[1] ?? "-") : parts[1];
  if (event.key === "t") nextTheme();
  else if (event.key === "g" && !isFile) location.hash = "#/";
  else if (event.key === "/" && page.querySelector("input[type=search]")) { event.preventDefault(); page.querySelector("input[type=search]").focus(); }
  else if (id !== undefined && ["r", "w", "n"].includes(event.key)) location.hash = link(...{ r: ["run", id], w: ["run", id, "why"], n: ["run", id, "nan"] }[event.key]);
});
setTheme(remembered("whygrad-theme"));
draw();
if (!isFile) setInterval(() => look().catch(() => {}), EVERY);
