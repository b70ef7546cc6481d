"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const SVG = "http://www.w3.org/2000/svg";
const GROUPS = { wrong: "wrong", failed: "without a score", scored: "neither right nor wrong", right: "right" };
const JSON_TEXTS = ["messages", "metadata"];
const FIRST_CARDS = 25, MOST_SCORES = 4;

// Texts are set as texts: nothing in the data becomes markup.
function element(name, attributes = {}, ...children) {
  const made = ["svg", "line", "circle", "title"].includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A part that may scroll, which the keyboard must reach.
function scrolls(label, kind = "card") {
  return { class: kind, tabindex: "0", role: "region", "aria-label": label };
}

function section(heading, ...children) {
  page.append(element("h2", {}, heading), ...children);
}

function count(number) {
  return number.toLocaleString("en-US");
}

// A point with its interval, on a scale that all shares have in common. Other metrics get a scale of their own.
function range(metric) {
  if (metric.low === null) return null;
  const [from, to] = metric.share ? [0, 1] : [Math.min(metric.low, 0), Math.max(metric.high, 0)];
  const at = (value) => `${2 + (96 * (value - from)) / (to - from || 1)}%`;
  const drawn = element("svg", { class: "range", role: "img" });
  const line = (kind, x1, x2, y1, y2) => element("line", { class: kind, x1, x2, y1, y2 });
  drawn.append(
    element("title", {}, `${metric.text}, 95 % interval ${metric.interval}`),
    line("rail", "2%", "98%", 11, 11),
    line("span", at(metric.low), at(metric.high), 11, 11),
    line("end", at(metric.low), at(metric.low), 4, 18),
    line("end", at(metric.high), at(metric.high), 4, 18),
    element("circle", { class: "dot", cx: at(metric.value), cy: 11, r: 5 }),
  );
  return drawn;
}

function metrics() {
  if (!data.metrics.length) return element("p", { class: "dim" }, "No sample gave a score.");
  const headings = ["metric", "value", "95 % interval", "", "n", ...(data.both ? ["failures as wrong"] : [])];
  const places = ["", "number", "number", "range-cell", "number", "number"];
  const rows = data.metrics.map((metric, place) =>
    element(
      "tr",
      place === 0 ? { class: "main" } : {},
      element("td", { class: "metric-name" }, metric.name, metric.lower_is_better ? element("span", { class: "dim" }, " (lower is better)") : null),
      element("td", { class: "number value" }, metric.text),
      element("td", { class: "number" }, metric.interval),
      element("td", { class: "range-cell" }, range(metric)),
      element("td", { class: "number" }, metric.n),
      data.both ? element("td", { class: "number" }, metric.wrong) : null,
    ),
  );
  const head = element("tr", {}, ...headings.map((words, place) => element("th", { class: places[place] }, words)));
  const table = element("table", { class: "metrics" }, element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", scrolls("Scores"), table, data.equal ? element("p", { class: "dim equal" }, data.equal) : null);
}

function outcomes() {
  const bar = element("div", { class: "outcomes", role: "img", "aria-label": "outcomes" });
  const keys = element("div", { class: "keys" });
  for (const [name, number] of data.outcomes) {
    if (number) {
      const part = element("span", { class: name, title: `${name}: ${count(number)}` });
      part.style.flexGrow = number;
      bar.append(part);
    }
    keys.append(element("span", { class: "key" }, element("i", { class: name }), `${name} ${count(number)}`));
  }
  const reasons = data.reasons ? element("p", { class: "dim" }, data.reasons) : null;
  return element("div", { class: "card outcome-card" }, bar, keys, reasons);
}

function facts(pairs) {
  return element("div", { class: "card" }, element("dl", { class: "facts" }, ...pairs.flatMap(([label, words]) => [element("dt", {}, label), element("dd", {}, words)])));
}

// JSON with a line for each value. Parsed and written again, large integers would lose digits.
function indented(json) {
  if (json === undefined) return json;
  let depth = 0;
  const line = (change) => `\n${"  ".repeat(Math.max(0, (depth += change)))}`;
  return json.replace(/"(?:\\.|[^"\\])*"|\{\}|\[\]|[{}[\],:]/g, (part) => {
    if (part === "{" || part === "[") return part + line(1);
    if (part === "}" || part === "]") return line(-1) + part;
    if (part === ",") return part + line(0);
    return part === ":" ? ": " : part;
  });
}

// The messages of a dialogue, whose prompt alone would show its first turn only; null for any other sample.
function dialogue(sample) {
  let messages;
  try {
    messages = JSON.parse(sample.messages);
  } catch {
    return null; // none, or cut because they are long
  }
  if (!Array.isArray(messages) || messages.at(-1)?.role !== "assistant") return null;
  const said = ({ content }) => (content === null || content === undefined ? [] : [typeof content === "string" ? content : JSON.stringify(content)]);
  const called = ({ tool_calls: calls }) => (calls || []).map((call) => `${call.function?.name}(${call.function?.arguments})`);
  const turns = messages.filter(({ role }) => role !== "system");
  return turns.map((message) => `[${message.role}] ${[...said(message), ...called(message)].join("\n")}`).join("\n");
}

function seconds(duration) {
  return duration < 0.9995 ? `${(duration * 1000).toPrecision(3)} ms` : `${duration.toFixed(2)} s`;
}

function has(sample, text) {
  return Object.values(sample).some((value) => (typeof value === "string" ? value : JSON.stringify(value)).toLowerCase().includes(text));
}

function block(heading, text, kind = "") {
  if (text === undefined || text === null || text === "") return null;
  const words = typeof text === "string" ? text : JSON.stringify(text, null, 2);
  return element("div", { class: kind }, element("h3", {}, heading), element("pre", scrolls(heading, ""), words));
}

// A score to four decimals, as in the table above.
function shown(value) {
  return typeof value === "number" ? `${+value.toFixed(4)}` : JSON.stringify(value);
}

function card(sample) {
  const scores = data.metrics.filter(({ name }) => name in (sample.scores || {})).map(({ name }) => `${name} ${shown(sample.scores[name])}`);
  const unscored = !Object.keys(sample.scores || {}).length; // its row has no answer, or nothing is scored
  const state = sample.kind === "failed" ? sample.outcome : unscored ? "no score" : sample.kind;
  const numbers = [
    sample.completion_tokens === undefined ? null : `completion tokens ${count(sample.completion_tokens)}`,
    sample.latency_s === undefined ? null : seconds(sample.latency_s),
    sample.finish_reason === undefined ? null : `finish reason ${sample.finish_reason}`,
  ].filter(Boolean);
  const head = element(
    "header",
    {},
    element("b", {}, `${sample.sample_id}/${sample.repeat}`),
    element("span", { class: "state" }, state),
    sample.group === undefined ? null : element("span", {}, sample.group),
    scores.length ? element("span", {}, scores.slice(0, MOST_SCORES).join(" · ")) : null,
    ...numbers.map((words) => element("span", {}, words)),
  );
  const fault = sample.scores?.error; // of a call that is not as expected
  const why = sample.error ?? (typeof fault === "string" ? fault : undefined);
  const answer = element("div", {}, block("reply", sample.response), block("calls", indented(sample.calls)), block("target", sample.target));
  const more = element("details", { class: "more" }, element("summary", {}, "Everything that was sent and recorded"));
  more.addEventListener("toggle", () => {
    if (more.childElementCount > 1) return; // built when first opened: most are never read
    const parts = ["system", "messages", "reasoning", "scores", "choices", "choices_logprobs", "metadata"];
    more.append(...parts.map((name) => block(name === "metadata" ? "row" : name, JSON_TEXTS.includes(name) ? indented(sample[name]) : sample[name])).filter(Boolean));
  });
  return element("article", { class: `sample ${sample.kind}` }, head, element("div", { class: "texts" }, dialogue(sample) === null ? block("prompt", sample.prompt) : block("dialogue", dialogue(sample)), answer, block("error", why, "full")), more);
}

function samples() {
  const total = Object.values(data.counts).reduce((sum, number) => sum + number, 0);
  if (!total) return [element("p", { class: "dim" }, "The folder of this run has no samples.")];
  const there = Object.keys(GROUPS).filter((group) => data.counts[group]);
  let chosen = there[0], most = FIRST_CARDS;
  const cards = element("div"), words = element("p", { class: "dim" }), more = element("button", { type: "button" }, "show more");
  const search = element("input", { type: "search", placeholder: "search in these samples", "aria-label": "search in these samples" });
  const buttons = [...there, "all"].map((group) => {
    const number = group === "all" ? total : data.counts[group];
    const button = element("button", { type: "button" }, `${group === "all" ? "all" : GROUPS[group]} ${count(number)}`);
    button.addEventListener("click", () => { chosen = group; most = FIRST_CARDS; show(); });
    return [group, button];
  });
  function show() {
    const text = search.value.toLowerCase();
    const inGroup = data.samples.filter((sample) => chosen === "all" || sample.kind === chosen);
    const found = inGroup.filter((sample) => has(sample, text));
    for (const [group, button] of buttons) button.setAttribute("aria-pressed", group === chosen);
    cards.replaceChildren(...found.slice(0, most).map(card));
    more.hidden = found.length <= most;
    const all = chosen === "all" ? total : data.counts[chosen];
    const kept = inGroup.length < all ? ` This page has the first ${count(inGroup.length)} of ${count(all)}; samples.parquet has all of them.` : "";
    words.textContent = `${count(Math.min(most, found.length))} of ${count(found.length)} shown.${kept}`;
  }
  more.addEventListener("click", () => { most += FIRST_CARDS * 2; show(); });
  search.addEventListener("input", () => { most = FIRST_CARDS; show(); });
  show();
  return [element("div", { class: "tools" }, ...buttons.map(([, button]) => button), search), cards, words, element("div", { class: "tools" }, more)];
}

// The class and the mark of a note of each grade.
const GRADES = { problem: ["bad", "✗"], caution: ["warn", "!"], information: ["info", "i"] };

function list(notes) {
  return element("ul", { class: "verdicts" }, ...notes.map(([grade, words]) => {
    const [kind, mark] = GRADES[grade];
    return element("li", { class: kind }, element("b", { role: "img", "aria-label": grade, title: grade }, mark), element("span", {}, words));
  }));
}

// What only informs is folded if something else is there to be read first.
function notes() {
  const grave = data.notes.filter(([grade]) => grade !== "information");
  const other = data.notes.slice(grave.length);
  if (!grave.length || !other.length) return [list(data.notes)];
  return [list(grave), element("details", {}, element("summary", {}, `For information: ${count(other.length)}`), list(other))];
}

page.append(element("p", { class: "about" }, data.about));
section("Scores", metrics());
if (data.notes.length) section("Notes", ...notes());
section("Outcomes", outcomes());
if (data.derived.length) section("Figures over all samples", facts(data.derived));
if (data.facts.length) section("Usage", facts(data.facts));
section("Samples", ...samples());
section("Settings", element("p", { class: "dim" }, "This command starts the same evaluation:"), element("pre", scrolls("Command"), data.command));
for (const [heading, rows] of data.settings) {
  const table = element("table", { class: "settings" }, element("tbody", {}, ...rows.map(([key, value]) => element("tr", {}, element("td", {}, key), element("td", {}, value)))));
  page.append(element("details", {}, element("summary", {}, heading), element("div", scrolls(heading), table)));
}
