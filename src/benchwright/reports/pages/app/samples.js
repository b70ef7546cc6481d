// #/runs/7/samples?outcome=…: the samples of a run, filtered and sorted by the server, page by page.

import { get } from "./api.js";
import { h, name, say, scrolls } from "./dom.js";
import { count, duration, general, plural } from "./figures.js";
import { KINDS } from "./labels.js";
import { pageOf } from "./of_run.js";
import { filterOf, link, withColumns } from "./sample_filter.js";

/** @typedef {import("./rest.js").SamplePage} SamplePage */
/** @typedef {SamplePage["samples"][number]} Sample */
/** @typedef {[string, string, string, (sample: Sample) => Node[]]} Column */
/** @typedef {[string, string]} Choice */

const AT_ONCE = 50, CUT = 240, MOST_EMPTY = 20, PATIENCE_S = 1;
const OUTCOMES = ["scored", "unparsed", "empty", "truncated", "refused", "request_failed", "scorer_failed", "skipped"];
/** @type {Record<string, string>} */
const FIGURES = { latency_s: "latency", prompt_tokens: "prompt tokens", completion_tokens: "completion tokens" };
const READ = ["sample_id", "repeat", "prompt", "response", "target", "outcome", "error", "scores", "group", "metadata", "latency_s", "prompt_tokens", "completion_tokens", "verdict", "grade", "reason"];

/** The columns that may be chosen: their key, heading, style and cell. Those of scores and of the data are added to them.
 *  @type {Column[]} */
const COLUMNS = [
  ["prompt", "prompt", "text", (sample) => [text("prompt", sample.prompt)]],
  ["response", "reply", "text", (sample) => [text("response", sample.response ?? sample.error)]],
  ["target", "target", "text", (sample) => [text("target", sample.target)]],
  ["outcome", "outcome", "short", (sample) => [state(sample)]],
  ["grade", "grade", "short", (sample) => [text("grade", sample.grade)]],
  ["reason", "judge's reason", "text", (sample) => [text("reason", sample.reason)]],
  ["latency_s", "latency", "number", (sample) => [number("latency_s", sample.latency_s, duration)]],
  ["completion_tokens", "completion tokens", "number", (sample) => [number("completion_tokens", sample.completion_tokens, count)]],
  ["prompt_tokens", "prompt tokens", "number", (sample) => [number("prompt_tokens", sample.prompt_tokens, count)]],
];
const FIRST = ["prompt", "response", "target", "outcome"];

const text = (/** @type {string} */ path, /** @type {unknown} */ value) => h("span", { class: "clip" }, value === null || value === undefined || value === "" ? "–" : typeof value === "string" ? value : JSON.stringify(value));
const number = (/** @type {string} */ path, /** @type {number | null | undefined} */ value, /** @type {(value: number) => string} */ form) => (value === null || value === undefined ? h("span", { class: "dim" }, "–") : h("span", {}, form(value)));

/** How a sample ended, in one word. @param {Sample} sample */
export function state(sample) {
  const said = sample.verdict ?? null; // the server decides what is right
  if (sample.outcome === "scored" && said !== null) return h("span", { class: `said ${said}` }, said === "right" ? "✓ right" : "✗ wrong");
  return h("span", { class: "said" }, h("i", { class: sample.outcome }), sample.outcome.replace("_", " "));
}

/** A score as it stands in a cell. @param {unknown} value */
export const scoreText = (value) => (typeof value === "number" ? general(value, 4) : typeof value === "string" ? value : JSON.stringify(value));

/** @param {Sample[]} samples @returns {Column[]} */
function extraColumns(samples) {
  const scores = new Set(samples.flatMap((sample) => Object.keys(sample.scores ?? {})));
  const data = new Set(samples.flatMap((sample) => (sample.metadata && typeof sample.metadata === "object" ? Object.keys(sample.metadata) : [])));
  return [
    ...[...scores].filter((key) => key !== "judge_grade").map((key) => /** @type {Column} */ ([`scores.${key}`, key, "short", (sample) => [sample.scores && key in sample.scores ? h("span", { class: "clip" }, scoreText(sample.scores[key])) : h("span", { class: "dim" }, "–")]])),
    ...[...data].map((key) => /** @type {Column} */ ([`data.${key}`, key, "short", (sample) => [text(key, sample.metadata?.[key])]])),
  ];
}

/** @param {string} label @param {HTMLElement} control */
const field = (label, control) => h("label", { class: "field" }, h("span", {}, label), control);

/** A list to choose from. @param {string} id @param {string} chosen @param {[string, string][]} options */
function select(id, chosen, options) {
  const all = options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen]];
  return h("select", { id, name: id }, ...all.map(([value, words]) => h("option", { value, selected: value === chosen ? "" : null }, words)));
}

const input = (/** @type {string} */ id, /** @type {string} */ value, kind = "text", more = {}) => h("input", { id, name: id, type: kind, value: value ?? "", autocomplete: "off", ...more });

/** The filter as a form. Its state is the address. @param {string} run @param {URLSearchParams} query @param {string[]} metrics */
function form(run, query, metrics) {
  const value = (/** @type {string} */ key) => query.get(key) ?? "";
  const any = /** @type {Choice} */ (["", "any"]);
  /** @type {Choice[]} */
  const sorts = [["", "row"], ...Object.entries(FIGURES), ...metrics.map((metric) => /** @type {Choice} */ ([`metric:${metric}`, metric]))];
  const more = h("details", { class: "more-filters", open: ["metric", "above", "below", "rule", "column", "value", "changed_from"].some((key) => query.has(key)) ? "" : null },
    h("summary", {}, "More filters"),
    h("div", { class: "fields" },
      field("metric", select("metric", value("metric"), [any, ...metrics.map((metric) => /** @type {Choice} */ ([metric, metric]))])),
      field("above", input("above", value("above"), "number", { step: "any" })), field("below", input("below", value("below"), "number", { step: "any" })),
      field("rule of extraction", input("rule", value("rule"))),
      field("column of the data, or grade", input("column", value("column"))), field("its value", input("value", value("value"))),
      field("changed from run", input("changed_from", value("changed_from"), "number", { min: "1", step: "1" }))));
  return h("form", { class: "filter", role: "search", "aria-label": "Filter", onsubmit: (/** @type {any} */ event) => {
    event.preventDefault();
    const given = new URLSearchParams([...new FormData(event.target)].map(([key, each]) => [key, String(each)]));
    location.hash = link(run, withColumns(filterOf(given)));
  } },
  h("div", { class: "fields" },
    field("outcome", select("outcome", value("outcome"), [any, ...OUTCOMES.map((outcome) => /** @type {Choice} */ ([outcome, outcome.replace("_", " ")]))])),
    field("verdict", select("verdict", value("verdict"), [any, ["right", "right"], ["wrong", "wrong"], ["neither", "neither"]])),
    field("has a score", select("scored", value("scored"), [any, ["true", "yes"], ["false", "no"]])),
    field("text in prompt, reply or target", input("text", value("text"), "search")),
    field("labelled", select("labelled", value("labelled"), [any, ["any", "with a label"], ...KINDS.map(([kind, words]) => /** @type {Choice} */ ([kind, words]))])),
    field("sorted by", select("sort", value("sort"), sorts)),
    field("order", select("descending", value("descending"), [["", "ascending"], ["true", "descending"]])),
    h("button", { id: "apply", type: "submit" }, "Show"),
    [...filterOf(query)].length ? h("a", { class: "clear", href: link(run, ""), onclick: (/** @type {any} */ event) => { event.currentTarget.href = link(run, withColumns(new URLSearchParams())); } }, "Clear all") : null),
  more);
}

/** @param {string} run @param {string} filter of the list, which the page of a sample keeps @param {Sample} sample @param {any[]} columns */
function row(run, filter, sample, columns) {
  const id = `${sample.sample_id}/${sample.repeat}`;
  const way = h("a", { href: `#/runs/${run}/samples/${id}${filter ? `?${filter}` : ""}`, "aria-label": `Sample ${id}` }, id);
  return h("tr", { "data-sample": id, class: sample.verdict ?? "" }, h("td", { class: "first" }, way), ...columns.map(([,, style, cell]) => h("td", { class: style }, ...cell(sample))));
}

/** @returns {Promise<SamplePage>} A page of samples. The first one by a figure of a long run takes a while: the reader is told how far it is.
 *  @param {string} path @param {import("./app.js").Place} place */
async function page(path, { query, signal, tell }) {
  const by = query.get("sort") ?? query.get("metric") ?? "";
  for (;;) {
    const found = await get(`${path}&patience_s=${PATIENCE_S}`, signal);
    if (!found.indexed) return found;
    const [done, total] = found.indexed;
    tell(`Indexing ${FIGURES[by] ?? by.replace("metric:", "")} for the first time: ${count(done)} of ${plural(total, "sample")}…`, done / total);
  }
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function samples(place) {
  const [run] = place.ids, { signal } = place;
  const filter = filterOf(place.query);
  const asked = new URLSearchParams([...filter, ["limit", String(AT_ONCE)], ["columns", READ.join(",")], ["cut", String(CUT)]]);
  const [about, first] = await Promise.all([get(`/runs/${run}`, signal), page(`/runs/${run}/samples?${asked}`, place)]);
  place.title = `Samples of ${about.name}, run ${run}`;
  const found = /** @type {Sample[]} */ ([]);
  let next = /** @type {number | null} */ (null), looked = 0, chosen = place.query.has("show") ? place.query.getAll("show") : about.kind === "workflow" ? ["data.id", ...FIRST] : first.samples.some(({ grade }) => grade) ? ["grade", ...FIRST, "reason"] : FIRST, running = true;
  const head = h("tr", {}), body = h("tbody", {}), said = h("p", { class: "about", role: "status" }), trouble = h("p", { class: "bad-text", role: "alert" });
  const further = h("button", { id: "more", type: "button", onclick: () => more(true) }, "Show more samples");
  const stop = h("button", { id: "stop", type: "button", onclick: () => { running = false; } }, "Stop looking");
  const boxes = h("div", { class: "boxes" });
  const choose = h("details", { class: "more-filters" }, h("summary", {}, "Columns"), boxes);

  function draw() {
    const all = [...COLUMNS, ...extraColumns(found)];
    const columns = chosen.flatMap((key) => all.filter((each) => each[0] === key));
    head.replaceChildren(h("th", { class: "first" }, "sample"), ...columns.map(([, words, style]) => h("th", { class: style }, words)));
    body.replaceChildren(...found.map((sample) => row(run, withColumns(filter), sample, columns)));
    boxes.replaceChildren(...all.map(([key, words]) => h("label", {}, h("input", { type: "checkbox", checked: chosen.includes(key) ? "" : null, onchange: (/** @type {any} */ event) => {
      chosen = event.target.checked ? [...chosen, key] : chosen.filter((each) => each !== key);
      const all = new URLSearchParams([...filter, ...chosen.map((each) => /** @type {Choice} */ (["show", each]))]); // the address has the columns too
      history.replaceState(null, "", `${location.pathname}${link(run, all.toString())}`);
      const place = [...boxes.children].indexOf(event.target.parentElement);
      draw();
      boxes.children[place]?.querySelector("input")?.focus();
    } }), ` ${key.startsWith("data.") ? `${words} (data)` : words}`)));
  }

  function sayHowMany() {
    const total = first.total ?? (next === null ? found.length : null);
    const parts = [`${plural(found.length, "sample")} shown`];
    if (total !== null) parts[0] = found.length === total ? `All ${plural(total, "sample")}` : `${count(found.length)} of ${plural(total, "sample")}`;
    if (first.looked !== null) parts.push(next === null ? `looked at all ${count(looked)} that could match` : `looked at ${count(looked)} so far`);
    if (filter.has("sort")) parts.push(`samples without ${FIGURES[filter.get("sort") ?? ""] ?? filter.get("sort")?.replace("metric:", "")} are not listed`);
    say(said, found.length || next !== null ? `${parts.join("; ")}.` : `No samples match${first.looked === null ? "" : `; looked at all ${count(looked)} that could`}.`);
    further.hidden = next === null;
    say(further, first.looked === null ? "Show more samples" : "Look further");
    table.hidden = !found.length;
  }

  /** @param {SamplePage} page */
  function add(page) {
    found.push(...page.samples);
    next = page.next;
    looked += page.looked ?? 0;
  }

  /** The next page; while a search finds too few, the ones after it. @param {boolean} moved */
  async function more(moved) {
    const enough = found.length + AT_ONCE;
    say(trouble, "");
    running = true;
    further.disabled = true;
    const before = found.length;
    try {
      for (let empty = 0; running && next !== null && found.length < enough && empty < MOST_EMPTY; empty += 1) {
        stop.hidden = first.looked === null;
        add(await page(`/runs/${run}/samples?${asked}&after=${next}`, place));
        sayHowMany();
      }
      draw();
      sayHowMany();
      if (moved) body.children[before]?.querySelector("a")?.focus();
    } catch (error) {
      if (error.name !== "AbortError") say(trouble, `${error.message} ${error.hint ?? ""}`);
    } finally {
      further.disabled = false;
      stop.hidden = true;
    }
  }

  const table = h("div", scrolls("Samples"), h("table", { class: "samples" }, h("thead", {}, head), body));
  add(first);
  stop.hidden = true;
  draw();
  sayHowMany();
  if (first.looked !== null && next !== null && found.length < AT_ONCE) more(false); // goes on while the first ones are read
  const metrics = Object.keys(about.metrics ?? {});
  return [
    h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " › ", h("a", { href: pageOf(about) }, name("name", about.name), " ", `(run ${run})`)),
    h("h1", { tabindex: "-1" }, "Samples"), form(run, place.query, metrics), choose, said, first.note ? h("p", { class: "warn", "data-json": "note" }, first.note) : null, table,
    h("div", { class: "foot" }, trouble, further, " ", stop),
  ].filter((part) => part !== null);
}
