// A suite: its datasets against its models, which of them are the best, and what each figure is based on.

import { at, h, name, notes, scrolls, section, svg, table } from "./dom.js";
import { count, fixed, plural, score } from "./figures.js";
import { outcomes } from "./outcomes.js";

/** @typedef {{ value: number | null, ci95_low: number | null, ci95_high: number | null, n: number, samples: number, failed: number, run_id: number,
 *  leading: boolean | null, remark: string | null }} SuiteCell */
/** @typedef {{ dataset: string, version: string, metric: string, mode: string, unit: string, models: Record<string, SuiteCell>,
 *  standings: any, too_few: Record<string, boolean>, no_interval: Record<string, string> }} SuiteLine */
/** @typedef {{ id: number, title: string, status: string, started_at: string, why: string, outcomes: [string, string, number][] }} SuiteRun */
/** @typedef {{ models: string[], verdicts: string[], lines: SuiteLine[], notes: import("./dom.js").Note[], runs: SuiteRun[], costs: [string, string[]][] }} SuitePage */
/** @typedef {((id: number) => string) | null} Link the address of a run's page; null in a file */

/** @param {SuiteLine} line @param {string} model */
function interval(line, model) {
  const { ci95_low: low, ci95_high: high, value } = line.models[model];
  if (value === null) return "–";
  return low === null || high === null || low === high ? line.no_interval[model] : `${score(low)} – ${score(high)}${line.too_few[model] ? " (too few)" : ""}`;
}

/** A bar from 0 to 1 with the interval. @param {SuiteCell} cell */
function track({ value, ci95_low: low, ci95_high: high }) {
  const place = (/** @type {number | null} */ share) => `${fixed(100 * Math.min(1, Math.max(0, share ?? 0)), 2)}%`;
  const line = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ y1, /** @type {number} */ y2) => svg("line", { x1: place(from), x2: place(to), y1, y2 });
  return svg("svg", { class: "track", "aria-hidden": "true" },
    svg("rect", { class: "ground", y: 3, width: "100%", height: 6, rx: 3 }), svg("rect", { class: "bar", y: 3, width: place(value), height: 6, rx: 3 }),
    ...(low !== null && high !== null && high > low ? [line(low, low, 0, 12), line(high, high, 0, 12), line(low, high, 6, 6)] : []));
}

/** How a model stands on a dataset: by the tests, never by the larger figure alone. @param {SuiteLine} line @param {SuiteCell} found */
function standing(line, found) {
  const { standings } = line;
  if (!standings || !found.leading) return null;
  return h("span", { class: "standing" }, found.run_id === standings.best ? "★ best" : "★ not told apart from the best");
}

/** @param {SuiteLine} line @param {number} number @param {string} model @param {Link} link */
function cell(line, number, model, link) {
  const found = line.models[model], called = h("span", { class: "model" }, h("bdi", {}, model));
  if (found === undefined) return h("td", { class: "figure dim" }, called, "–");
  const json = (/** @type {string} */ key) => at("lines", number, "models", model, key);
  const run = link === null ? null : h("a", { class: "of-run", href: link(found.run_id) }, `run ${found.run_id}`);
  if (found.value === null) return h("td", { class: "figure" }, called, h("b", {}, "–"), h("br", {}), h("span", { class: "warn" }, found.remark), run && h("br", {}), run);
  const text = h("b", { "data-json": json("value") }, score(found.value)), words = interval(line, model);
  return h("td", { class: found.leading ? "figure best" : "figure" }, called,
    link === null ? text : h("a", { href: link(found.run_id), "aria-label": `${score(found.value)}: ${line.dataset} on ${model}, run ${found.run_id}` }, text), " ", standing(line, found),
    line.unit === "share" ? track(found) : h("br", {}),
    h("span", { class: "dim" }, words === "–" ? "" : `${words}, `, "n ", h("span", { "data-json": json("n") }, count(found.n)),
      found.failed ? h("span", {}, ", ", h("span", { class: "warn" }, `${count(found.failed)} of ${count(found.samples)} failed`)) : null),
    ...(found.remark ? [h("br", {}), h("span", { class: "warn" }, found.remark)] : []));
}

/** @param {SuitePage} page @param {Link} link */
function scores({ models, lines }, link) {
  const modes = new Set(lines.map(({ mode }) => mode)), versions = new Map();
  for (const { dataset, version } of lines) versions.set(dataset, new Set([...(versions.get(dataset) ?? []), version]));
  const rows = lines.map((line, number) => {
    const about = [...(modes.size > 1 ? [line.mode] : []), ...(versions.get(line.dataset).size > 1 ? [`prompt ${line.version}`] : [])];
    return h("tr", {}, h("th", { class: "name", scope: "row" }, name(at("lines", number, "dataset"), line.dataset), h("span", { class: "dim metric" }, [line.metric, ...about].join(", "))),
      ...models.map((model) => cell(line, number, model, link)));
  });
  const head = h("tr", {}, ...["dataset", ...models].map((words) => h("th", { scope: "col" }, h("bdi", {}, words))));
  return h("div", scrolls("Scores"), h("table", { class: "models" }, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** @param {string} label @param {[Node | string, (string | Node)[]][]} rows */
const named = (label, rows) => h("div", scrolls(label), h("table", {}, h("tbody", {}, ...rows.map(([title, parts]) => h("tr", {}, h("td", { class: "name" }, title), h("td", {}, ...parts))))));

/** @param {SuitePage} page */
function figures({ lines }) {
  const headings = ["model", "dataset", "metric", "value", "95 % interval", "n", "samples", "failed", "run"];
  const remarks = lines.some(({ models }) => Object.values(models).some(({ remark }) => remark));
  const rows = lines.flatMap((line, number) => Object.entries(line.models).map(([model, found]) => {
    const counted = (/** @type {"n" | "samples" | "failed" | "run_id"} */ key, words = count(found[key])) => ({ text: words, json: at("lines", number, "models", model, key) });
    return [model, line.dataset, line.metric, found.value === null ? "–" : score(found.value), interval(line, model), counted("n"), counted("samples"), counted("failed"), counted("run_id", String(found.run_id)), ...(remarks ? [found.remark ?? ""] : [])];
  }));
  return table("What each figure is based on", [...headings, ...(remarks ? ["remark"] : [])], rows, { kind: "based", texts: [1, 2, 9] });
}

/** @param {SuitePage} page @param {{ link?: Link }} options @returns {Node[]} */
export function suite(page, { link = null } = {}) {
  const plain = page.runs.filter(({ outcomes: counts }) => counts.length && counts.every(([outcome,, number]) => !number || outcome === "scored"));
  const ended = page.runs.filter((run) => !plain.includes(run)).map(({ id, title, why, outcomes: counts }) => /** @type {[Node | string, (string | Node)[]]} */ (
    [link === null ? h("bdi", {}, title) : h("a", { href: link(id) }, h("bdi", {}, title)), counts.length ? outcomes(`Outcomes of ${title}`, counts) : [h("span", { class: "warn" }, why)]]));
  const tested = page.lines.some(({ standings }) => standings);
  const about = `${plural(page.models.length, "model")} on ${plural(new Set(page.lines.map(({ dataset }) => dataset)).size, "dataset")}. The bracket on each bar is the 95 % interval. Failed samples are excluded; their number is shown.`;
  const rule = "A star marks the best model of a row, and every model that cannot be told apart from it: paired tests on the rows that both answered, corrected by Holm's method over all pairs of the row.";
  return [
    ...(page.verdicts.length ? [h("ul", { class: "suite-verdicts" }, ...page.verdicts.map((words, place) => h("li", { "data-json": at("verdicts", place) }, words)))] : []),
    h("p", { class: "about" }, about, tested ? ` ${rule}` : ""), scores(page, link),
    ...section("Notes", ...notes(page.notes)),
    ...section("Outcomes", plain.length ? h("p", {}, `${plain.length === page.runs.length ? "All samples of all" : "All samples of"} ${plural(plain.length, "run")} were scored.`) : null, ended.length ? named("Outcomes", ended) : null),
    ...section("Cost", page.costs.length ? named("Cost", page.costs.map(([title, lines]) => [title, lines.flatMap((line, place) => (place ? [h("br", {}), line] : [line]))])) : null),
    ...section("What each figure is based on", figures(page)),
  ];
}
