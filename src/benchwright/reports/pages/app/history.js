// #/history/NAME: one benchmark over time, with breaks where runs cannot be compared with the one before.

import { get } from "./api.js";
import { axisFor, chart } from "./charts.js";
import { at, decoded, figure, h, name, scrolls } from "./dom.js";
import { count, plural, score } from "./figures.js";
import { STYLES } from "./gate.js";
import { isLive, watch } from "./live.js";
import { pageOf } from "./of_run.js";
import { historyOf } from "./runs.js";
import { empty } from "./states.js";

/** @typedef {{ text: string, name: string, value: number, ci_low: number | null, ci_high: number | null, n: number }} Score */
/** @typedef {Score | { text: string, name?: undefined, value?: undefined }} Headline that of a load test or a workflow is only a text */
/** @typedef {{ run_id: number, kind: string, model: string, status: string, created_at: string, comparable: boolean | null, headline: Headline | null,
 *  before: number | null, breaks: string[], changes: { path: string, run_a?: any, run_b?: any }[], baselines: string[], gates: { verdict: string, policy: string, baseline: string | null, created_at: string }[] }} HistoryRun */
/** @typedef {{ name: string, metric: string | null, runs: HistoryRun[], breaks: number, next: number | null }} History as GET /history answers */

const MOST_CHANGES = 5, LONGEST = 40;

/** The letter of a model: points are told apart by more than their colour. @param {number} place */
const letter = (place) => String.fromCharCode(65 + (place % 26)) + (place < 26 ? "" : String(Math.floor(place / 26)));

/** A reason without what it names. @param {string} reason */
const brief = (reason) => reason.replace(/ \(.*$/s, "");

/** The headline of a run, if the picture has it. @param {History} found @param {HistoryRun} run @returns {Score | null} */
const drawn = ({ metric }, { headline }) => (headline?.value !== undefined && headline.name === metric ? headline : null);

/** The kind of the runs in the picture. A load test may have the name of a benchmark. @param {History} found */
const kindOf = ({ metric, runs }) => (metric === null ? null : runs.findLast(({ headline }) => headline?.name === metric)?.kind ?? null);

/** Whether a run is of another model than the one before it. @param {HistoryRun} run */
const ofOtherModel = ({ changes }) => changes.some(({ path }) => path === "$.model");

/** Why no line joins a run with the one before it, in few words. @param {HistoryRun} run @returns {string[]} */
const divisions = (run) => [...run.breaks.map(brief), ...(ofOtherModel(run) ? ["other model"] : [])];

/** The headline of each run with its interval; lines join runs that neither a break nor another model divides. @param {History} found */
export function picture(found) {
  const kind = kindOf(found), runs = found.runs.filter((run) => run.kind === kind), shown = runs.filter((run) => drawn(found, run));
  if (!shown.length) return null;
  const models = [...new Set(shown.map(({ model }) => model))];
  const series = new Map();
  let part = 0;
  runs.forEach((run, place) => {
    if (divisions(run).length) part += 1;
    const headline = drawn(found, run);
    if (headline === null) return;
    const number = models.indexOf(run.model), key = `${part} ${number}`;
    const title = models.length > 1 ? `${letter(number)}: ${run.model || "no model"}` : run.model;
    if (!series.has(key)) series.set(key, { name: title, points: [], labels: [], intervals: [], colour: number, kind: "dots" });
    const { points, labels, intervals } = series.get(key), { value, ci_low: low, ci_high: high } = headline;
    points.push([place, value]);
    intervals.push(low === null || high === null ? null : [low, high]);
    labels.push(`${models.length > 1 ? letter(number) : ""}${run.baselines.length ? " ★" : ""}${run.gates.map(({ verdict: word }) => ` ${STYLES[word]?.[1] ?? ""}`).join("")}`.trim());
  });
  const values = shown.flatMap((run) => { const head = drawn(found, run); return head === null ? [] : [head.value, head.ci_low, head.ci_high]; }).filter((each) => each !== null);
  const notes = [
    models.length === 1 ? `All runs are of ${models[0] || "no model"}.` : "", "Vertical bars are 95 % intervals.", found.breaks ? "Dashed lines are breaks: figures on either side of one cannot be compared." : "",
    runs.some((run) => ofOtherModel(run) && !run.breaks.length) ? "Lines that say “other model” divide models on the same data, which can be compared." : "",
    shown.some(({ baselines }) => baselines.length) ? "★ is a baseline." : "",
    ...Object.entries(STYLES).map(([word, [, sign]]) => (shown.some(({ gates }) => gates.some(({ verdict: each }) => each === word)) ? `${sign} is ${word} of a gate.` : "")),
    shown.length < runs.length ? `${plural(runs.length - shown.length, "run")} without a figure of ${found.metric} ${runs.length - shown.length === 1 ? "is" : "are"} left out.` : "",
  ];
  return h("div", { class: "charts one" }, chart({
    title: `${found.metric} of ${found.name}`, wide: true, note: notes.filter(Boolean).join(" "),
    x: { low: -0.5, high: runs.length - 0.5, title: "run", names: runs.map(({ run_id: id }) => String(id)) }, y: axisFor(values, found.metric ?? "", { zero: false }),
    series: [...series.values()],
    marks: runs.flatMap((run, place) => (divisions(run).length ? [/** @type {[number, string]} */ ([place - 0.5, divisions(run).join(", ")])] : [])),
    tips: runs.flatMap((run, place) => (drawn(found, run) ? [/** @type {[number, string]} */ ([place, `run ${run.run_id}, ${run.model}: ${run.headline?.text}`])] : [])),
  }));
}

/** A value of a setting in few characters. @param {any} value */
function setting(value) {
  const text = value === null || value === undefined ? "not set" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** @param {HistoryRun} run */
function changed({ run_id: id, before, breaks, changes }) {
  if (before === null) return [h("span", { class: "dim" }, "–")];
  const items = changes.slice(0, MOST_CHANGES).map(({ path, run_a: a, run_b: b }) =>
    h("li", {}, h("bdi", {}, path.replace(/^\$\.?/, "")), ": ", h("bdi", {}, setting(a)), " → ", h("bdi", {}, setting(b))));
  if (changes.length > MOST_CHANGES) items.push(h("li", {}, `and ${count(changes.length - MOST_CHANGES)} more`));
  return [
    items.length ? h("ul", { class: "changes" }, ...items) : h("span", { class: "dim" }, breaks.length ? "no setting" : "nothing"),
    breaks.length ? null : h("div", {}, h("a", { href: `#/compare?runs=${before},${id}` }, `compare with run ${before}`)),
  ];
}

/** @param {HistoryRun} run @param {number} place */
function row(run, place) {
  const json = (/** @type {(string | number)[]} */ ...path) => at("runs", place, ...path), found = run.headline;
  const numbers = found === null ? [h("td", { colspan: 3, class: "dim" }, isLive(run) ? "no result yet" : "no result")] : found.value === undefined ?
    [h("td", { colspan: 3 }, figure(json("headline", "text"), found.text))] : [
      h("td", { class: "number" }, figure(json("headline", "value"), score(found.value), "value"), h("div", { class: "dim" }, name(json("headline", "name"), found.name))),
      h("td", { class: "number" }, ...(found.ci_low === null || found.ci_high === null ? ["–"] : [figure(json("headline", "ci_low"), score(found.ci_low)), " – ", figure(json("headline", "ci_high"), score(found.ci_high))])),
      h("td", { class: "number" }, figure(json("headline", "n"), count(found.n)))];
  const gap = run.breaks.length ? [h("tr", { class: "break" }, h("td", { colspan: 7 }, `Break: runs ${run.before} and ${run.run_id} `, ...run.breaks.flatMap((reason, number) =>
    [number ? " and " : "", name(json("breaks", number), reason)])))] : [];
  return [...gap, h("tr", { "data-run": run.run_id },
    h("td", {}, h("a", { href: pageOf({ kind: run.kind, id: run.run_id }) }, figure(json("run_id"), String(run.run_id))),
      run.status === "completed" ? null : h("div", {}, figure(json("status"), run.status, `status-${run.status}`)),
      run.comparable === false ? h("div", { class: "warn" }, "not comparable") : null,
      ...run.baselines.map((label, number) => h("div", { class: "dim" }, "★ baseline ", name(json("baselines", number), label))),
      ...run.gates.map((gate, number) => h("div", { title: `${gate.created_at.slice(0, 16).replace("T", " ")} UTC${gate.baseline ? `, against ${gate.baseline}` : ""}` },
        h("b", { class: `${STYLES[gate.verdict]?.[0]}-text` }, STYLES[gate.verdict]?.[1], " ", figure(json("gates", number, "verdict"), gate.verdict)), " by ", name(json("gates", number, "policy"), gate.policy)))),
    h("td", { class: "metric-name" }, run.model ? name(json("model"), run.model) : "–"), ...numbers,
    h("td", { class: "when" }, h("span", { title: run.created_at }, run.created_at.slice(0, 16).replace("T", " "))),
    h("td", {}, ...changed(run)))];
}

/** @param {History} found @param {boolean} older whether newer runs are left out */
export function verdict(found, older) {
  const { runs } = found;
  const kind = kindOf(found); // the sentence is about the runs in the picture
  const tells = (/** @type {HistoryRun} */ run) => run.headline !== null && (kind === null || run.kind === kind);
  const newest = runs.findLastIndex(tells), told = runs.filter(tells), results = told.length;
  const breaks = told.filter((each) => each.breaks.length > 0).length;
  const live = runs.filter(isLive).map(({ run_id: id, status }) => ` Run ${id} is ${status}.`).join("");
  if (newest < 0) return h("p", { class: "verdict-line" }, `None of ${plural(runs.length, "run")} has a headline.${live}`);
  const run = runs[newest], json = (/** @type {string} */ key) => at("runs", newest, "headline", key), head = run.headline ?? { text: "" };
  const said = head.value === undefined ? [": ", figure(json("text"), head.text)] : [" scored ", figure(json("value"), score(head.value)),
    ...(head.ci_low === null || head.ci_high === null ? [] : [" (", figure(json("ci_low"), score(head.ci_low)), " – ", figure(json("ci_high"), score(head.ci_high)), ")"])];
  const of = results === 1 ? "the only run with a result" : `the newest of ${plural(results, "run")} with a result`;
  const divided = results === 1 ? "" : breaks === 0 ? " There is no break between them." :
    ` ${plural(breaks, "break")} ${breaks === 1 ? "divides" : "divide"} them: figures on either side of one cannot be compared.`;
  return h("p", { class: "verdict-line" }, `Run ${run.run_id}`, ...said, `. It is ${of}${older || found.next !== null ? " on this page" : ""}.${divided}${live}`);
}

const HEADINGS = ["Run", "Model", "Headline", "95 % interval", "n", "Started (UTC)", "Changed since the run before"];
const OTHERS = { load: "Load tests of this name", workflow: "Workflows of this name", benchmark: "Benchmarks of this name" };

/** Some of the runs as a table. @param {string} title @param {HistoryRun[]} runs @param {(run: HistoryRun) => boolean} chosen */
function list(title, runs, chosen) {
  const rows = runs.flatMap((run, place) => (chosen(run) ? row(run, place) : []));
  return rows.length === 0 ? [] : [h("h2", {}, title), h("div", scrolls(title), h("table", { class: "metrics history" },
    h("thead", {}, h("tr", {}, ...HEADINGS.map((words, column) => h("th", { scope: "col", class: column > 1 && column < 5 ? "number" : null }, words)))),
    h("tbody", {}, ...rows)))];
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function history(place) {
  const wanted = decoded(place.ids[0]), after = place.query.get("after");
  /** @type {History} */
  const found = await get(`/history?${new URLSearchParams(after === null ? { name: wanted } : { name: wanted, after })}`, place.signal);
  place.title = `History of ${wanted}`;
  watch(place.signal, ({ runs: changed, removed, first }) => {
    if (first) return;
    const known = new Set(found.runs.map(({ run_id: id }) => id));
    if (removed.some((id) => known.has(id)) || changed.some((run) => run.name === wanted && (!isLive(run) || (after === null && !known.has(run.id))))) dispatchEvent(new HashChangeEvent("hashchange"));
  });
  const trail = h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"));
  if (!found.runs.length) return [trail, empty(after === null ? `No run is called ${wanted}` : `${wanted} has no older runs`, "All names of the workspace:", "benchwright list")];
  const drawnKind = kindOf(found), own = (/** @type {HistoryRun} */ run) => drawnKind === null || run.kind === drawnKind;
  return [trail, h("h1", { tabindex: "-1" }, "History of ", name("name", found.name)), verdict(found, after !== null),
    ...[picture(found)].filter((each) => each !== null),
    ...list("Runs, oldest first", found.runs, own),
    ...Object.entries(OTHERS).flatMap(([kind, words]) => list(words, found.runs, (run) => !own(run) && run.kind === kind)),
    h("p", { class: "foot" }, found.next === null ? null : h("a", { href: `${historyOf(wanted)}?after=${found.next}` }, "Show older runs"), " ",
      after === null ? null : h("a", { href: historyOf(wanted) }, "Show the newest runs"))];
}
