// The charts of a load test. Their numbers come with the page; what is drawn of them is decided here.

import { axisFor, chart, timeline } from "./charts.js";
import { count, decimal, general, limit, score, short, shown } from "./figures.js";

/** @typedef {import("./load.js").LoadPage} LoadPage */
/** @typedef {import("./charts.js").Series} Series */
/** @typedef {import("./charts.js").Axis} Axis */
/** @typedef {import("./charts.js").Mark} Mark */
/** @typedef {import("./charts.js").Point} Point */
/** @typedef {import("./charts.js").Tip} Tip */
/** @typedef {import("./load.js").Stage} Stage */
/** @typedef {import("./load.js").OverTime} OverTime */
/** @typedef {import("./load.js").Pair} Pair */
/** @typedef {import("./load.js").Request} Request */

const NEAR_ENOUGH = 3;
const ms = (/** @type {number} */ value) => `${short(value, { name: "ttft", unit: "ms" })} ms`;

/** The limits of `--slo` on some latencies, in milliseconds, with texts. @param {LoadPage} page @param {string[]} names @returns {Mark[]} */
function limitsOf(page, ...names) {
  const found = page.summary.stages.find(({ slo }) => slo !== null)?.slo.limits ?? {};
  return names.filter((name) => name in found).map((name) => {
    const at = found[name].limit_ms;
    return [at, `limit ${limit(at)}${name.endsWith("_planned") ? " from the plan" : ""}`];
  });
}

/** The values of an axis, and the limits that are near enough to be shown with them. @param {number[]} values @param {Mark[]} limits */
function withLimits(values, limits) {
  const high = Math.max(0, ...values);
  return [...values, ...limits.map(([at]) => at).filter((at) => at <= NEAR_ENOUGH * high)];
}

/** Cumulative distributions of the latencies that were measured. @param {LoadPage} page */
export function distributions(page) {
  const { percents, distributions: found } = page.charts;
  return found.map(({ name, title, curves, planned }) => {
    const limits = limitsOf(page, name, `${name}_planned`), all = [...curves, ...planned], several = curves.length > 1;
    const low = Math.min(...all.map(({ values }) => values[0])), high = Math.max(...all.map(({ values }) => values[values.length - 1]));
    const log = low > 0 && high > 20 * Math.min(...all.map(({ values }) => values[percents.indexOf(50)]));
    const points = (/** @type {number[]} */ values) => values.map((value, place) => /** @type {Point} */ ([value, percents[place]]));
    /** @type {Series[]} */
    const series = curves.map(({ label, values }, colour) =>
      ({ name: several ? label : planned.length ? "from sending" : "all requests", points: points(values), colour }));
    const labels = curves.map(({ label }) => label);
    series.push(...planned.map(({ label, values }) => ({
      name: several ? `${label}, from the plan` : "from the plan", points: points(values), dashed: true,
      colour: several && labels.includes(label) ? labels.indexOf(label) : 1,
    })));
    const tips = percents.map((percent, place) => /** @type {Tip} */
      ([percent, [`${general(percent, 6)} % of values are at most`, ...series.map((each) => `${each.name}: ${ms(each.points[place][0])}`)].join("\n")]));
    return chart({
      title, series, tips, limits, along: "y", y: { low: 0, high: 100, percent: true },
      x: axisFor(withLimits([low, high], limits), `milliseconds${log ? ", logarithmic" : ""}`, { log, zero: low < 0.5 * high }),
      note: planned.length ? "Dashed: from the time that the schedule had for the request." : "",
    });
  });
}

/** Each value from the start of its span; the last one until the end. @param {OverTime} curves @param {number[]} values @returns {Point[]} */
const steps = ({ start, step }, values) => [...values, values[values.length - 1]].map((value, place) => [start + place * step, value]);

/** Throughput and latency over the time of the test. @param {LoadPage} page */
export function overTime(page) {
  const curves = page.charts.over_time;
  if (curves === null) return [];
  const x = { low: curves.start, high: curves.start + curves.step * curves.requests.length, title: "seconds of the test" };
  const marks = curves.stages.length > 1 ? curves.stages.map(([label, start]) => /** @type {Mark} */ ([Math.max(start, x.low), label.replace(/ in flight$/, "")])) : [];
  const times = curves.requests.map((_, place) => curves.start + (place + 0.5) * curves.step);
  /** @type {Series[]} */
  const rates = [{ name: "completed", points: steps(curves, curves.requests), colour: 0, kind: "area" }];
  if (curves.failures.some(Boolean)) rates.push({ name: "failed", points: steps(curves, curves.failures), colour: 7, kind: "area" });
  const found = [chart({
    title: "Requests per second", x, y: axisFor([...curves.requests, ...curves.failures], ""), series: rates, marks,
    tips: times.map((time, place) => [time, `${decimal(time, 1)} s\n${decimal(curves.requests[place], 1)} completed per second\n${decimal(curves.failures[place], 1)} failed per second`]),
  })];
  if (curves.tokens.length) {
    found.push(chart({
      title: "Output tokens per second", x, y: axisFor(curves.tokens, ""), marks,
      series: [{ name: "output tokens", points: steps(curves, curves.tokens), colour: 2, kind: "area" }],
      tips: times.map((time, place) => [time, `${decimal(time, 1)} s\n${count(curves.tokens[place])} output tokens per second`]),
    }));
  }
  const none = times.map(() => null);
  if (curves.ttft.some(Boolean)) found.push(latency("Time to first token over time", curves.ttft, none, times, x, marks, limitsOf(page, "ttft")));
  if (curves.e2e.some(Boolean)) {
    found.push(latency("End-to-end latency over time", curves.e2e, curves.e2e_planned, times, x, marks, limitsOf(page, "e2e", "e2e_planned")));
  }
  return found;
}

/** @param {string} title @param {(Pair | null)[]} values @param {(Pair | null)[]} planned @param {number[]} times @param {Axis} x @param {Mark[]} marks @param {Mark[]} limits */
function latency(title, values, planned, times, x, marks, limits) {
  const known = (/** @type {(Pair | null)[]} */ pairs, /** @type {0 | 1} */ which) => pairs.flatMap((pair, place) => (pair === null ? [] : [/** @type {Point} */ ([times[place], pair[which]])]));
  /** @type {Series[]} */
  const series = [
    { name: "median, ms", points: known(values, 0), colour: 0 },
    { name: "99th percentile, ms", points: known(values, 1), colour: 4 },
  ];
  if (planned.some(Boolean)) series.push({ name: "99th percentile from the plan, ms", points: known(planned, 1), colour: 1, dashed: true });
  const tips = times.flatMap((time, place) => {
    const here = values[place], plan = planned[place], texts = here === null ? [] : [`median ${ms(here[0])}`, `99th percentile ${ms(here[1])}`];
    if (plan) texts.push(`from the plan, 99th percentile ${ms(plan[1])}`);
    return texts.length ? [/** @type {Tip} */ ([time, [`about ${decimal(time, 1)} s`, ...texts].join("\n")])] : [];
  });
  const y = axisFor(withLimits(series.flatMap(({ points }) => points.map(([, value]) => value)), limits), "");
  return chart({ title, x, y, series, tips, marks, limits });
}

/** Requests in flight, with the axis of the timeline. @param {OverTime} curves @param {Axis} x */
function flight(curves, x) {
  const means = curves.in_flight.map(([mean]) => mean), peaks = curves.in_flight.map(([, peak]) => peak);
  /** @type {Tip[]} */
  const tips = curves.in_flight.map(([mean, peak], place) => {
    const time = curves.start + (place + 0.5) * curves.step;
    return [time, `${decimal(time, 1)} s\nin flight: ${decimal(mean, 1)} on average, ${count(peak)} at most`];
  });
  return chart({
    title: "Requests in flight", x, y: axisFor(peaks, ""), wide: true, tips,
    series: [{ name: "mean", points: steps(curves, means), colour: 0, kind: "area" }, { name: "peak", points: steps(curves, peaks), colour: 4, kind: "step" }],
  });
}

/** @type {[string, string][]} */
const PARTS = [["wait", "waiting in the client"], ["prefill", "until the first token"], ["decode", "until the end"], ["lost", "failed"]];

/** One request as a line: waiting in the client, until the first token, until the end; or lost. @param {Request} request @returns {import("./charts.js").Line} */
function line({ number, label, planned, sent, first_token: first, ended, outcome, phase }) {
  const waited = planned === null ? 0 : sent - planned, took = (/** @type {number} */ until) => `${decimal(1000 * (until - sent), 1)} ms`;
  /** @type {[string, number, number][]} */
  const parts = waited > 0 ? [["wait", planned ?? sent, sent]] : [];
  const texts = [`request ${number}, ${label}${phase === "measured" ? "" : `, ${phase}`}`, `sent at ${decimal(sent, 3)} s`];
  if (waited >= 0.0005) texts.push(`waited ${decimal(1000 * waited, 1)} ms in the client`);
  if (outcome !== "ok") {
    parts.push(["lost", sent, ended]);
    texts.push(`${outcome} after ${took(ended)}`);
  } else {
    if (first !== null) {
      parts.push(["prefill", sent, first]);
      texts.push(`first token after ${took(first)}`);
    }
    parts.push(["decode", first ?? sent, ended]);
    texts.push(`end after ${took(ended)}`);
  }
  return { parts, tip: texts.join("\n") };
}

/** The timeline, the requests in flight below it, and the requests around the slowest one. @param {LoadPage} page */
export function requests(page) {
  const { lines, near, total } = page.charts.timeline;
  if (!lines.length) return [];
  /** @param {string} title @param {string} note @param {Request[]} chosen @returns {[HTMLElement, Axis]} */
  const drawn = (title, note, chosen) => {
    const low = Math.min(...chosen.map(({ planned, sent }) => Math.min(planned ?? sent, sent)));
    const x = { low, high: Math.max(low + 1e-6, ...chosen.map(({ ended }) => ended)), title: "seconds of the test" };
    return [timeline(title, note, chosen.map(line), x, PARTS), x];
  };
  const all = lines.length === total ? "every request" : `${count(lines.length)} of ${count(total)} requests, evenly chosen`;
  const [first, x] = drawn("Timeline", `${all}, in the order of sending`, lines);
  const found = [first];
  if (page.charts.over_time !== null) found.push(flight(page.charts.over_time, x));
  if (near.length) found.push(drawn("Around the slowest request", `${count(near.length)} requests in a row, around the one that took longest`, near)[0]);
  return found;
}

/** The stages in the order of a curve: the order of the test, or of a search, the last probe of each level. @param {LoadPage} page */
function byLevel({ summary }) {
  if (summary.search === null) return summary.stages;
  const last = new Map(summary.stages.map((stage) => [stage.level, stage]));
  return [...last.values()].sort((one, other) => (one.level ?? 0) - (other.level ?? 0));
}

/** The title of an axis of levels. @param {Stage[]} stages */
const asSet = ([{ label }]) => `requests ${label.endsWith("/s") ? "per second" : "in flight"}, as set`;
const levelsOf = (/** @type {Stage[]} */ stages) => stages.filter(({ level }) => level !== null).map(({ level }) => general(level, 6));

/** Latency against throughput, a dot for each level. @param {LoadPage} page */
export function sweep(page) {
  if (page.summary.stages.length < 2) return [];
  const found = [throughput(page), scores(page)];
  const tokens = page.summary.stages.every((stage) => stage.output_throughput_tokens_per_s !== null);
  const [rate, unit] = tokens ? ["output_throughput_tokens_per_s", "output tokens per second"] : ["request_throughput_per_s", "requests per second"];
  for (const [name, title] of [["ttft", "Time to first token"], ["tpot", "Time per output token"], ["e2e", "End-to-end latency"]]) {
    const key = page.metrics[name].key;
    const stages = byLevel(page).filter((stage) => stage[key] !== null && stage[rate] !== null);
    if (stages.length > 1) found.push(against(page, `${title} against throughput`, name, rate, unit, stages));
  }
  return [...found, users(page)].filter((each) => each !== null);
}

/** @param {LoadPage} page @param {string} title @param {string} name @param {string} rate @param {string} unit @param {Stage[]} stages */
function against(page, title, name, rate, unit, stages) {
  const key = page.metrics[name].key, limits = limitsOf(page, name);
  const high = ["p99", "p95", "p90"].find((percent) => percent === "p90" || stages.every((stage) => shown(stage[key], percent) !== null)) ?? "p90";
  /** @type {Series[]} */
  const series = /** @type {[number, string][]} */ ([[0, "p50"], [4, high]]).map(([colour, percent]) => ({
    name: `${percent}, ms`, points: stages.map((stage) => [stage[rate], stage[key][percent]]), colour, kind: "dots",
    labels: percent === high ? levelsOf(stages) : [],
  }));
  const tips = stages.map((stage) => /** @type {Tip} */
    ([stage[rate], `${stage.label}\n${decimal(stage[rate], 1)} ${unit}\nmedian ${ms(stage[key].p50)}\n${high.slice(1)}th percentile ${ms(stage[key][high])}`]));
  return chart({
    title, series, tips, limits, x: axisFor(stages.map((stage) => stage[rate]), unit),
    y: axisFor(withLimits(series.flatMap(({ points }) => points.map(([, y]) => y)), limits), ""),
    note: `Numbers at the dots: ${asSet(stages)}.`,
  });
}

/** The speed that each user sees against that of the whole server: what more load gains in total, and costs each of them. @param {LoadPage} page */
function users(page) {
  const stages = byLevel(page).filter((stage) => stage.output_speed_tokens_per_s !== null && stage.output_throughput_tokens_per_s !== null);
  if (stages.length < 2) return null;
  const points = stages.map((stage) => /** @type {Point} */ ([stage.output_speed_tokens_per_s.p50, stage.output_throughput_tokens_per_s]));
  return chart({
    title: "Total throughput against that of one user", x: axisFor(points.map(([x]) => x), "output tokens per second of one request, median"),
    y: axisFor(points.map(([, y]) => y), ""),
    series: [{ name: "output tokens per second, in total", points, colour: 2, kind: "dots", labels: levelsOf(stages) }],
    tips: points.map(([x, y], place) => [x, `${stages[place].label}\n${decimal(x, 1)} output tokens per second for one user (median)\n${count(y)} in total`]),
    note: "Up: more in total. Right: faster for each user. Numbers at the dots: the load, as set.",
  });
}

/** Throughput by level. Where it stops growing, the server is saturated. @param {LoadPage} page */
function throughput(page) {
  const stages = byLevel(page).filter((stage) => stage.level !== null && stage.request_throughput_per_s !== null);
  if (stages.length < 2) return null;
  /** @param {string} name @param {string} key @param {number} colour @param {boolean} dashed @returns {Series} */
  const dots = (name, key, colour, dashed) => ({ name, points: stages.map((stage) => [stage.level, stage[key]]), colour, dashed, kind: "dots" });
  const series = [dots("requests per second", "request_throughput_per_s", 2, false)];
  const judged = stages.every((stage) => stage.goodput_per_s !== null);
  if (judged) series.push(dots("within limits", "goodput_per_s", 3, true));
  return chart({
    title: "Throughput by level", x: axisFor(stages.map(({ level }) => level), asSet(stages)), y: axisFor(stages.map((stage) => stage.request_throughput_per_s), ""), series,
    tips: stages.map((stage) => [stage.level, `${stage.label}\n${decimal(stage.request_throughput_per_s, 2)} requests per second${stage.goodput_per_s === null ? "" : `\n${decimal(stage.goodput_per_s, 2)} within limits`}`]),
  });
}

/** The headline score by level, with its interval, which shows whether the server answers worse when it is busy. @param {LoadPage} page */
function scores(page) {
  const levels = byLevel(page).filter((stage) => stage.level !== null && Object.keys(stage.scores).length);
  if (new Set(levels.map(({ level }) => level)).size < 2) return null;
  const [name] = Object.keys(levels[0].scores);
  const stages = levels.filter((stage) => name in stage.scores);
  const known = stages.filter((stage) => stage.scores[name].mean_ci95 !== null);
  /** @type {Series[]} */
  const series = [{ name: "mean", points: stages.map((stage) => [stage.level, stage.scores[name].mean]), colour: 0, kind: "dots" }];
  for (const end of known.length > 1 ? [0, 1] : []) {
    series.push({ name: "95 % interval", points: known.map((stage) => [stage.level, stage.scores[name].mean_ci95[end]]), colour: 0, dashed: true });
  }
  return chart({
    title: `Score by level: ${name}`, x: axisFor(stages.map(({ level }) => level), asSet(levels)), series, legend: false,
    y: axisFor(series.flatMap(({ points }) => points.map(([, y]) => y)), ""),
    tips: stages.map(({ level, label, scores: { [name]: found } }) => [level, `${label}\n${name} ${score(found.mean)} over ${count(found.n)} replies${
      found.mean_ci95 === null ? "" : `\n95 %: ${found.mean_ci95.map(score).join(" – ")}`}`]),
    note: series.length > 1 ? "Dashed: the ends of the 95 % intervals." : "",
  });
}
