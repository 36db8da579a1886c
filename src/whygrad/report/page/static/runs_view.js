// The list of runs, and several of them side by side.

import { duration, h, number, prose, section, table } from "./dom.js";
import { change, get, link } from "./data.js";
import { lineChart, sparkline } from "./charts.js";

export const listed = { drawn: "" }; // the answer that the list shows
const state = { filter: "", order: "started", chosen: new Set() };
const ORDERS = { started: "newest", name: "name", findings: "findings", steps: "steps", loss: "loss" };
const weight = (run) => (run.findings.error ?? 0) * 1e6 + (run.findings.warning ?? 0) * 1e3 + (run.findings.note ?? 0);

function ordered(runs) {
  const words = state.filter.toLowerCase();
  const shown = runs.filter((run) => [run.id, run.name, run.script, run.status, ...(run.tags ?? [])].some((text) => String(text ?? "").toLowerCase().includes(words)));
  const keys = { started: (run) => -run.started, name: (run) => run.name || run.id, findings: (run) => -weight(run), steps: (run) => -(run.steps ?? 0),
    loss: (run) => (typeof run.loss === "number" ? run.loss : Infinity) };
  const key = keys[state.order];
  return shown.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

function found(run) {
  if (run.problem) return h("span", { class: "problem" }, prose(run.problem));
  const parts = Object.entries(run.findings).map(([level, count]) => h("span", { class: `pill ${level}` }, `${count} ${level}${count === 1 ? "" : "s"}`));
  return parts.length ? parts : h("span", { class: "muted" }, "none");
}

async function rename(run, again) {
  const name = prompt("Name of the run", run.name);
  if (name !== null) await change(`runs/${encodeURIComponent(run.id)}/annotate`, { name }).then(again);
}

async function retag(run, again) {
  const tags = prompt("Tags, separated by commas", (run.tags ?? []).join(", "));
  if (tags !== null) await change(`runs/${encodeURIComponent(run.id)}/annotate`, { tags: tags.split(",").map((tag) => tag.trim()).filter(Boolean) }).then(again);
}

async function remove(run, again) {
  if (confirm(`Delete ${run.name || run.id} for good?`)) await change(`runs/${encodeURIComponent(run.id)}/delete`).then(again);
}

function row(run, again, changeable) {
  const mark = h("input", { type: "checkbox", "aria-label": `compare ${run.name || run.id}`, checked: state.chosen.has(run.id),
    onchange: (event) => { state.chosen[event.target.checked ? "add" : "delete"](run.id); again(false); } });
  const button = (text, act, what) => h("button", { type: "button", class: "quiet", "aria-label": `${what} ${run.name || run.id}`, onclick: () => act(run, again) }, text);
  return [
    mark,
    [h("a", { href: link("run", run.id) }, run.name || run.id), h("div", { class: "muted" }, [run.name && run.id, run.script].filter(Boolean).join(" · ")),
      (run.tags ?? []).map((tag) => h("span", { class: "pill tag" }, tag))],
    [h("span", { class: `status ${run.status}` }, run.status), h("div", { class: "muted" }, new Date(run.started * 1000).toLocaleString())],
    found(run), run.steps === null ? "–" : number(run.steps), duration(run.seconds), number(run.loss), sparkline(run.trend),
    changeable && h("div", { class: "actions" }, !run.problem && [button("rename", rename, "rename"), button("tag", retag, "tag")], button("delete", remove, "delete")),
  ];
}

export async function runsView() {
  const data = await get("runs");
  listed.drawn = JSON.stringify(data);
  const body = h("div", {});
  const again = (changed = true) => (changed ? dispatchEvent(new Event("hashchange")) : draw());
  const draw = () => {
    const chosen = [...state.chosen].filter((id) => data.runs.some((run) => run.id === id));
    body.replaceChildren(
      h("p", { class: "actions" }, h("a", { class: "button", href: chosen.length > 1 ? `#/compare?runs=${chosen.map(encodeURIComponent).join(",")}` : null, "aria-disabled": chosen.length > 1 ? null : "true" },
        `compare ${chosen.length > 1 ? chosen.length : "two or more"}`)),
      table(["", "run", "status", "findings", "steps", "took", "loss", "gradient norm", ""], ordered(data.runs).map((run) => row(run, again, data.changeable)), "recorded runs", "stack"));
  };
  if (!data.runs.length) {
    return [h("h1", {}, "Runs"), h("div", { class: "empty" }, h("p", {}, "There are no runs in ", h("code", {}, data.folders.join(", ")), " yet. Record one:"),
      h("pre", {}, "whygrad run --record train.py\n\n# or, for the numbers of every step\nmodel.fit(x, y, callbacks=[whygrad.Monitor()])"))];
  }
  draw();
  return [
    h("h1", {}, "Runs"),
    h("div", { class: "controls" },
      h("label", {}, "filter ", h("input", { type: "search", value: state.filter, oninput: (event) => { state.filter = event.target.value; draw(); } })),
      h("label", {}, "order ", h("select", { onchange: (event) => { state.order = event.target.value; draw(); } },
        Object.entries(ORDERS).map(([key, text]) => h("option", { value: key, selected: key === state.order }, text))))),
    body,
  ];
}

export async function compareView(parameters) {
  const ids = (parameters.get("runs") ?? "").split(",").filter(Boolean);
  if (ids.length < 2) return [h("h1", {}, "Compare"), h("p", { class: "empty" }, "Choose two or more runs in the ", h("a", { href: "#/" }, "list"), ".")];
  const data = await get("compare", { runs: ids.join(",") });
  const label = (id) => data.names[id] || id;
  const parted = data.pairs.flatMap((pair) => pair.entries.filter((entry) => entry.step !== null).map((entry) => entry.step));
  const marks = parted.length ? [Math.min(...parted)] : [];
  return [
    h("h1", {}, "Compare"),
    h("p", { class: "verdict" }, marks.length ? `They first part at step ${marks[0]}.` : "They agree in all that both recorded."),
    lineChart({ title: "loss", marks, series: Object.entries(data.loss).map(([id, one]) => ({ name: label(id), ...one })) }),
    data.pairs.map((pair) => section(`${label(pair.left)} and ${label(pair.right)}`,
      pair.entries.length ? table(["what", "first differs at", "in", label(pair.left), label(pair.right), "last ratio"],
        pair.entries.map((entry) => [h("code", {}, entry.name), entry.step === null ? h("span", { class: "muted" }, "agrees") : `step ${entry.step}`,
          entry.channel.replaceAll("_", " "), number(entry.left), number(entry.right), number(entry.ratio)]), "differences")
        : h("p", { class: "muted" }, "They have no variable in common."),
      pair.only_left.length > 0 && h("p", { class: "muted" }, `only in ${label(pair.left)}: ${pair.only_left.join(", ")}`),
      pair.only_right.length > 0 && h("p", { class: "muted" }, `only in ${label(pair.right)}: ${pair.only_right.join(", ")}`))),
  ];
}
