// A comparison of two to eight runs: the verdict, every difference with its interval, and what changed.

import { axisFor, chart } from "./charts.js";
import { at, figure, h, name, notes, printable, section, svg, table, unseen } from "./dom.js";
import { count, decimal, fixed, general, plural, score } from "./figures.js";

/** @typedef {Record<string, any>} Json */
/** @typedef {{ comparison: Json, path: (...parts: (string | number)[]) => string }} Found one run against the first, and its place in the JSON */

const LAYERS = /** @type {Record<string, string>} */ ({
  data: "other data", prompt: "other prompt", reply: "other reply", extraction: "read differently", score: "scored differently",
});
const MOST_WORDS = 600; // of a text whose words are compared

/** A difference, with its sign. @param {number} value */
const signed = (value) => `${value < 0 ? "−" : "+"}${score(Math.abs(value))}`;

/** A p-value. @param {number | null} value */
const chance = (value) => (value === null ? "–" : value < 0.001 ? "< 0.001" : fixed(value, 4).replace(/0+$/, "").replace(/\.$/, ""));

/** @param {Json} page @returns {Found[]} */
function comparisons(page) {
  if (page.comparisons === undefined) return [{ comparison: page, path: at }];
  return page.comparisons.map((/** @type {Json} */ comparison, /** @type {number} */ place) => ({ comparison, path: (/** @type {(string | number)[]} */ ...parts) => at("comparisons", place, ...parts) }));
}

/** A run by its title, with a link to its page if the server has it. @param {Json} side @param {boolean} linked */
const titled = (side, linked) => (linked && side.id > 0 ? h("a", { href: `#/runs/${side.id}` }, side.title) : h("bdi", {}, side.title));

/** Which runs are compared. @param {Json} comparison */
const versus = ({ run_a: a, run_b: b }) => `${b.title} vs. ${a.title}`;

/** An interval around a line at 0. @param {Json} paired @param {number} reach of the longest interval @param {string} label @param {string} style */
function whisker(paired, reach, label, style) {
  const place = (/** @type {number} */ value) => `${fixed(50 + (48 * value) / reach, 2)}%`;
  const { ci_low: low, ci_high: high, difference } = paired;
  return svg("svg", { class: `whisker ${style}`, role: "img", "aria-label": label },
    svg("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: 22 }),
    ...(low === null || high === null ? [] : [svg("line", { class: "span", x1: place(low), x2: place(high), y1: 11, y2: 11 })]),
    svg("circle", { cx: place(difference), cy: 11, r: 5 }));
}

/** Won, tied and lost rows as one bar. @param {Json} paired */
function wins({ wins: won, ties, losses: lost }) {
  const total = Math.max(1, won + ties + lost), label = `${plural(won, "row")} better, ${count(ties)} the same, ${count(lost)} worse`;
  let left = 0;
  const part = (/** @type {number} */ size, /** @type {string} */ style) => {
    const found = svg("rect", { class: style, x: `${fixed((100 * left) / total, 3)}%`, width: `${fixed((100 * size) / total, 3)}%`, y: 0, height: 12 });
    left += size;
    return found;
  };
  return svg("svg", { class: "wins", role: "img", "aria-label": label }, svg("title", {}, label), part(won, "won"), part(ties, "tied"), part(lost, "lost"));
}

/** How a figure changed, as `direction` of a metric says it: `mixed` if the mean and the test disagree. @param {Json} paired */
const directionOf = ({ difference, leaning }) => (difference === 0 || leaning * difference < 0 ? "mixed" : difference > 0 ? "up" : "down");

/** The style of a difference. One that is none, and one in which the mean and the test disagree, has no colour. @param {string} direction @param {boolean} significant
 *  @param {boolean} less whether a smaller value is better */
const verdict = (direction, significant, less) => (!significant || !["up", "down"].includes(direction) ? "" : (direction === "up") !== less ? "better" : "worse");

/** A table of differences, each with its picture. @param {string} label @param {string | Node} first @param {{ name: Node | string, paired: Json | null, path: string, p: number | null,
 *  p_path: string, significant: boolean, less: boolean, direction?: string, values?: (string | Node)[] }[]} rows @param {string[]} values headings of further columns */
function differences(label, first, rows, values = []) {
  const known = rows.map(({ paired }) => paired).filter((paired) => paired !== null);
  const reach = Math.max(1e-9, ...known.flatMap((paired) => [paired.ci_low, paired.ci_high, paired.difference].map((end) => Math.abs(end ?? 0))));
  const cells = rows.map((row) => {
    const { paired } = row;
    if (paired === null) return [row.name, ...(row.values ?? []), "no common rows", "", "", "", "–"];
    const style = verdict(row.direction ?? directionOf(paired), row.significant, row.less);
    const interval = paired.ci_low === null ? "" : ` (${signed(paired.ci_low)} to ${signed(paired.ci_high)})`;
    return [row.name, ...(row.values ?? []),
      h("span", { class: style }, h("b", { "data-json": `${row.path}.difference` }, signed(paired.difference)), h("span", { class: "dim" }, interval)),
      whisker(paired, reach, `${signed(paired.difference)}${interval}`, style),
      h("span", {}, figure(`${row.path}.wins`, count(paired.wins)), " / ", figure(`${row.path}.losses`, count(paired.losses)), " / ", figure(`${row.path}.ties`, count(paired.ties))),
      wins(paired), { text: chance(row.p), json: row.p_path }];
  });
  return table(label, [first, ...values, "difference (95 %)", unseen("difference as a picture"), "won / lost / tied", unseen("rows as a picture"), "p"], cells, { kind: "figures differences" });
}

/** What the tests of all pairs say about a run. @param {Json} page @param {Json} side */
function remark(page, side) {
  if (!side.comparable) return "not comparable";
  if (page.best === undefined || page.best === null) return "";
  if (side.id === page.best) return page.lower_is_better ? "lowest mean" : "highest mean";
  const pair = page.pairs.find((/** @type {Json} */ each) => [each.run_a, each.run_b].includes(side.id) && [each.run_a, each.run_b].includes(page.best));
  return pair === undefined || pair.significant ? "" : "cannot be told apart from it";
}

/** @param {Json} page @param {Found[]} found @param {boolean} linked */
function runsTable(page, found, linked) {
  const sides = [{ side: found[0].comparison.run_a, path: found[0].path("run_a") }, ...found.map(({ comparison, path }) => ({ side: comparison.run_b, path: path("run_b") }))];
  const metric = page.metric ?? found[0].comparison.metrics?.[0]?.name ?? null;
  const rows = sides.map(({ side, path }, place) => {
    const { comparison, path: inside } = found[Math.max(0, place - 1)], letter = place ? "b" : "a";
    const number = (comparison.metrics ?? []).findIndex((/** @type {Json} */ each) => each.name === metric), each = comparison.metrics?.[number];
    const value = each?.[`run_${letter}`][0], interval = each?.[`interval_${letter}`];
    return [titled(side, linked), name(`${path}.model_name`, side.model_name),
      value === undefined ? "–" : h("span", {}, h("b", { "data-json": inside("metrics", number, `run_${letter}`, 0) }, score(value)),
        h("span", { class: "dim" }, interval[0] === null ? "" : ` (${score(interval[0])} – ${score(interval[1])})`)),
      { text: count(side.failed ?? 0), json: side.failed === null ? undefined : `${path}.failed` }, remark(page, side)];
  });
  /** @type {[boolean, string | Node, boolean][]} whether a column has something to show, its heading, and whether it has texts */
  const columns = [[true, "run", true], [sides.some(({ side }) => side.model_name), "model", true], [metric !== null, metric ?? "", false], [true, "failed", false],
    [rows.some((row) => row[4] !== ""), unseen("remark"), true]];
  const there = columns.map(([is], place) => (is ? place : -1)).filter((place) => place >= 0);
  return table("Runs", there.map((place) => columns[place][1]), rows.map((row) => there.map((place) => row[place])), { texts: there.flatMap((place, at) => (columns[place][2] ? [at] : [])) });
}

/** Two texts, with the words that only one of them has marked. @param {string} one @param {string} other @returns {[Node[], Node[]]} */
export function marked(one, other) {
  const [a, b] = [one, other].map((text) => text.split(/(\s+)/));
  if (one === other || a.length > MOST_WORDS || b.length > MOST_WORDS) return [[document.createTextNode(printable(one))], [document.createTextNode(printable(other))]];
  const size = b.length + 1, common = new Uint16Array((a.length + 1) * size);
  for (let x = a.length - 1; x >= 0; x -= 1) {
    for (let y = b.length - 1; y >= 0; y -= 1) {
      common[x * size + y] = a[x] === b[y] ? common[(x + 1) * size + y + 1] + 1 : Math.max(common[(x + 1) * size + y], common[x * size + y + 1]);
    }
  }
  const sides = /** @type {[Node[], Node[]]} */ ([[], []]);
  let x = 0, y = 0;
  while (x < a.length || y < b.length) {
    if (x < a.length && y < b.length && a[x] === b[y]) {
      sides[0].push(h("span", {}, a[x++]));
      sides[1].push(h("span", {}, b[y++]));
    } else if (y >= b.length || (x < a.length && common[(x + 1) * size + y] >= common[x * size + y + 1])) sides[0].push(h("del", {}, a[x++]));
    else sides[1].push(h("ins", {}, b[y++]));
  }
  return sides;
}

/** @param {Json} change @param {string} side */
const scored = (change, side) => change[`run_${side}`].json?.scores?.[change.metric];

/** Whether a change is a loss, a win, or neither. @param {Json} change @param {boolean} less */
function direction(change, less) {
  const [a, b] = ["a", "b"].map((side) => Number(scored(change, side) ?? 0));
  return a === b ? "other" : b > a !== less ? "won" : "lost";
}

/** One sample in both runs. @param {Json} change @param {string} path @param {Json} comparison @param {string} turned @param {boolean} linked */
function flip(change, path, comparison, turned, linked) {
  const replies = marked(change.reply_a ?? "", change.reply_b ?? ""), other = change.prompt_a !== change.prompt_b;
  const prompts = marked(change.prompt_a ?? "", change.prompt_b ?? "");
  const column = (/** @type {string} */ side, /** @type {number} */ place) => {
    const about = comparison[`run_${side}`], key = side === "a" ? change.step_a : change.step, json = change[`run_${side}`].json ?? {};
    const value = scored(change, side), said = value === undefined ? json.outcome : `${change.metric} ${typeof value === "number" ? score(value) : String(value)}`;
    const called = `${about.title}, ${change.name ? `row ${change.name}` : `sample ${key}`}`;
    const title = linked && about.id > 0 ? h("a", { href: `#/runs/${about.id}/samples/${key}` }, called) : called;
    const read = Object.entries(json.scores ?? {}).filter(([key, each]) => typeof each === "string" && key !== "span"); // what the scorer read, and by which rule
    return h("div", {}, h("h3", {}, title, ` · ${said}`), read.length ? h("p", { class: "dim" }, ...read.flatMap(([key, each], number) => [number ? ", " : "", `${key} `, h("bdi", {}, String(each))])) : null, json.error ? h("p", { class: "warn" }, json.error) : null,
      other ? h("pre", { class: "dim" }, ...prompts[place]) : null, h("pre", { "data-json": `${path}.reply_${side}` }, ...replies[place]));
  };
  const target = change.run_b.json?.target;
  return h("article", { class: `sample flip ${turned === "lost" ? "wrong" : turned === "won" ? "right" : "scored"}` },
    h("header", {}, h("b", { class: "ended" }, turned === "lost" ? "lost" : turned === "won" ? "won" : "changed"), h("span", { "data-json": `${path}.why`, "data-layer": change.why }, LAYERS[change.why] ?? change.why)),
    other ? null : h("pre", { class: "question" }, change.prompt_b ?? ""),
    target === null || target === undefined ? null : h("p", { class: "dim" }, "Target: ", h("bdi", {}, typeof target === "string" ? target : JSON.stringify(target))),
    h("div", { class: "texts" }, column("a", 0), column("b", 1)));
}

/** The samples that changed, with filters. @param {Found} found @param {boolean} linked */
function flips({ comparison, path }, linked) {
  const changes = comparison.output_differences ?? [];
  if (!changes.length || changes[0].why === undefined) return [];
  const less = comparison.metrics[0]?.lower_is_better ?? false;
  const all = /** @type {{ change: Json, place: number, turned: string }[]} */ (changes.map((/** @type {Json} */ change, /** @type {number} */ place) => ({ change, place, turned: direction(change, less) })));
  const list = h("div", {}), chosen = { turned: "", why: "" };
  const draw = () => {
    const shown = all.filter((each) => (!chosen.turned || each.turned === chosen.turned) && (!chosen.why || each.change.why === chosen.why));
    list.replaceChildren(...shown.map((each) => flip(each.change, path("output_differences", each.place), comparison, each.turned, linked)),
      ...(shown.length ? [] : [h("p", { class: "dim" }, "No changes match.")]));
  };
  const buttons = /** @type {HTMLElement[]} */ ([]);
  const button = (/** @type {"turned" | "why"} */ what, /** @type {string} */ value, /** @type {string} */ words, /** @type {number} */ number) => {
    const made = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
      chosen[what] = chosen[what] === value ? "" : value;
      for (const each of buttons) each.setAttribute("aria-pressed", String(chosen[/** @type {"turned" | "why"} */ (each.dataset.what)] === each.dataset.value));
      draw();
    }, "data-what": what, "data-value": value }, `${words} ${count(number)}`);
    buttons.push(made);
    return made;
  };
  const tally = (/** @type {(each: any) => string} */ key) => all.reduce((/** @type {Map<string, number>} */ sums, each) => sums.set(key(each), (sums.get(key(each)) ?? 0) + 1), new Map());
  const turns = tally((each) => each.turned), whys = tally((each) => each.change.why);
  const tools = h("div", { class: "tools" },
    ...["lost", "won", "other"].filter((each) => turns.has(each)).map((each) => button("turned", each, each === "other" ? "otherwise changed" : each, turns.get(each))),
    ...Object.keys(LAYERS).filter((each) => whys.has(each) && whys.size > 1).map((each) => button("why", each, LAYERS[each], whys.get(each))));
  draw();
  const total = comparison.samples.changed;
  const { run_a: a, run_b: b } = comparison, list_of = linked && a.id > 0 && b.id > 0 ? h("a", { href: `#/runs/${b.id}/samples?changed_from=${a.id}` }, `List all ${plural(total, "changed sample")}`) : null;
  const cut = total > all.length || list_of ? h("p", { class: "dim" }, total > all.length ? `The first ${count(all.length)} of ${count(total)} changed samples. ` : "", list_of) : null;
  return [tools, cut, list];
}

/** @param {Found} found */
function settings({ comparison, path }) {
  const found = comparison.input_comparison?.differences ?? [];
  if (!found.length) return null;
  const value = (/** @type {any} */ given) => (given === null ? "not set" : typeof given === "string" ? given : JSON.stringify(given));
  const rows = found.map((/** @type {Json} */ each, /** @type {number} */ place) => [each.path.replace(/^\$\./, ""),
    ...["run_a", "run_b"].map((side) => ({ text: value(each[side]), json: path("input_comparison", "differences", place, side) }))]);
  return table(`Settings that differ: ${versus(comparison)}`, ["setting", comparison.run_a.title, comparison.run_b.title], rows, { kind: "settings", texts: [1, 2] });
}

/** The metrics of one run against the first; those with equal figures once. @param {Found} found */
function metrics({ comparison, path }) {
  const seen = new Map(), equal = /** @type {string[]} */ ([]);
  const rows = [];
  for (const [place, metric] of comparison.metrics.entries()) {
    if (metric.same && rows.length) { equal.push(metric.name); continue; }
    const key = JSON.stringify([metric.run_a, metric.run_b, metric.paired]);
    if (seen.has(key)) { equal.push(metric.name); continue; }
    seen.set(key, metric.name);
    const value = (/** @type {string} */ side) => (metric[side].length ? figure(path("metrics", place, side, 0), score(metric[side][0])) : "–");
    rows.push({ name: metric.name, paired: metric.paired, path: path("metrics", place, "paired"), p: metric.p_adjusted, p_path: path("metrics", place, "p_adjusted"),
      significant: metric.significant, less: metric.lower_is_better, direction: metric.direction, values: [value("run_a"), value("run_b")] });
  }
  return h("div", {}, differences(`Metrics: ${versus(comparison)}`, "metric", rows, [comparison.run_a.title, comparison.run_b.title]),
    equal.length ? h("p", { class: "dim" }, `Unchanged, or the same as a metric above: ${equal.join(", ")}.`) : null);
}

/** What both runs used, folded: more of it is neither won nor lost. @param {Found} found */
function effort({ comparison, path }) {
  const used = comparison.effort ?? [];
  if (!used.length) return null;
  const rows = used.map((/** @type {Json} */ each, /** @type {number} */ place) => {
    const value = (/** @type {string} */ side) => (each[side] === null ? "–" : { text: general(each[side], 4), json: path("effort", place, side) });
    const known = each.run_a && each.run_b !== null, change = known ? (100 * (each.run_b - each.run_a)) / each.run_a : 0;
    return [each.name, value("run_a"), value("run_b"), known ? `${change < 0 ? "−" : "+"}${fixed(Math.abs(change), 1)} %` : "–"];
  });
  return h("details", {}, h("summary", {}, `What both runs used: ${used.map((/** @type {Json} */ each) => each.name).join(", ")}`),
    table(`Effort: ${versus(comparison)}`, ["effort", comparison.run_a.title, comparison.run_b.title, "change"], rows));
}

/** Curves of two load tests over each other: the latencies of a level that both have, and those of every level against throughput.
 *  @param {Json} comparison @returns {Node[]} */
function overlays({ curves, run_a: a, run_b: b }) {
  const sides = /** @type {[string, string, number][]} */ ([["run_a", a.title, 0], ["run_b", b.title, 4]]);
  const found = curves.distributions.map((/** @type {Json} */ each) => {
    const [low, high] = [Math.min(each.run_a[0], each.run_b[0]), Math.max(each.run_a.at(-1), each.run_b.at(-1))];
    const middle = curves.percents.indexOf(50), log = low > 0 && high > 20 * Math.min(each.run_a[middle], each.run_b[middle]);
    return chart({
      title: `${each.title} at ${curves.level}`, along: "y", y: { low: 0, high: 100, percent: true },
      x: axisFor([low, high], `milliseconds${log ? ", logarithmic" : ""}`, { log, zero: low < 0.5 * high }),
      series: sides.map(([side, name, colour]) => ({ name, colour, dashed: side === "run_b", points: each[side].map((/** @type {number} */ value, /** @type {number} */ place) => [value, curves.percents[place]]) })),
      tips: curves.percents.map((/** @type {number} */ percent, /** @type {number} */ place) =>
        [percent, [`${general(percent, 4)} % of values are at most`, ...sides.map(([side, name]) => `${name}: ${general(each[side][place], 3)} ms`)].join("\n")]),
    });
  });
  for (const [key, title] of [["ttft_ms", "Time to first token"], ["e2e_ms", "End-to-end latency"]]) {
    const levels = /** @type {Json[][]} */ (sides.map(([side]) => curves.sweep[side].filter((/** @type {Json} */ each) => each[key]?.p50 && each.request_throughput_per_s !== null)));
    if (levels.some((each) => each.length < 2)) continue;
    const drawn = sides.flatMap(([, name, colour], place) => ["p50", "p99"].filter((percent) => levels.flat().every((each) => each[key][percent] !== null)).map((percent) => ({
      name: `${name}, ${percent}`, colour, dashed: percent === "p99", kind: /** @type {const} */ ("dots"), labels: percent === "p99" ? [] : levels[place].map(({ level }) => (level === null ? "" : general(level, 6))),
      points: levels[place].map((each) => /** @type {[number, number]} */ ([each.request_throughput_per_s, each[key][percent]])) })));
    found.push(chart({
      title: `${title} against throughput`, series: drawn, x: axisFor(levels.flat().map((each) => each.request_throughput_per_s), "requests per second"),
      y: axisFor(drawn.flatMap(({ points }) => points.map(([, y]) => y)), "milliseconds"), note: "In milliseconds. Numbers at the dots: the load, as set.",
      tips: sides.flatMap(([, name], place) => levels[place].map((each) => /** @type {[number, string]} */ ([each.request_throughput_per_s, `${name}, ${each.label}\n${decimal(each.request_throughput_per_s, 1)} requests per second\nmedian ${general(each[key].p50, 3)} ms`]))),
    }));
  }
  return found.length ? [h("div", { class: "charts" }, ...found)] : [];
}

/** Load tests side by side: every figure of every level. @param {Found} found */
function levels({ comparison, path }) {
  return comparison.levels.map((/** @type {Json} */ level, /** @type {number} */ number) => {
    const rows = level.differences.map((/** @type {Json} */ each, /** @type {number} */ place) => {
      const value = (/** @type {string} */ side) => ({ text: each[side] === null ? "–" : fixed(each[side], 3), json: path("levels", number, "differences", place, side) });
      const style = each.significant ? (each.worse ? "worse" : "better") : "";
      return [each.statistic === "value" ? each.name : `${each.name} ${each.statistic}`, value("a"), value("b"),
        h("span", { class: style }, figure(path("levels", number, "differences", place, "difference"), `${each.difference < 0 ? "−" : "+"}${fixed(Math.abs(each.difference), 3)}`))];
    });
    return table(`Figures at ${level.level}`, [level.level, comparison.run_a.title, comparison.run_b.title, "difference"], rows);
  });
}

/** @param {Json} page @param {{ linked?: boolean }} options whether pages of runs can be reached @returns {Node[]} */
export function compare(page, { linked = false } = {}) {
  const found = comparisons(page);
  const told = /** @type {import("./dom.js").Note[]} */ ([...new Map(found.flatMap(({ comparison }) => comparison.notes).map((/** @type {Json} */ note) => [note.text, note])).values()]);
  const titles = new Map([found[0].comparison.run_a, ...found.map(({ comparison }) => comparison.run_b)].map((side) => [side.id, side.title]));
  const pairs = (page.pairs ?? []).map((/** @type {Json} */ pair, /** @type {number} */ place) => ({
    name: `${titles.get(pair.run_b)} vs. ${titles.get(pair.run_a)}`, paired: pair.paired, path: at("pairs", place, "paired"), p: pair.p_adjusted,
    p_path: at("pairs", place, "p_adjusted"), significant: pair.significant, less: page.lower_is_better }));
  const several = found.length > 1;
  const heading = (/** @type {Found} */ each, /** @type {string} */ words) => (several ? `${words}: ${versus(each.comparison)}` : words);
  return [
    h("p", { class: "verdict-line", "data-json": "sentence" }, page.sentence.charAt(0).toUpperCase() + page.sentence.slice(1)),
    ...notes(told),
    ...section("Runs", runsTable(page, found, linked)),
    ...section(`Every pair by ${page.metric}`, pairs.length > 1 ? differences("Every pair of runs", unseen("pair"), pairs) : null),
    ...found.flatMap((each) => section(heading(each, "Metrics"), each.comparison.metrics?.length ? metrics(each) : null)),
    ...found.flatMap((each) => section(heading(each, "Effort"), effort(each))),
    ...found.flatMap((each) => section(heading(each, "Curves"), ...(each.comparison.curves ? overlays(each.comparison) : []))),
    ...found.flatMap((each) => section(heading(each, "Figures"), ...(each.comparison.levels ? levels(each) : []))),
    ...(page.slices ?? []).flatMap((/** @type {Json} */ sliced, /** @type {number} */ number) => section(`By ${sliced.column}: ${titles.get(sliced.run_b)} vs. ${titles.get(sliced.run_a)}`,
      differences(`By ${sliced.column}: ${titles.get(sliced.run_b)} vs. ${titles.get(sliced.run_a)}`, sliced.column, sliced.slices.map((/** @type {Json} */ each, /** @type {number} */ place) => ({ name: each.value ?? "(no value)", paired: each.paired,
        path: at("slices", number, "slices", place, "paired"), p: each.p_adjusted, p_path: at("slices", number, "slices", place, "p_adjusted"), significant: each.significant, less: page.lower_is_better ?? false }))))),
    ...found.flatMap((each) => section(heading(each, "What differs in the settings"), settings(each))),
    ...found.flatMap((each) => section(heading(each, "Changed samples"), ...flips(each, linked))),
  ];
}
