// One run, one of its variables, and where its NaN came from.

import { duration, escaped, h, number, plural, prose, section, table } from "./dom.js";
import { has, link, of } from "./data.js";
import { heatMap, lineChart } from "./charts.js";
import { histograms } from "./histogram.js";
import { reachTables } from "./terms.js";

export const cards = (findings) => findings.map((one) => escaped(one.card, "div", { class: "whygrad" }));

const pill = (kind, text) => h("span", { class: `pill ${kind}` }, text);

function facts(run) {
  const packages = Object.entries(run.packages ?? {}).map(([name, version]) => `${name} ${version}`);
  const parts = [run.status, run.started && new Date(run.started * 1000).toLocaleString(), run.seconds && duration(run.seconds),
    run.steps && plural(run.steps, "step"), run.arguments?.length && `python ${run.arguments.join(" ")}`, packages.join(", "),
    run.commit && `commit ${run.commit.slice(0, 10)}`];
  return h("p", { class: "muted" }, parts.filter(Boolean).join(" · "));
}

function epochChart(epochs) {
  const names = [...new Set(epochs.flatMap(Object.keys))].filter((name) => name !== "step" && name !== "epoch");
  const pairs = names.filter((name) => !name.startsWith("val_"));
  return pairs.map((name) => lineChart({ title: `${name}, by epoch`, series: [name, `val_${name}`].filter((each) => names.includes(each))
    .map((each) => ({ name: each, steps: epochs.map((one) => one.epoch + 1), values: epochs.map((one) => one[each] ?? null) })) }));
}

const titled = (name) => (name === "duration" ? "seconds per step" : name.startsWith("metrics/") ? `${name.slice(8)}, as reported` : name.replaceAll("_", " "));

export async function runView(id) {
  const run = await of(id);
  const curves = await Promise.all((run.tracks ?? []).map(async (track) => {
    const [scalars, heat] = await Promise.all([of(id, "scalars", { track: track.name }), of(id, "heat", { track: track.name })]);
    return { track: track.name, scalars: scalars.scalars, heat };
  }));
  const charts = curves.map(({ track, scalars, heat }) => section(curves.length > 1 ? track : "Course",
    h("div", { class: "charts" },
      Object.entries(scalars).map(([name, one]) => lineChart({ title: titled(name), log: name === "duration", series: [{ name, ...one }] })),
      lineChart({ title: "total gradient norm", log: true, series: [{ name: "norm", steps: heat.columns.map((column) => column[0]), values: heat.total }] })),
    heat.variables.length > 0 && heatMap(heat, (name) => link("run", id, "variable", name, track))));
  return [
    h("h1", {}, run.name || run.id || "Report", " ", run.worst && pill(run.worst, run.worst)),
    h("p", { class: "verdict" }, prose(run.verdict)),
    run.status && facts(run),
    run.failure && h("p", { class: "problem" }, `ended with ${run.failure}`),
    run.left_out > 0 && h("p", { class: "problem" }, `${run.left_out} steps were left out because the disk did not keep up`),
    run.damage?.map((text) => h("p", { class: "problem" }, prose(text))),
    run.tags?.length > 0 && h("p", {}, run.tags.map((tag) => pill("tag", tag))),
    run.note && h("p", {}, run.note),
    section("Findings", cards(run.findings), !run.findings.length && h("p", { class: "muted" }, "Nothing was found.")),
    reachTables(run.reach),
    charts,
    run.epochs?.length > 1 && section("Epochs", h("div", { class: "charts" }, epochChart(run.epochs))),
  ];
}

const CURVES = [["norm", "gradient norm", true], ["update_ratio", "update norm / weight norm", true], ["zero_share", "share of elements that are zero", false],
  ["weight_norm", "weight norm", false], ["sum", "sum of the gradient", false]];

export async function variableView(id, name, track, parameters) {
  const one = await of(id, "variable", track ? { name, track } : { name });
  const spread = await of(id, "histograms", { name, track: one.track }).catch(() => ({ steps: [] })); // a file may lack them
  const at = Number(parameters.get("at") ?? parameters.get("step") ?? Infinity);
  const remember = (step) => history.replaceState(null, "", `${location.hash.split("?")[0]}?at=${step}`);
  const marks = parameters.has("step") ? [Number(parameters.get("step"))] : [];
  const bad = one.nonfinite_steps;
  const curve = ([key, title, log]) => {
    if (!(key in one.curves)) return null;
    const series = [{ name: "before clipping", ...one.curves[key] }];
    const applied = one.curves.applied_norm;
    if (key === "norm" && applied && String(applied.values) !== String(one.curves.norm.values)) series.push({ name: "applied", ...applied });
    const allZero = one.curves[key].values.every((value) => value === 0 || value === null);
    return lineChart({ title, log: log && !allZero, series, marks, bad });
  };
  const extremes = one.curves.minimum && lineChart({ title: "smallest and largest element", marks, bad,
    series: [{ name: "largest", ...one.curves.maximum }, { name: "smallest", ...one.curves.minimum }] });
  const glance = [["median norm", one.glance.median], ["largest norm", one.glance.largest], ["last norm", one.glance.last],
    ["update / weight", one.glance.update_ratio], ["zeros", one.glance.zeros === null ? null : `${Math.round(one.glance.zeros * 100)} %`]];
  return [
    h("h1", {}, h("code", {}, one.name), one.missing && [" ", pill("error", "no gradient")]),
    h("p", { class: "muted" }, [one.shape.join(" × ") || "scalar", one.dtype, one.layer, `updated by ${one.track}`, plural(one.steps, "step")].filter(Boolean).join(" · ")),
    h("dl", { class: "glance" }, glance.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, number(value))))),
    one.nonfinite_count > 0 && h("p", { class: "problem" }, `not finite at ${plural(one.nonfinite_count, "step")}, first at ${one.nonfinite_steps[0]}; shaded below`),
    one.silent_units > 0 && h("p", { class: "problem" }, `${one.silent_units} of ${one.units} units got no gradient`),
    one.ways.length > 0 && h("p", {}, one.ways.map((way, i) => [i > 0 && " · ", h("a", { href: link("run", id, "why", way.request, way.source) }, one.ways.length > 1 ? `way to loss ${i + 1}` : "its way to the loss")])),
    section("Findings", cards(one.findings)),
    section("Over the steps", one.steps ? h("div", { class: "charts" }, CURVES.map(curve), extremes) : h("p", { class: "muted" }, "No step is recorded yet.")),
    section("How its elements are spread", spread.steps.length ? histograms(spread, at, remember)
      : h("p", { class: "muted" }, h("code", {}, "whygrad.Monitor(histograms=True)"), " counts them at one step in 100.")),
    section("Who writes to it", one.writers.length > 0 && table(["writer", "how", "where", "times"],
      one.writers.map((write) => [`${write.kind} ${write.writer}`, h("code", {}, write.method), write.place ?? "", number(write.count)]), "writers")),
  ];
}

const STAGES = { born: "An op made it of finite values.", entered: "It came in with the data or a variable.", spread: "One bad gradient made others bad.",
  summed: "It was added to the gradients of other batches.", update: "An update made it of finite numbers.", unplaced: "Where it came from could not be found." };

function range(label, facts) {
  const odd = ["zeros", "negatives", "nans", "infs"].filter((key) => facts[key] > 0).map((key) => `${facts[key]} ${key}`);
  return [label, `${facts.dtype} ${facts.shape.join("×") || "scalar"}`, `${number(facts.low)} … ${number(facts.high)}`, odd.join(", ") || "–"];
}

export async function nanView(id) {
  const found = has("nan") ? await of(id, "nan") : [];
  const views = found.map((one) => section(`Step ${one.step}: ${one.symptom}${one.op ? ` born in ${one.op}` : ""}`,
    h("p", { class: "verdict" }, STAGES[one.stage] ?? one.stage, one.backward ? " It happened in the backward pass, in the derivative." : "",
      one.layer && [" In ", h("code", {}, one.layer), "."]),
    h("p", {}, `Seen in ${one.seen} of ${plural(one.of, "request")}; the loss itself ${one.loss_is_bad ? "is not finite" : "stayed finite"}`,
      one.rows.length > 0 && `; caused by examples ${one.rows.map((row) => row + 1).join(", ")}${one.batch ? ` of ${one.batch}` : ""}`, one.exact ? "." : "; found by running the step again with other random numbers."),
    one.reason && h("p", { class: "problem" }, one.reason),
    one.excerpt && h("div", { class: "whygrad" }, escaped(one.excerpt, "div", { class: "wg-error" })),
    one.inputs.length + (one.value ? 1 : 0) > 0 && table(["", "what", "finite range", "odd elements"],
      [...one.inputs.map((facts, i) => range(`input ${i + 1}`, facts)), ...(one.value ? [range("result", one.value)] : [])], "ranges in and out"),
    one.fed_by.length > 0 && h("details", {}, h("summary", {}, "what fed it"), table(["op", "where", "finite range"],
      one.fed_by.map((feeder) => [h("code", {}, feeder.kind), feeder.place ?? "came in", `${number(feeder.low)} … ${number(feeder.high)}`]), "what fed it")),
    one.variables.length > 0 && h("p", {}, "It spread to ", one.variables.map((name, i) => [i > 0 && ", ", h("a", { href: link("run", id, "variable", name) }, h("code", {}, name))]))));
  return [h("h1", {}, "NaN and Inf"), views.length ? views
    : h("p", { class: "empty" }, "No value that is not finite was seen, or nobody watched: ", h("code", {}, "whygrad run --record train.py"), " looks for the first one.")];
}
