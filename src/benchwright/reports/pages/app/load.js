// A load test: whether its figures can be trusted, the figures of its best level, then everything that was measured.

import { at, figure, h, notes, section, table, verdicts } from "./dom.js";
import { count, fixed, general, percent, plural, score, short, shown } from "./figures.js";
import { distributions, overTime, requests, sweep } from "./load_charts.js";
import { origins, settingsTable } from "./settings.js";

/** @typedef {Record<string, any>} Stage as in `summary.stages` */
/** @typedef {{ stages: Stage[], search: Record<string, any> | null, profile: string }} LoadSummary */
/** @typedef {{ label: string, values: number[] }} Curve */
/** @typedef {{ start: number, step: number, requests: number[], failures: number[], tokens: number[], ttft: (Pair | null)[], e2e: (Pair | null)[],
 *  e2e_planned: (Pair | null)[], in_flight: Pair[], stages: [string, number][] }} OverTime */
/** @typedef {[number, number]} Pair */
/** @typedef {{ outcome: string, count: number, first: string }} StageError */
/** @typedef {{ number: number, label: string, planned: number | null, sent: number, first_token: number | null, ended: number, outcome: string, phase: string }} Request */
/** @typedef {{ percents: number[], distributions: { name: string, title: string, curves: Curve[], planned: Curve[] }[], over_time: OverTime | null,
 *  timeline: { lines: Request[], near: Request[], total: number } }} Charts */
/** @typedef {{ about: string, verdicts: [string, string][], best: { place: number, title: string, of: string, marked: boolean } | null, probes: string[] | null,
 *  cost: { title: string, value: string, unit: string, detail: string, about: string }[], latencies: string[], settings: import("./settings.js").Settings,
 *  stages: { server: [string, string][], groups: { what: string, columns: [string, string[]][] }[] }[] }} LoadWords */
/** @typedef {{ key: string, name: string, title: string, unit: string, unit_title: string, definition: string, per_request: boolean }} Metric */
/** @typedef {{ run: any, summary: LoadSummary, settings: any, origins: Record<string, string> | null, notes: import("./dom.js").Note[], metrics: Record<string, Metric>, charts: Charts, words: LoadWords }} LoadPage
 *  the JSON of `show --json`, with the definitions of figures, the numbers of charts, and sentences about both */

/** @type {Record<string, string>} */
const MARKS = { ok: "✓", warn: "!", bad: "✗" };
/** @type {Record<string, string>} */
const NAMES = { ok: "good", warn: "caution", bad: "problem" };

/** An interval; empty if there is none. @param {[number, number] | null | undefined} ends @param {(end: number) => string} text */
const interval = (ends, text) => (ends ? ends.map(text).join(" – ") : "");

/** The place of a value of a stage. @param {number} number @param {...(string | number)} parts */
const of = (number, ...parts) => at("summary", "stages", number, ...parts);

/** @param {LoadPage} page */
function tiles({ summary, metrics, words }) {
  const found = words.cost.map(({ title, value, unit, detail, about }) => tile(title, value, unit, detail, about));
  if (words.best === null) return found;
  const number = words.best.place, stage = summary.stages[number];
  const rates = ["request_throughput", "output_throughput", "goodput"].filter((name) => stage[metrics[name].key] !== null).map((name) => {
    const metric = metrics[name], ends = stage.intervals_ci95[metric.key];
    const within = name === "goodput" && stage.good_share !== null;
    const detail = within ? `${short(stage.good_share, metrics.good_share)} within limits` : ends ? `95 %: ${interval(ends, (end) => short(end, metric))}` : "";
    return tile(metric.title, figure(of(number, metric.key), short(stage[metric.key], metric)), metric.unit_title, detail, metric.definition);
  });
  const times = words.latencies.filter((name) => stage[metrics[name].key] !== null && !(name === "itl" && stage.tpot_ms !== null)).map((name) => {
    const metric = metrics[name], values = stage[metric.key], high = shown(values, "p99") === null ? "max" : "p99";
    return tile(metric.title, figure(of(number, metric.key, "p50"), short(values.p50, metric)), "ms", `median; ${high} ${short(values[high], metric)} ms`, metric.definition);
  });
  return [...rates, ...times, ...found];
}

/** @param {string} title @param {Node | string} value @param {string} unit @param {string} detail @param {string} about */
function tile(title, value, unit, detail, about) {
  return h("div", { class: "tile", title: about }, h("span", { class: "dim" }, title), h("b", {}, value, " ", h("small", {}, unit)), h("span", { class: "dim" }, detail));
}

/** Errors by class over all levels, the most frequent first. @param {LoadPage} page */
function errors({ summary }) {
  const found = new Map();
  for (const { outcome, count: number, first } of summary.stages.flatMap((stage) => stage.errors)) {
    const [before, words] = found.get(outcome) ?? [0, first];
    found.set(outcome, [before + number, words]);
  }
  const whole = Math.max(1, summary.stages.reduce((sum, stage) => sum + stage.requests.planned, 0));
  const rows = [...found].sort(([, [one]], [, [other]]) => other - one).map(([outcome, [number, words]]) =>
    [{ text: outcome, style: "warn" }, count(number), percent(number / whole, 1), words]);
  return rows.length ? [table("Errors", ["class", "requests", "share", "first message"], rows, { texts: [3] })] : [];
}

/** The table of levels. Columns without a value are left out. @param {LoadPage} page @param {string} title */
function levels({ summary, metrics, words }, title) {
  const { stages } = summary;
  /** @type {[string, string, { text: string, json?: string }[]][]} heading, meaning, cells */
  const columns = [];
  /** @param {string} heading @param {string} about @param {(stage: Stage, number: number) => string} text @param {string[] | null} json */
  const add = (heading, about, text, json = null) =>
    columns.push([heading, about, stages.map((stage, number) => ({ text: text(stage, number), json: json === null ? undefined : of(number, ...json) }))]);
  const whole = (/** @type {string} */ heading, /** @type {string} */ name) => add(heading, metrics[name].definition, (stage) => short(stage[metrics[name].key], metrics[name]), [metrics[name].key]);
  const spread = (/** @type {string} */ name, /** @type {string[]} */ ...keys) => {
    const { key, definition } = metrics[name];
    for (const each of keys) {
      add(`${name} ${each}`, definition, (stage) => short(stage[key] && shown(stage[key], each), metrics[name]), [key, each]);
    }
  };
  add("level", "", (stage) => stage.label, ["label"]);
  if (words.probes !== null) {
    const about = "Whether enough requests met all limits, and the server kept up; a probe does not count if the client was the limit";
    add("probe", about, (_, number) => words.probes?.[number] ?? "–");
  }
  add("sent", "Requests that were sent and count", (stage) => count(stage.requests.sent), ["requests", "sent"]);
  add("failed", "Of these, not completed", (stage) => count(stage.requests.failed), ["requests", "failed"]);
  const headline = stages.flatMap((stage) => Object.keys(stage.scores))[0];
  if (headline !== undefined) {
    add(headline, "Mean score of the replies", (stage) => (headline in stage.scores ? score(stage.scores[headline].mean) : "–"), ["scores", headline, "mean"]);
  }
  whole("offered/s", "offered");
  whole("requests/s", "request_throughput");
  whole("tokens/s", "output_throughput");
  spread("ttft", "p50", "p99");
  spread(stages.some((stage) => stage.tpot_ms !== null) ? "tpot" : "itl", "p50", "p99");
  spread("e2e", "p50", "p99");
  spread("e2e_planned", "p99");
  whole("in flight", "mean_concurrency");
  whole("peak", "peak_concurrency");
  if (stages.some((stage) => stage.slo !== null)) {
    whole("within limits", "good_share");
    whole("goodput/s", "goodput");
  }
  add("steady", "Whether the server was steady in the steady window", (stage) => stage.steady.verdict.replaceAll("_", " "));
  const there = columns.filter(([,, cells]) => cells.some(({ text }) => text !== "–"));
  const rows = stages.map((_, number) => there.map(([,, cells]) => cells[number]));
  const chosen = stages.length > 1 && words.best?.marked ? words.best.place : null;
  return table(title, there.map(([text, about]) => ({ text, about })), rows, { chosen });
}

/** Everything that was measured at one level. @param {LoadPage} page @param {Stage} stage @param {number} number */
function details(page, stage, number) {
  const { metrics, summary, words } = page, { label, requests: counts, steady, client_health: health, slo } = stage;
  const not = counts.not_sent ? `, ${count(counts.not_sent)} not sent` : "";
  const title = `${label}: ${count(counts.sent)} sent, ${count(counts.completed)} completed, ${count(counts.failed)} failed${not}`;
  const called = (/** @type {string} */ what) => `${label}: ${what}`;
  const reasons = (/** @type {string[]} */ texts) => texts.map((text) => [{ text, style: "warn", span: 2 }]);
  const pairs = [table(called("whole level"), ["whole level", "value", "95 % interval"], wholeLevel(page, stage, number))];
  const { server, groups } = words.stages[number];
  if (server.length) pairs.push(table(called("the server's own counters"), ["the server's own counters", "value"], server));
  pairs.push(table(called("steady window"), ["steady window", { text: steady.verdict.replaceAll("_", " "), style: "left" }], [...reasons(steady.reasons), ...window_(steady)]));
  pairs.push(table(called("client health"), ["client health", { text: health === null ? "not on record" : health.verdict, style: "left" }],
    health === null ? [] : [...reasons(health.reasons), ...client(health)]));
  if (slo !== null) {
    const rows = Object.entries(slo.limits).map(([name, { limit_ms: most, share }]) => [name, `${general(most, 6)} ms`, { text: percent(share, 1), json: of(number, "slo", "limits", name, "share") }]);
    const all = percent(slo.met / Math.max(1, slo.sent), 1);
    pairs.push(table(called("limits"), ["limit", "at most", "kept by"], [...rows, [h("b", {}, "all of them"), "", h("b", {}, all)]]));
  }
  const groupTables = groups.map(({ what, columns }) =>
    table(called(`by ${what}`), columns.map(([heading]) => heading), columns[0][1].map((_, row) => columns.map(([, cells]) => cells[row]))));
  const lost = stage.errors.map((/** @type {StageError} */ { outcome, count: many, first }) => [{ text: outcome, style: "warn" }, count(many), first]);
  const absent = Object.entries(stage.absent).map(([key, reason]) => `${key} (${reason})`).join("; ");
  return h("details", { open: summary.stages.length === 1 ? "" : null }, h("summary", {}, title),
    perRequest(metrics, stage, number), Object.keys(stage.scores).length ? replies(stage, number) : null, h("div", { class: "pair" }, ...pairs), ...groupTables,
    lost.length ? table(called("errors"), ["error", "count", "first words"], lost, { texts: [2] }) : null,
    absent ? h("p", { class: "dim" }, `Absent: ${absent}.`) : null);
}

/** The distributions of a level. @param {Record<string, Metric>} metrics @param {Stage} stage @param {number} number */
function perRequest(metrics, stage, number) {
  const there = Object.values(metrics).filter((metric) => metric.per_request && stage[metric.key] !== null);
  if (!there.length) return null;
  const ends = (/** @type {Metric} */ metric) => interval(shown(stage[metric.key], "p99") === null ? null : stage[metric.key].p99_ci95, (end) => short(end, metric));
  const tails = there.some((metric) => ends(metric));
  const percentiles = Object.keys(stage[there[0].key]).filter((key) => /^p[\d.]+$/.test(key));
  const rows = there.map((metric) => {
    const values = stage[metric.key];
    const cell = (/** @type {string} */ key, style = "") => ({ text: short(shown(values, key), metric), json: of(number, metric.key, key), style });
    return [
      h("span", { title: metric.definition }, metric.name, h("span", { class: "dim" }, ` ${metric.unit_title}`)), cell("mean", "main-value"),
      { text: interval(values.mean_ci95, (end) => short(end, metric)), style: "dim" }, cell("std"), cell("min"), ...percentiles.map((key) => cell(key)), cell("max"),
      ...(tails ? [{ text: ends(metric), style: "dim" }] : []), { text: count(values.n), json: of(number, metric.key, "n") },
    ];
  });
  const headings = ["per request", "mean", "95 % interval", "std", "min", ...percentiles, "max", ...(tails ? ["p99, 95 % interval"] : []), "n"];
  return table(`${stage.label}: per request`, headings, rows);
}

/** @param {LoadPage} page @param {Stage} stage @param {number} number */
function wholeLevel({ metrics }, stage, number) {
  return Object.values(metrics).filter((metric) => !metric.per_request && stage[metric.key] !== null).map((metric) => [
    { text: metric.title, about: metric.definition },
    { text: `${short(stage[metric.key], metric)} ${metric.unit_title}`.trim(), json: of(number, metric.key) },
    { text: interval(stage.intervals_ci95[metric.key], (end) => short(end, metric)), style: "dim" },
  ]);
}

/** The scores of a level. @param {Stage} stage @param {number} number */
function replies(stage, number) {
  const rows = Object.entries(stage.scores).map(([name, found]) => [
    name, { text: score(found.mean), json: of(number, "scores", name, "mean"), style: "main-value" }, { text: interval(found.mean_ci95, score), style: "dim" },
    name in stage.scores_with_failures ? { text: score(stage.scores_with_failures[name]), json: of(number, "scores_with_failures", name) } : "–",
    { text: count(found.n), json: of(number, "scores", name, "n") },
  ]);
  const others = Object.entries(stage.score_outcomes).filter(([outcome]) => outcome !== "scored").map(([outcome, many]) =>
    [{ text: outcome.replaceAll("_", " "), style: "warn" }, { text: count(many), span: 4 }]);
  return table(`${stage.label}: score of the replies`, ["score of the replies", "mean", "95 % interval", "failures as wrong", "n"], [...rows, ...others]);
}

/** @param {any} steady @returns {[string, string][]} */
function window_(steady) {
  if (steady.start_s === null) return [];
  const sign = (/** @type {number} */ value) => (value < 0 ? "" : "+");
  return /** @type {[string, string][]} */ ([
    ["from – to", `${fixed(steady.start_s, 2)} – ${fixed(steady.end_s, 2)} s`],
    ["requests per second", fixed(steady.request_throughput_per_s, 2)],
    ["output tokens per second", steady.output_throughput_tokens_per_s === null ? "" : fixed(steady.output_throughput_tokens_per_s, 1)],
    ["in flight, mean", fixed(steady.mean_concurrency, 2)],
    ["throughput of its thirds", (steady.thirds ?? []).map((/** @type {number} */ share) => percent(share, 0)).join(", ")],
    ["drift of latency", steady.drift_share === null ? "" : `${sign(steady.drift_share)}${percent(steady.drift_share, 1)}`],
  ]).filter(([, text]) => text);
}

/** @param {any} health @returns {[string, string][]} */
function client(health) {
  const spread = (/** @type {string} */ name, /** @type {string} */ key) => [`${name}: mean, p99, max`, `${["mean", "p99", "max"].map((each) => fixed(health[`${key}_${each}_ms`], 2)).join(", ")} ms`];
  return /** @type {[string, string][]} */ ([
    spread("event-loop delay", "event_loop_lag"), spread("sending delay", "send_lateness"),
    ["CPU of each process", health.cpu_shares.map((/** @type {number} */ share) => percent(share, 0)).join(", ")],
    ["garbage collection", `${fixed(health.gc_ms, 1)} ms`],
  ]);
}

/** @param {LoadPage} page @returns {Node[]} */
export function load(page) {
  const { settings, summary, words } = page, several = summary.stages.length > 1;
  const title = summary.search === null ? "Levels" : "Probes";
  const charts = (/** @type {Node[]} */ drawn, style = "charts") => (drawn.length ? h("div", { class: style }, ...drawn) : null);
  const spread = charts(distributions(page));
  const best = words.best === null || !several ? null : h("p", { class: "dim best-of" }, `${words.best.title}: ${summary.stages[words.best.place].label}, ${words.best.of}`);
  const shownTiles = tiles(page);
  return [
    h("p", { class: "about" }, `${words.about} Profile ${summary.profile}, ${plural(summary.stages.length, title.toLowerCase().slice(0, -1))}.`),
    verdicts(words.verdicts.map(([state, sentence]) => [state, MARKS[state], sentence]), (state) => NAMES[state]),
    ...(best === null ? [] : [best]), ...(shownTiles.length ? [h("div", { class: "tiles" }, ...shownTiles)] : []),
    ...section("Errors", ...errors(page)),
    ...section("Before you use these figures", ...notes(page.notes)),
    ...section(title, levels(page, title), h("p", { class: "dim" }, "Latencies are in milliseconds. Hold the pointer over a heading for its definition.")),
    ...section(settings.score ? "Score and latency by load" : "Latency against throughput", charts(sweep(page))),
    ...section("Latency distributions", spread && h("p", { class: "dim" }, "The share of values up to each time. Curves further left are faster; a long tail to the right comes from the slowest requests."), spread),
    ...section("Over time", charts(overTime(page))),
    ...section("Requests", charts(requests(page), "charts one")),
    ...section("All figures", ...summary.stages.map((stage, number) => details(page, stage, number))),
    ...section("Settings", settingsTable("Settings", words.settings), origins(page.origins !== null)),
  ];
}
