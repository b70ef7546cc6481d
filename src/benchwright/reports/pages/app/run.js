// A benchmark run: its scores, what limits them, and its samples.

import { distributions } from "./distributions.js";
import { at, broken, figure, h, notes, say, scrolls, section, svg, unseen } from "./dom.js";
import { count } from "./figures.js";
import { outcomes } from "./outcomes.js";
import { origins, settingsTable } from "./settings.js";

/** @typedef {{ name: string, path: string[], value: number, text: string, interval: string, low: number | null, high: number | null, share: boolean,
 *  n: string, wrong: string, lower_is_better: boolean }} Metric */
/** @typedef {import("./transcript.js").Message} Said */
/** @typedef {Record<string, any>} Sample a row of samples.parquet; JSON in it is a text */
/** @typedef {{ about: string, notes: import("./dom.js").Note[], metrics: Metric[], equal: string, both: boolean, outcomes: [string, string, number][],
 *  reasons: string, derived: [string, string][], facts: [string, string][], counts: Record<string, number>, samples: Sample[],
 *  settings: [string, import("./settings.js").Settings][], origins: boolean, command: string, request: string | null, files?: string[], distributions?: import("./distributions.js").Distributions | null }} RunPage */
/** @typedef {{ samples?: Node[], slices?: Node[], judge?: Node[], later?: Node | null, link?: ((filter: string) => string) | null }} Served what only a server's page has: its own sections
 *  of samples and slices, and the addresses of samples */

/** @type {Record<string, string>} */
const GROUPS = { wrong: "wrong", failed: "without a score", scored: "neither right nor wrong", right: "right" };
const JSON_TEXTS = ["messages", "metadata"];
const FIRST_CARDS = 25, MOST_SCORES = 4;

/** A point with its interval, on a scale that all shares have in common. Other metrics get a scale of their own. @param {Metric} metric */
function range(metric) {
  const { low, high } = metric;
  if (low === null || high === null) return null;
  const [from, to] = metric.share ? [0, 1] : [Math.min(low, 0), Math.max(high, 0)];
  const place = (/** @type {number} */ value) => `${2 + (96 * (value - from)) / (to - from || 1)}%`;
  const line = (/** @type {(string | number)[]} */ ...[kind, x1, x2, y1, y2]) => svg("line", { class: kind, x1, x2, y1, y2 });
  return svg("svg", { class: "range", role: "img" },
    svg("title", {}, `${metric.text}, 95 % interval ${metric.interval}`),
    line("rail", "2%", "98%", 11, 11),
    line("span", place(low), place(high), 11, 11),
    line("end", place(low), place(low), 4, 18),
    line("end", place(high), place(high), 4, 18),
    svg("circle", { class: "dot", cx: place(metric.value), cy: 11, r: 5 }));
}

/** The ends of an interval. @param {Metric} metric @param {(key: string) => string} json */
function ends(metric, json) {
  const [low, high] = metric.interval.split(" – ");
  return [figure(json("ci_low"), low), " – ", figure(json("ci_high"), high)];
}

/** The main figure, large, with its interval. @param {Metric} metric @param {boolean} alone whether no table draws its interval */
function headline(metric, alone) {
  const json = (/** @type {string} */ key) => at(...metric.path, key);
  const interval = metric.low === null ? [metric.interval === "–" ? "" : `no interval: ${metric.interval}, `] : ["95 % interval ", ...ends(metric, json), ", "];
  return h("div", { class: "card headline" },
    h("div", { class: "headline-figure" }, figure(json("value"), metric.text, "headline-value"), " ", h("span", { class: "headline-name" }, metric.name)),
    h("div", { class: "dim" }, ...interval, "n = ", figure(json("count"), metric.n), metric.lower_is_better ? ", lower is better" : ""),
    alone ? range(metric) : null);
}

/** @param {RunPage} page */
function scores({ metrics, both, equal }) {
  if (!metrics.length) return h("p", { class: "dim" }, "No sample gave a score.");
  const headings = ["metric", "value", "95 % interval", unseen("interval as a picture"), "n", ...(both ? ["failures as wrong"] : [])];
  const places = ["", "number", "number", "range-cell", "number", "number"];
  const rows = metrics.map((metric, place) => {
    const json = (/** @type {string} */ key) => at(...metric.path, key);
    return h("tr", { class: place === 0 ? "main" : null },
      h("td", { class: "metric-name" }, ...broken(metric.name), metric.lower_is_better ? h("span", { class: "dim" }, " (lower is better)") : null),
      h("td", { class: "number value", "data-json": json("value") }, metric.text),
      h("td", { class: "number" }, ...(metric.low === null ? [metric.interval] : ends(metric, json))),
      h("td", { class: "range-cell" }, range(metric)),
      h("td", { class: "number", "data-json": json("count") }, metric.n),
      both ? h("td", { class: "number" }, metric.wrong) : null);
  });
  const head = h("tr", {}, ...headings.map((words, place) => h("th", { class: places[place] }, words)));
  return h("div", scrolls("Scores"), h("table", { class: "metrics" }, h("thead", {}, head), h("tbody", {}, ...rows)), equal ? h("p", { class: "dim equal" }, equal) : null);
}

/** @param {[string, string][]} pairs */
function facts(pairs) {
  return h("div", { class: "card" }, h("dl", { class: "facts" }, ...pairs.flatMap(([label, words]) => [h("dt", {}, label), h("dd", {}, words)])));
}

/** JSON with a line for each value. Parsed and written again, large integers would lose digits. @param {string | undefined} json */
export function indented(json) {
  if (json === undefined) return json;
  let depth = 0;
  const line = (/** @type {number} */ change) => `\n${"  ".repeat(Math.max(0, (depth += change)))}`;
  return json.replace(/"(?:\\.|[^"\\])*"|\{\}|\[\]|[{}[\],:]/g, (part) => {
    if (part === "{" || part === "[") return part + line(1);
    if (part === "}" || part === "]") return line(-1) + part;
    if (part === ",") return part + line(0);
    return part === ":" ? ": " : part;
  });
}

/** The messages of a dialogue, whose prompt alone would show its first turn only; null for any other sample. @param {Sample} sample */
function dialogue(sample) {
  let messages;
  try {
    messages = JSON.parse(sample.messages);
  } catch {
    return null; // none, or cut because they are long
  }
  if (!Array.isArray(messages) || messages.at(-1)?.role !== "assistant") return null;
  const said = (/** @type {Said} */ { content }) => (content === null || content === undefined ? [] : [typeof content === "string" ? content : JSON.stringify(content)]);
  const called = (/** @type {Said} */ { tool_calls: calls }) => (calls || []).map((call) => `${call.function?.name}(${call.function?.arguments})`);
  const turns = messages.filter(({ role }) => role !== "system");
  return turns.map((message) => `[${message.role}] ${[...said(message), ...called(message)].join("\n")}`).join("\n");
}

/** @param {number} duration */
function seconds(duration) {
  return duration < 0.9995 ? `${(duration * 1000).toPrecision(3)} ms` : `${duration.toFixed(2)} s`;
}

/** @param {Sample} sample @param {string} text */
function has(sample, text) {
  return Object.values(sample).some((value) => (typeof value === "string" ? value : JSON.stringify(value)).toLowerCase().includes(text));
}

/** @param {string} heading @param {unknown} text */
function block(heading, text, kind = "") {
  if (text === undefined || text === null || text === "") return null;
  const words = typeof text === "string" ? text : JSON.stringify(text, null, 2);
  return h("div", { class: kind }, h("h3", {}, heading), h("pre", scrolls(heading, ""), words));
}

/** A score to four decimals, as in the table above. @param {unknown} value */
function shown(value) {
  return typeof value === "number" ? `${+value.toFixed(4)}` : JSON.stringify(value);
}

/** @param {Sample} sample @param {Metric[]} metrics */
function card(sample, metrics) {
  const scores = metrics.filter(({ name }) => name in (sample.scores || {})).map(({ name }) => `${name} ${shown(sample.scores[name])}`);
  const unscored = !Object.keys(sample.scores || {}).length; // its row has no answer, or nothing is scored
  const state = sample.kind === "failed" ? sample.outcome : unscored ? "no score" : sample.kind;
  const numbers = [
    sample.completion_tokens === undefined ? null : `completion tokens ${count(sample.completion_tokens)}`,
    sample.latency_s === undefined ? null : seconds(sample.latency_s),
    sample.finish_reason === undefined ? null : `finish reason ${sample.finish_reason}`,
  ].filter(Boolean);
  const head = h(
    "header",
    {},
    h("b", {}, `${sample.sample_id}/${sample.repeat}`),
    h("span", { class: "ended" }, state),
    sample.grade === undefined ? null : h("span", {}, "grade ", h("b", {}, sample.grade)),
    sample.group === undefined ? null : h("span", {}, sample.group),
    scores.length ? h("span", {}, scores.slice(0, MOST_SCORES).join(" · ")) : null,
    ...numbers.map((words) => h("span", {}, words)),
  );
  const fault = sample.scores?.error; // of a call that is not as expected
  const why = sample.error ?? (typeof fault === "string" ? fault : undefined);
  const answer = h("div", {}, block("reply", sample.response), block("calls", indented(sample.calls)), block("target", sample.target));
  const more = h("details", { class: "more" }, h("summary", {}, "Everything that was sent and recorded"));
  more.addEventListener("toggle", () => {
    if (more.childElementCount > 1) return; // built when first opened: most are never read
    const parts = ["system", "messages", "reasoning", "scores", "choices", "choices_logprobs", "metadata"];
    more.append(...parts.map((name) => block(name === "metadata" ? "row" : name, JSON_TEXTS.includes(name) ? indented(sample[name]) : sample[name])).filter((each) => each !== null));
  });
  return h("article", { class: `sample ${sample.kind}` }, head, h("div", { class: "texts" }, dialogue(sample) === null ? block("prompt", sample.prompt) : block("dialogue", dialogue(sample)), answer, block("error", why, "full")), more);
}

/** @param {RunPage} data @returns {Node[]} */
function samples(data) {
  const total = Object.values(data.counts).reduce((sum, number) => sum + number, 0);
  if (!total) return [h("p", { class: "dim" }, "The folder of this run has no samples.")];
  const there = Object.keys(GROUPS).filter((group) => data.counts[group]);
  let chosen = there[0], most = FIRST_CARDS;
  const cards = h("div", {}), words = h("p", { class: "dim" }), more = h("button", { type: "button" }, "show more");
  const search = h("input", { type: "search", placeholder: "search in these samples", "aria-label": "search in these samples" });
  const buttons = [...there, "all"].map((group) => {
    const number = group === "all" ? total : data.counts[group];
    const button = h("button", { type: "button" }, `${group === "all" ? "all" : GROUPS[group]} ${count(number)}`);
    button.addEventListener("click", () => { chosen = group; most = FIRST_CARDS; show(); });
    return /** @type {const} */ ([group, button]);
  });
  function show() {
    const text = search.value.toLowerCase();
    const inGroup = data.samples.filter((sample) => chosen === "all" || sample.kind === chosen);
    const found = inGroup.filter((sample) => has(sample, text));
    for (const [group, button] of buttons) button.setAttribute("aria-pressed", String(group === chosen));
    cards.replaceChildren(...found.slice(0, most).map((sample) => card(sample, data.metrics)));
    more.hidden = found.length <= most;
    const all = chosen === "all" ? total : data.counts[chosen];
    const kept = inGroup.length < all ? ` This page has the first ${count(inGroup.length)} of ${count(all)}; samples.parquet has all of them.` : "";
    say(words, `${count(Math.min(most, found.length))} of ${count(found.length)} shown.${kept}`);
  }
  more.addEventListener("click", () => { most += FIRST_CARDS * 2; show(); });
  search.addEventListener("input", () => { most = FIRST_CARDS; show(); });
  show();
  return [h("div", { class: "tools" }, ...buttons.map(([, button]) => button), search), cards, words, h("div", { class: "tools" }, more)];
}

/** @param {string[]} files */
const files = (files) => h("div", { class: "card" }, h("ul", { class: "files" }, ...files.map((file) => h("li", {}, h("code", {}, file)))));

/** @param {RunPage} page @param {Served} served @returns {Node[]} */
export function run(page, { samples: listed = samples(page), slices = [], judge = [], later = null, link = null } = {}) {
  /** @type {import("./outcomes.js").Ended[]} */
  const ended = page.outcomes.map(([outcome, name, number]) => [outcome, name, number, at("summary", "outcomes", outcome)]);
  const reasons = page.reasons ? [h("p", { class: "dim" }, page.reasons)] : [];
  return [
    h("p", { class: "about" }, page.about),
    ...(page.metrics.length ? [headline(page.metrics[0], page.metrics.length === 1)] : []),
    ...section("Notes", ...notes(page.notes)),
    ...section("Outcomes", h("div", { class: "card outcome-card" }, ...outcomes("outcomes", ended, { more: reasons, link: link && ((outcome) => link(`outcome=${outcome}`)) }))),
    ...section("Scores", scores(page)),
    ...section("Judge", ...judge),
    ...section("Slices", ...slices),
    ...section("Figures over all samples", page.derived.length ? facts(page.derived) : null),
    ...section("Usage", page.facts.length ? facts(page.facts) : null),
    ...section("Samples", ...listed),
    ...(later !== null ? [later] : page.distributions ? distributions(page.distributions, null) : []),
    ...section("What was sent", page.request ? h("details", {}, h("summary", {}, "The first request, whole"), h("pre", scrolls("Request"), indented(page.request))) : null),
    ...section("Settings", h("p", { class: "dim" }, "This command starts the same evaluation:"), h("pre", scrolls("Command"), page.command), ...page.settings.map(([heading, rows]) => h("details", {}, h("summary", {}, heading), settingsTable(heading, rows))), origins(page.origins)),
    ...section("Files", page.files?.length ? files(page.files) : null),
  ];
}
