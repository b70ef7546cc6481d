// A suite: its datasets against its models, and what each figure is based on.

import { at, h, scrolls, section, svg, table } from "./dom.js";
import { count, fixed, plural } from "./figures.js";
import { outcomes } from "./outcomes.js";

/** @typedef {{ value: number | null, ci95_low: number | null, ci95_high: number | null, n: number, samples: number, failed: number, run_id: number,
 *  remark: string | null }} SuiteCell */
/** @typedef {{ dataset: string, version: string, metric: string, mode: string, unit: string, models: Record<string, SuiteCell>,
 *  best: number | null, intervals: Record<string, string> }} SuiteLine */
/** @typedef {{ models: string[], lines: SuiteLine[], notes: string[], runs: { title: string, why: string, outcomes: [string, string, number][] }[],
 *  costs: [string, string[]][] }} SuitePage the content of `summary_….json`, with words about it */

/** The two decimals of a figure. @param {SuiteCell} cell */
const text = ({ value }) => (value === null ? "–" : fixed(value, 2));

/** A bar from 0 to 100 with the interval. @param {SuiteCell} cell */
function track({ value, ci95_low: low, ci95_high: high }) {
  const place = (/** @type {number | null} */ share) => `${fixed(Math.min(100, Math.max(0, share ?? 0)), 2)}%`;
  const line = (from, to, y1, y2) => svg("line", { x1: place(from), x2: place(to), y1, y2 });
  const known = low !== null && high !== null && high > low;
  return svg("svg", { class: "track", "aria-hidden": "true" },
    svg("rect", { class: "ground", y: 3, width: "100%", height: 6, rx: 3 }), svg("rect", { class: "bar", y: 3, width: place(value), height: 6, rx: 3 }),
    ...(known ? [line(low, low, 0, 12), line(high, high, 0, 12), line(low, high, 6, 6)] : []));
}

/** @param {SuiteLine} line @param {number} number @param {string} model */
function cell(line, number, model) {
  const found = line.models[model], called = h("span", { class: "model" }, model);
  if (found === undefined) return h("td", { class: "figure dim" }, called, "–");
  const json = (/** @type {string} */ key) => at("lines", number, "models", model, key);
  if (found.value === null) return h("td", { class: "figure" }, called, h("b", {}, "–"), h("br", {}), h("span", { class: "warn" }, found.remark));
  const best = found.value === line.best && Object.keys(line.models).length > 1 && !found.remark;
  const interval = line.intervals[model];
  return h("td", { class: best ? "figure best" : "figure" }, called, h("b", { "data-json": json("value") }, text(found)),
    line.unit === "percent" ? track(found) : h("br", {}),
    h("span", { class: "dim" }, interval === "–" ? "" : `${interval}, `, "n ", h("span", { "data-json": json("n") }, count(found.n)),
      found.failed ? h("span", {}, ", ", h("span", { class: "warn" }, `${count(found.failed)} of ${count(found.samples)} failed`)) : null),
    ...(found.remark ? [h("br", {}), h("span", { class: "warn" }, found.remark)] : []));
}

/** @param {SuitePage} page */
function scores({ models, lines }) {
  const rows = lines.map((line, number) => h("tr", {}, h("td", { class: "name" }, line.dataset),
    h("td", {}, line.metric, h("br", {}), h("span", { class: "dim" }, `${line.mode}, prompt version ${line.version}`)),
    ...models.map((model) => cell(line, number, model))));
  const head = h("tr", {}, ...["dataset", "metric", ...models].map((words) => h("th", {}, words)));
  return h("div", scrolls("Scores"), h("table", { class: "models" }, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** @param {string} label @param {[string, (string | Node)[]][]} rows */
const named = (label, rows) => h("div", scrolls(label), h("table", {}, h("tbody", {}, ...rows.map(([title, parts]) => h("tr", {}, h("td", { class: "name" }, title), h("td", {}, ...parts))))));

/** @param {SuitePage} page */
function figures({ lines }) {
  const headings = ["model", "dataset", "metric", "value", "95 % interval", "n", "samples", "failed", "run", "remark"];
  const rows = lines.flatMap((line, number) => Object.entries(line.models).map(([model, found]) => {
    const counted = (/** @type {"n" | "samples" | "failed" | "run_id"} */ key, words = count(found[key])) => ({ text: words, json: at("lines", number, "models", model, key) });
    return [model, line.dataset, line.metric, text(found), line.intervals[model], counted("n"), counted("samples"), counted("failed"), counted("run_id", String(found.run_id)), found.remark ?? ""];
  }));
  return table("What each figure is based on", headings, rows, { kind: "based", texts: [1, 2, 9] });
}

/** @param {SuitePage} page @returns {Node[]} */
export function suite(page) {
  const ended = page.runs.map(({ title, why, outcomes: counts }) => /** @type {[string, (string | Node)[]]} */ (
    [title, counts.length ? outcomes(`Outcomes of ${title}`, counts) : [h("span", { class: "warn" }, why)]]));
  const about = `${plural(page.models.length, "model")} on ${plural(new Set(page.lines.map(({ dataset }) => dataset)).size, "dataset")}. Figures are percentages unless the metric says otherwise; the bracket on each bar is the 95 % interval. Failed samples are excluded; their number is shown.`;
  return [
    h("p", { class: "about" }, about), scores(page),
    ...section("Notes", page.notes.length ? h("div", { class: "card" }, h("ul", { class: "notes" }, ...page.notes.map((note) => h("li", {}, note)))) : null),
    ...section("Outcomes", named("Outcomes", ended)),
    ...section("Cost", page.costs.length ? named("Cost", page.costs.map(([title, lines]) => [title, lines.flatMap((line, place) => (place ? [h("br", {}), line] : [line]))])) : null),
    ...section("What each figure is based on", figures(page)),
  ];
}
