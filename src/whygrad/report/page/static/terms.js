// What each term of a loss gives to each layer and variable.

import { h, number, plural, section, table } from "./dom.js";
import { COLOURS } from "./charts.js";

const layerOf = (name) => name.slice(0, Math.max(0, name.lastIndexOf("/"))) || name;

/** One group of bars a layer, one bar a term: the norm of the gradient that comes, where it was measured. */
function normBars(loss) {
  const layers = [...new Set(loss.terms.flatMap((term) => Object.keys(term.norms)).map(layerOf))];
  if (!layers.length) return null;
  const norm = (term, layer) => Math.hypot(...Object.entries(term.norms).filter(([name]) => layerOf(name) === layer).map(([, value]) => Number(value)));
  const rows = layers.map((layer) => [layer, loss.terms.map((term) => norm(term, layer))]);
  const most = Math.max(...rows.flatMap(([, norms]) => norms.filter(Number.isFinite)), 0);
  const width = (value) => (value > 0 && most > 0 ? Math.max(0.5, (Math.min(value, most) / most) * 100) : 0);
  const names = loss.terms.map((term) => term.term.replaceAll("`", ""));
  const bar = (value, i, layer) => {
    const has = (those) => those.some((name) => layerOf(name) === layer);
    const said = value !== 0 ? number(value) : has(loss.terms[i].missing) ? h("span", { class: "misses" }, "✂ cut")
      : h("span", { class: "muted" }, has(loss.terms[i].reached) ? "0" : "–");
    return h("div", { class: "norm", title: `${names[i]}: ${number(value)}` }, h("i", { css: { width: `${width(value)}%`, background: COLOURS[i % COLOURS.length] } }), said);
  };
  return h("figure", { class: "norms" },
    h("figcaption", {}, h("strong", {}, "norm of the gradient of each term, by layer"), ` over ${plural(loss.terms[0].steps ?? 1, "step")}`,
      h("div", {}, names.map((name, i) => h("span", { class: "key" }, h("i", { css: { background: COLOURS[i % COLOURS.length] } }), h("code", {}, name))))),
    h("div", { class: "norm-rows", tabindex: 0, role: "region", "aria-label": `norms by layer and term of ${loss.loss}` },
      rows.map(([layer, norms]) => [h("code", { title: layer }, layer), h("div", {}, norms.map((value, i) => bar(value, i, layer)))])));
}

/** Terms of losses against variables: what reaches what, with the norm where it was measured. */
export function reachTables(reach) {
  return reach.filter((loss) => loss.terms.length > 1).map((loss) => {
    const names = [...new Set([...loss.reached, ...loss.missing, ...loss.terms.flatMap((term) => [...term.reached, ...term.missing])])];
    const most = Math.max(...loss.terms.flatMap((term) => Object.values(term.norms)), 0);
    const cell = (term, name) => {
      if (term.reached.includes(name)) {
        const norm = term.norms[name];
        const width = most > 0 && norm > 0 ? Math.max(4, Math.round((norm / most) * 100)) : 0;
        return h("span", { class: "reaches" }, "✓ ", norm !== undefined && number(norm), width > 0 && h("i", { css: { width: `${width}%` } }));
      }
      return term.missing.includes(name) ? h("span", { class: "misses" }, "✂ cut") : h("span", { class: "muted" }, "–");
    };
    const headings = ["variable", ...loss.terms.map((term) => term.term.replaceAll("`", ""))];
    return section(`What each term of ${loss.loss} gives`, normBars(loss),
      table(headings, names.map((name) => [h("code", {}, name), ...loss.terms.map((term) => cell(term, name))]), `terms of ${loss.loss}`),
      h("p", { class: "muted" }, "✓ a gradient comes; ✂ the term depends on the variable, and no gradient comes; – it does not depend on it"));
  });
}
