// A workflow run, served or in one file: its steps in order with what failed first, when they ran, its events, metrics, input and output.

import { at, figure, h, name, notes, scrolls, section, svg, table } from "./dom.js";
import { count, duration, fixed, general, plural, score } from "./figures.js";
import { rowCard, transcript } from "./transcript.js";

const MOST = 300;
const BAD = ["failed", "interrupted"];
const seconds = (/** @type {string} */ time) => Date.parse(time) / 1000;

/** @typedef {Record<string, any>} Step a sample or a step, as `show --json` lists it */
/** @typedef {{ step: Step, number: number }} Placed with its place in that list */

/** A value of JSON as text. @param {string} heading @param {string} json @param {any} value */
function block(heading, json, value) {
  if (value === null || value === undefined) return null;
  return h("div", {}, h("h3", {}, heading), h("pre", { ...scrolls(heading, ""), "data-json": json }, typeof value === "string" ? value : JSON.stringify(value, null, 2)));
}

/** The messages and calls of a step whose input or output has them, in order. @param {Step} step */
function said(step) {
  const messages = [...(step.input?.messages ?? []), ...(step.output?.messages ?? []), ...(step.output?.message ? [step.output.message] : [])];
  if (!messages.length) return null;
  return h("div", {}, h("h3", {}, "model and tool calls"), transcript(messages));
}

/** When each step ran. @param {Step[]} steps */
function timeline(steps) {
  const from = Math.min(...steps.map((step) => seconds(step.started_at))), to = Math.max(...steps.map((step) => seconds(step.finished_at ?? step.started_at)));
  const place = (/** @type {number} */ time) => (to > from ? (100 * (time - from)) / (to - from) : 0);
  const rows = steps.map((step) => {
    const begin = place(seconds(step.started_at)), end = place(seconds(step.finished_at ?? step.started_at));
    const words = `${step.status}${step.seconds === null ? "" : `, ${duration(step.seconds)}`}${step.attempts > 1 ? `, attempt ${step.attempts}` : ""}`;
    return h("tr", {}, h("td", { class: "first" }, step.step_key), h("td", { class: "when" },
      svg("svg", { class: "span", role: "img", "aria-label": `${step.step_key}: ${words}` }, svg("rect", { class: "ground", width: "100%", height: 8, rx: 2 }),
        svg("rect", { class: BAD.includes(step.status) ? "bar bad" : "bar", x: `${fixed(Math.min(begin, 99), 2)}%`, width: `${fixed(Math.max(end - begin, 1), 2)}%`, height: 8, rx: 2 }, svg("title", {}, words)))),
      h("td", { class: "number" }, words));
  });
  return h("div", scrolls("Timeline"), h("table", { class: "figures timeline" }, h("tbody", {}, ...rows)));
}

/** @param {Placed} placed */
function stepCard({ step, number }) {
  const json = (/** @type {string} */ key) => at("samples", number, key), bad = BAD.includes(step.status);
  const metrics = Object.entries(step.metrics).map(([label, value]) => `${label} ${general(value, 6)}`).join(" · ");
  return h("details", { class: `sample ${bad ? "wrong" : step.status === "completed" ? "right" : "scored"}`, open: bad ? "" : null },
    h("summary", {}, name(json("step_key"), step.step_key), " ", h("span", { class: `status-${step.status}`, "data-json": json("status") }, step.status), " ",
      h("span", { class: "dim" }, step.seconds === null ? "" : h("span", { "data-json": json("seconds") }, duration(step.seconds)), step.attempts > 1 ? `, ${plural(step.attempts, "attempt")}` : "",
        step.superseded.length ? `, done again ${plural(step.superseded.length, "time")}` : "", metrics ? ` · ${metrics}` : "")),
    block("error", json("error"), step.error), said(step), h("div", { class: "texts" }, block("input", json("input"), step.input), block("output", json("output"), step.output)));
}

/** Points of a metric in the order in which they came. @param {string} label @param {import("./rest.js").MetricBody[]} points @param {any} all the figures of all points, if these may be fewer */
function series(label, points, all) {
  const values = points.map(({ metric_value: value }) => value), low = Math.min(...values), high = Math.max(...values);
  const x = (/** @type {number} */ place) => (values.length > 1 ? 4 + (232 * place) / (values.length - 1) : 120), y = (/** @type {number} */ value) => (high === low ? 20 : 36 - (32 * (value - low)) / (high - low));
  const unit = points[0].unit ? ` ${points[0].unit}` : "", mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const known = all ?? { count: values.length, mean, last: values.at(-1) }, drawn = values.length < known.count ? `; the first ${count(values.length)} are drawn` : "";
  return h("figure", { class: "chart" }, h("figcaption", {}, label, h("span", { class: "dim" }, `${plural(known.count, "point")}, mean ${general(known.mean, 4)}${unit}, last ${general(known.last, 4)}${unit}${drawn}`)),
    svg("svg", { class: "series", viewBox: "0 0 240 40", preserveAspectRatio: "none", role: "img", "aria-label": `${label}: ${values.length} points from ${general(low, 4)} to ${general(high, 4)}` },
      values.length > 1 ? svg("polyline", { points: values.map((value, place) => `${fixed(x(place), 1)},${fixed(y(value), 1)}`).join(" ") }) : svg("circle", { cx: 120, cy: 20, r: 3 })));
}

/** The means of the rows' scores. @param {Record<string, any>} scores */
function means(scores) {
  const rows = Object.entries(scores).map(([label, each]) => {
    const json = (/** @type {string} */ key) => at("scores", label, key);
    const interval = each.ci_low === null ? "no interval" : `${score(each.ci_low)} – ${score(each.ci_high)}${each.too_few ? " (too few)" : ""}`;
    return [label, { text: score(each.value), json: json("value") }, interval, { text: count(each.n), json: json("n") }, each.failures_as_wrong === null ? "–" : { text: score(each.failures_as_wrong), json: json("failures_as_wrong") }];
  });
  return table("Scores", ["score", "mean", "95 % interval", "rows", "failed rows as 0"], rows);
}

/** How many rows there are. @param {number} all @param {number} first those on the page @param {number} failed */
const rowsSentence = (all, first, failed) => `${plural(all, "row")}${failed ? `; ${count(failed)} failed and come first` : ", none failed"}${first < all ? `. The first ${count(first)} are on this page` : ""}.`;

/** Everything below the heading. `shown` is there if the page has only some of the steps, points and events. @param {any} found
 *  @param {{ ways?: Node[], way?: (sample: number) => string }} served what only a server's page has: ways to samples and slices, and the address of a sample
 *  @returns {Node[]} */
export function workflow(found, { ways = [], way } = {}) {
  const { run, shown } = found, id = run.id;
  const rows = found.rows.slice(0, MOST), troubled = shown ? shown.failed_rows : found.rows.filter((/** @type {Step} */ { status }) => status !== "completed").length;
  const all = /** @type {Step[]} */ (found.samples).map((step, number) => ({ step, number: shown ? shown.places[number] : number })).filter(({ step }) => !step.step_key.startsWith("sample/"));
  const bad = all.filter(({ step }) => BAD.includes(step.status)), well = all.filter(({ step }) => !BAD.includes(step.status));
  const first = [...bad, ...well].slice(0, MOST), told = /** @type {{ kind: string, message: string, created_at: string }[]} */ (found.events ?? []), resumed = told.filter(({ kind }) => kind === "run.resumed");
  const total = shown ? shown.steps : all.length, failed = shown ? shown.troubled : bad.length;
  const metrics = Map.groupBy(/** @type {import("./rest.js").MetricBody[]} */ (found.metrics), ({ metric_name: label }) => label);
  const known = shown ? shown.rows : found.rows.length, counted = known ? `${plural(known, "row")}, ${troubled ? `${count(troubled)} failed` : "none failed"}. ` : "";
  const sentence = `${counted}${failed ? `${count(failed)} of ${plural(total, "step")} did not succeed; they come first.` : total ? `All ${plural(total, "step")}${run.status === "completed" ? "" : " so far"} succeeded.` : known ? "" : "It has no steps."}`;
  const events = told.map((event) => [event.created_at.replace("T", " ").slice(0, 19), event.kind, event.message]);
  const cut = total > first.length ? `${count(first.length)} of ${count(total)} steps are shown; benchwright show ${id} --steps lists all.` : "";
  return [
    found.sentence === null || found.sentence === undefined ? null : h("p", { class: "verdict-line", "data-json": "sentence" }, found.sentence),
    h("p", { class: "about" }, `Run ${id}, `, figure("run.status", run.status, `status-${run.status}`), run.duration_s === null ? "" : h("span", {}, ", ", figure("run.duration_s", duration(run.duration_s))),
      `. ${sentence}`, resumed.length ? h("b", {}, ` Resumed ${plural(resumed.length, "time")}.`) : null),
    run.error ? h("pre", { ...scrolls("Error", "card bad-text"), "data-json": "run.error" }, run.error) : null,
    found.resume ? h("p", {}, "Resume it, without repeating what is done: ", h("code", { "data-json": "resume" }, found.resume)) : null,
    found.labels?.text ? h("p", {}, h("span", { "data-json": "labels.text" }, found.labels.text)) : null,
    ...section("Notes", ...notes(found.notes ?? [])),
    ...section("Scores", Object.keys(found.scores).length ? means(found.scores) : null),
    ...section("Rows", ...(rows.length ? [h("p", { class: "dim" }, rowsSentence(shown ? shown.rows : found.rows.length, rows.length, troubled)), ...ways] : []), ...rows.map((/** @type {import("./transcript.js").WorkflowRow} */ row, /** @type {number} */ number) => rowCard(row, number, way ? way(row.sample_id) : null, number === 0))),
    ...section("Steps", ...first.map(stepCard), cut ? h("p", { class: "dim" }, cut) : null),
    ...section("Timeline", all.length ? timeline(all.slice(0, MOST).map(({ step }) => step)) : null),
    ...section("Metrics", metrics.size ? h("div", { class: "charts" }, ...[...metrics].map(([label, points]) => series(label, points, shown?.points[label]))) : null),
    ...section("Input and output", found.input === null && found.output === null ? null : h("div", { class: "texts" }, block("input", "input", found.input), block("output", "output", found.output))),
    ...section("Events", events.length ? table("Events", ["time (UTC)", "event", "message"], events, { texts: [1, 2] }) : null,
      shown && shown.events > events.length ? h("p", { class: "dim" }, `The first ${count(events.length)} of ${count(shown.events)} events are shown; benchwright show ${id} --events lists all.`) : null),
    ...section("Printed", block("standard output", "stdout", found.stdout || null), block("standard error", "stderr", found.stderr || null)),
    ...section("Command", h("pre", scrolls("Command"), [`benchwright show ${id} --web`, `benchwright report ${id} -o page.html`, `benchwright export ${id} -o rows.xlsx`].join("\n"))),
  ].filter((each) => each !== null);
}
