// Why: every gradient that was asked for, and the way of each variable to its loss.

import { h, number, prose } from "./dom.js";
import { has, link, of } from "./data.js";
import { wayGraph } from "./graph.js";
import { reachTables } from "./terms.js";

const OUTCOMES = { present: ["✓", "gradient"], missing: ["∅", "no gradient"], zero: ["0", "zero"], nonfinite: ["!", "not finite"], failed: ["×", "failed"] };

function sources(id, request, chosen) {
  return h("ul", {}, request.sources.map((source) => {
    const [sign, word] = OUTCOMES[source.outcome] ?? ["?", source.outcome];
    const current = request.request === chosen[0] && source.source === chosen[1];
    return h("li", {}, h("a", { href: link("run", id, "why", request.request, source.source), "aria-current": current ? "true" : null, title: source.name },
      h("span", { class: `outcome ${source.outcome}`, title: word }, sign), " ", source.name,
      source.norm !== null && h("span", { class: "muted" }, ` ${number(source.norm)}`)));
  }));
}

export async function whyView(id, request, source, parameters) {
  const requests = has("why") ? await of(id, "why") : [];
  const title = h("h1", {}, "Why");
  if (!requests.length) {
    return [title, h("p", { class: "empty" }, "The graph of this run was not recorded. ", h("code", {}, "whygrad run --record train.py"), " keeps it, also around a script that uses Monitor.")];
  }
  const every = requests.flatMap((one) => one.sources.map((each) => ({ request: one.request, source: each.source, bad: each.outcome !== "present" })));
  const first = every.find((one) => one.bad) ?? every[0];
  const chosen = request === undefined ? [first?.request, first?.source] : [Number(request), Number(source)];
  const plain = parameters.get("folded") === "0";
  const way = first === undefined ? null : await of(id, `way/${chosen[0]}/${chosen[1]}`, plain ? { folded: 0 } : {}).catch((error) => error);
  const run = await of(id);
  const here = link("run", id, "why", chosen[0], chosen[1]);
  return [
    title,
    way instanceof Error ? h("p", { class: "problem" }, way.message) : way && h("p", { class: "verdict" }, prose(way.verdict)),
    h("div", { class: "why" },
      h("nav", { class: "requests", "aria-label": "gradients that were asked for" }, requests.map((one) => h("details", { open: one.request === chosen[0] || requests.length < 4 },
        h("summary", {}, h("code", {}, one.loss), " ", h("span", { class: "muted" }, [one.place, one.times > 1 && `${one.times} times`].filter(Boolean).join(", "))),
        sources(id, one, chosen)))),
      h("div", {}, way && !(way instanceof Error) && [
        wayGraph(way),
        h("p", { class: "muted" }, way.truncated && "Some history was dropped to keep memory flat. ", "Values go down, the gradient comes back up. Arrow keys walk along the way. ",
          has("way/0/0?folded=0") && h("a", { href: plain ? here : `${here}?folded=0` }, plain ? "fold what is uneventful" : "show every op")),
      ])),
    reachTables(run.reach ?? []),
  ];
}
