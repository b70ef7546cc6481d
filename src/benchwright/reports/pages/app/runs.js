// #/runs: all runs of the workspace, newest first: searched, filtered, sorted and grouped by the server, and kept up to date.

import { get } from "./api.js";
import { figure, h, name, say, svg } from "./dom.js";
import { count, duration, fixed, money, score } from "./figures.js";
import { isLive, progress, watch } from "./live.js";
import { pageOf } from "./of_run.js";
import { empty } from "./states.js";

/** @typedef {import("./rest.js").RunBody} RunBody */
/** @typedef {{ chosen: Set<number>, histories: import("./rest.js").RunPage["histories"] }} Around */

/** @type {Record<string, string>} */
const KINDS = { benchmark: "benchmark", workflow: "workflow", load: "load test" };
const STATUSES = ["queued", "running", "completed", "failed", "interrupted", "canceled"];
/** @type {Record<string, string>} */
const SORTS = { newest: "newest first", oldest: "oldest first", name: "by name", model: "by model", headline: "highest result first",
  failures: "most failures first", cost: "most expensive first", duration: "longest first" };
const FIELDS = ["q", "kind", "status", "name", "model", "suite", "tag", "data", "sort"];
const GROUPS = { "": "no groups", name: "grouped by name", suite: "grouped by suite" };
const AT_ONCE = 100, MOST = 1000, SETTLE_MS = 200;

/** The address of the history of a name. @param {string} name */
export const historyOf = (name) => `#/history/${encodeURIComponent(name)}`;

/** The address of the page of a suite. @param {string} name */
export const suiteOf = (name) => `#/suites/${encodeURIComponent(name)}`;

/** One row per column: its heading, the name of its style, and its cell for a run.
 *  @type {[string, string, (run: RunBody, around: Around) => (Node | string | null)[]][]} */
const COLUMNS = [
  ["", "choose", choose],
  ["Run", "id", (run) => [figure("id", String(run.id))]],
  ["Name", "name", title],
  ["Kind", "kind", (run) => [figure("kind", KINDS[run.kind] ?? run.kind)]],
  ["Model", "model", model],
  ["Result", "result", result],
  ["Status", "status", status],
  ["Failures", "failures", failures],
  ["Cost", "cost", cost],
  ["Duration", "duration", (run) => (run.duration_s === null ? none() : [figure("duration_s", duration(run.duration_s))])],
];

/** A cell with nothing in it. */
function none() {
  return [h("span", { class: "none" }, "–")];
}

/** @param {RunBody} run @param {Around} around */
function choose(run, { chosen }) {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: `choose-${run.id}`, "aria-label": `Compare run ${run.id}`, value: run.id }));
  box.checked = chosen.has(run.id);
  return [box];
}

/** @param {RunBody} run @param {Around} around */
function title(run, { histories }) {
  const link = h("a", { href: pageOf(run) }, name("name", run.name));
  const points = histories[run.name] ?? [];
  const data = run.data?.name ? h("div", { class: "dim", title: `data ${run.data.hash}` }, "on ", name("data.name", run.data.name)) : null;
  return [link, points.length > 1 && run.kind === "benchmark" ? spark(run, points) : null, data];
}

/** The headline of the last runs of this name, with this run's own marked. @param {RunBody} run @param {import("./rest.js").HistoryPoint[]} points */
function spark(run, points) {
  const values = points.map(({ value }) => value), low = Math.min(...values), high = Math.max(...values);
  const x = (/** @type {number} */ place) => 3 + (54 * place) / (points.length - 1), y = (/** @type {number} */ value) => (high === low ? 9 : 15 - (12 * (value - low)) / (high - low));
  const own = points.findIndex(({ run_id: id }) => id === run.id);
  return h("a", { class: "history", href: historyOf(run.name), "aria-label": `History of ${run.name}: ${points.length} runs` },
    svg("svg", { class: "spark", viewBox: "0 0 60 18", "aria-hidden": "true" },
      svg("path", { d: points.map(({ value, joined }, place) => `${joined ? "L" : "M"}${fixed(x(place), 1)} ${fixed(y(value), 1)}${joined || points[place + 1]?.joined ? "" : "h.1"}`).join("") }), // a run by itself is a point
      own < 0 ? null : svg("circle", { cx: fixed(x(own), 1), cy: fixed(y(values[own]), 1), r: 2.5 })));
}

/** @param {RunBody} run */
function model(run) {
  if (!run.model_name || run.model_name === run.model) return run.model ? [name("model", run.model)] : none();
  if (run.model_name.split(" (")[0] === run.model) return [name("model_name", run.model_name)];
  return run.model ? [name("model_name", run.model_name), " (", name("model", run.model), ")"] : [name("model_name", run.model_name)];
}

/** @param {RunBody} run */
function result(run) {
  const found = run.headline;
  if (found === null) return [h("span", { class: "dim" }, run.finished_at === null ? "no result yet" : "no result")];
  if (found.value === undefined) return [figure("headline.text", found.text)];
  const interval = found.ci_low === null ? ["no interval"] :
    ["95 % CI ", figure("headline.ci_low", score(found.ci_low)), " – ", figure("headline.ci_high", score(found.ci_high))];
  return [
    figure("headline.value", score(found.value), "value"), " ", name("headline.name", found.name),
    h("div", { class: "dim" }, h("span", { class: "whole" }, ...interval, ","), " ",
      h("span", { class: "whole" }, "n = ", figure("headline.n", count(found.n)))),
  ];
}

/** @param {RunBody} run */
function status(run) {
  const limited = run.status === "completed" && run.comparable === false;
  return [
    figure("status", run.status, `status-${run.status}`),
    limited ? h("div", { class: "warn", "data-json": "comparable" }, "not comparable") : null,
    isLive(run) ? progress(run) : null,
  ];
}

/** @param {RunBody} run */
function failures(run) {
  if (run.failed === null) return none();
  if (run.failed === 0) return [figure("failed", "0", "zero")];
  return [h("span", { class: "warn" }, figure("failed", count(run.failed)), " of ", figure("evaluated", count(run.evaluated ?? 0)))];
}

/** @param {RunBody} run */
function cost(run) {
  return run.cost?.amount === undefined || run.cost.amount === null ? none() : [figure("cost.amount", money(run.cost.amount, run.cost.currency))];
}

/** @param {RunBody} run @param {Around} around */
function row(run, around) {
  const cells = COLUMNS.map(([, style, cell]) => h("td", { class: style, role: "cell" }, ...cell(run, around)));
  return h("tr", { role: "row", "data-run": run.id }, ...cells);
}

/** @param {string} field @param {string} label @param {[string, string][]} options @param {URLSearchParams} query */
function select(field, label, options, query) {
  const found = /** @type {HTMLSelectElement} */ (h("select", { id: `by-${field}`, name: field, "aria-label": label },
    ...options.map(([value, words]) => h("option", { value }, words))));
  const now = query.get(field) ?? options[0][0];
  if (!options.some(([value]) => value === now)) found.append(h("option", { value: now }, now));
  found.value = now;
  return found;
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function runs({ signal, query }) {
  const asked = new URLSearchParams([...query].filter(([field]) => FIELDS.includes(field)));
  const chosen = new Set((query.get("runs") ?? "").split(",").filter(Boolean).map(Number));
  let grouped = query.get("group") ?? "", shown = new Map(), loading = 0;
  /** @param {number} limit @param {number | null} after @returns {Promise<import("./rest.js").RunPage>} */
  const read = (limit, after = null) => get(`/runs?brief=true&limit=${limit}&${asked}${after === null ? "" : `&after=${after}`}`, signal);
  let page = await read(AT_ONCE);
  if (query.has("follow")) await followed(page, Number(query.get("follow")), signal);
  if (page.runs.length === 0 && [...asked].every(([field]) => field === "sort")) {
    watch(signal, ({ runs: changed }) => changed.length && dispatchEvent(new HashChangeEvent("hashchange")));
    return [empty("No runs yet", "Runs of this workspace appear here. Start one, on your own file of questions and answers:", "benchwright run FILE --model demo")];
  }
  const around = { chosen, histories: page.histories };
  const heads = COLUMNS.map(([heading, style]) => h("th", { class: style, scope: "col", role: "columnheader" }, heading === "" ? h("span", { class: "hidden" }, "Compare") : heading));
  const table = h("table", { class: "runs", role: "table", "aria-label": "Runs" }, h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...heads)));
  const body = h("tbody", { role: "rowgroup" });
  table.append(body);
  const total = h("p", { class: "about", role: "status" });
  const trouble = h("p", { class: "bad-text", role: "alert" });
  const older = h("button", { type: "button", onclick: more }, "Show older runs");
  const foot = h("div", { class: "foot" }, trouble, older);
  const compare = h("a", { class: "button", href: "#/runs" }, "");
  const tools = filters();

  function filters() {
    /** @param {string} field @param {string} all @returns {[string, string][]} */
    const of = (field, all) => [["", all], ...page.choices[field].map((value) => /** @type {[string, string]} */ ([value, field === "data" ? value.replace("sha256:", "").slice(0, 12) : value]))];
    const search = /** @type {HTMLInputElement} */ (h("input", { type: "search", id: "by-q", name: "q", placeholder: "Search runs", "aria-label": "Search runs" }));
    search.value = asked.get("q") ?? "";
    const choices = ["name", "model", "suite", "tag", "data"].filter((field) => page.choices[field].length > (field === "suite" ? 0 : 1) || asked.has(field));
    const fields = [
      select("kind", "Kind", [["", "all kinds"], ...Object.entries(KINDS)], asked),
      select("status", "Status", [["", "every status"], ...STATUSES.map((each) => /** @type {[string, string]} */ ([each, each]))], asked),
      ...choices.map((field) => select(field, field, of(field, /** @type {Record<string, string>} */ ({ name: "all names", model: "all models", suite: "all suites", tag: "all tags", data: "all data" })[field]), asked)),
      select("sort", "Order", Object.entries(SORTS), asked),
    ];
    const group = select("group", "Groups", Object.entries(GROUPS).filter(([by]) => by !== "suite" || page.choices.suite.length), query);
    group.addEventListener("change", () => { grouped = group.value; note(true); draw(); });
    let waiting = 0;
    search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => set("q", search.value.trim(), false), SETTLE_MS); });
    for (const field of fields) field.addEventListener("change", () => set(field.name, field.value, true));
    return h("div", { class: "tools filters", role: "search" }, search, ...fields, group, compare);
  }

  /** Put the state of the page into its address. @param {boolean} step whether the back button returns here */
  function note(step) {
    const state = new URLSearchParams(asked);
    if (grouped) state.set("group", grouped);
    if (chosen.size) state.set("runs", [...chosen].join(","));
    const address = `#/runs${state.size ? `?${state}` : ""}`;
    history[step ? "pushState" : "replaceState"](null, "", address);
  }

  /** @param {string} field @param {string} value @param {boolean} step */
  function set(field, value, step) {
    if (value === "" || (field === "sort" && value === "newest")) asked.delete(field);
    else asked.set(field, value);
    note(step);
    load(AT_ONCE);
  }

  /** @param {number} limit */
  async function load(limit) {
    const turn = (loading += 1);
    table.setAttribute("aria-busy", "true");
    say(trouble, "");
    try {
      const found = await read(limit);
      if (turn !== loading) return; // a later question was asked meanwhile
      page = found;
      draw();
    } catch (error) {
      if (error.name !== "AbortError" && turn === loading) say(trouble, `${error.message} ${error.hint ?? ""}`);
    } finally {
      if (turn === loading) table.removeAttribute("aria-busy");
    }
  }

  /** Draw the rows; those that are the same stay as they are, so that nothing jumps and the focus stays. */
  function draw() {
    around.histories = page.histories;
    const next = new Map(), rows = [];
    /** @type {[string | null, RunBody[]][]} */
    const order = grouped ? [...Map.groupBy(page.runs, (run) => run[/** @type {"name" | "suite"} */ (grouped)] ?? "")] : [[null, page.runs]];
    for (const [group, of] of order) {
      if (group !== null) rows.push(h("tr", { class: "group", role: "row" }, h("th", { colspan: COLUMNS.length, role: "rowheader" }, groupName(group), ` (${count(of.length)})`)));
      for (const run of of) {
        const text = JSON.stringify([run, page.histories[run.name]]), before = shown.get(run.id);
        const element = before?.text === text ? before.element : row(run, around);
        next.set(run.id, { text, element });
        rows.push(element);
      }
    }
    shown = next;
    if (rows.some((element, place) => body.children[place] !== element) || body.childElementCount !== rows.length) {
      const focused = document.activeElement?.id;
      body.replaceChildren(...rows);
      if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
    }
    const number = page.runs.length, order_ = SORTS[asked.get("sort") ?? "newest"];
    say(total, number === 0 ? "No run passes this filter." :
      `${count(number)}${page.next === null ? "" : ` of ${count(page.total)}`} ${number === 1 ? "run" : "runs"}, ${order_}${page.next === null ? "" : "; there are more"}`);
    table.hidden = number === 0;
    foot.hidden = page.next === null && trouble.textContent === "";
    say(older, asked.has("sort") ? "Show more runs" : "Show older runs");
    table.classList.toggle("costless", !page.runs.some((run) => run.cost?.amount));
    compared();
  }

  /** @param {string} group */
  function groupName(group) {
    if (group === "") return h("span", { class: "dim" }, "in no suite");
    return grouped === "suite" ? h("a", { href: suiteOf(group) }, h("bdi", {}, group)) : h("bdi", {}, group);
  }

  function compared() {
    compare.hidden = chosen.size === 0;
    say(compare, chosen.size < 2 ? "Choose another run to compare" : `Compare ${chosen.size} runs`);
    if (chosen.size < 2) compare.removeAttribute("href");
    else compare.setAttribute("href", `#/compare?runs=${[...chosen].join(",")}`);
  }

  body.addEventListener("change", ({ target }) => {
    const box = /** @type {HTMLInputElement} */ (target);
    if (box.checked) chosen.add(Number(box.value));
    else chosen.delete(Number(box.value));
    note(false);
    compared();
  });

  async function more() {
    older.disabled = true;
    say(trouble, "");
    try {
      const found = await read(AT_ONCE, page.next), first = found.runs[0]?.id;
      page = { ...found, runs: [...page.runs, ...found.runs], histories: { ...page.histories, ...found.histories } };
      draw();
      if (foot.hidden && first !== undefined) { // the button that had the focus is gone
        const element = shown.get(first).element;
        element.setAttribute("tabindex", "-1");
        element.focus();
      }
    } catch (error) {
      if (error.name !== "AbortError") say(trouble, `${error.message} ${error.hint ?? ""}`);
    } finally {
      older.disabled = false;
    }
  }

  let due = 0;
  function again() { // once for all news of a second
    due ||= setTimeout(() => { due = 0; if (!signal.aborted) load(Math.min(MOST, Math.max(AT_ONCE, page.runs.length))); }, shown.size < 2 ? 0 : SETTLE_MS);
  }
  watch(signal, ({ runs: changed, removed, last, first }) => {
    const known = new Map(page.runs.map((run, index) => [run.id, index]));
    const newest = Math.max(0, ...known.keys());
    const stale = first && page.runs.some((run) => isLive(run) && !changed.some(({ id }) => id === run.id));
    let drawn = false;
    for (const run of changed) {
      const index = known.get(run.id);
      if (index === undefined) continue;
      if (page.runs[index].status !== run.status) again();
      page.runs[index] = run;
      drawn = true;
    }
    if (drawn) draw();
    if (stale || removed.some((id) => known.has(id)) || (last > newest && !asked.size) || changed.some(({ id }) => !known.has(id) && id > newest)) again();
  });
  draw();
  return [h("h1", { tabindex: "-1" }, "Runs"), tools, total, table, foot];
}

/** Wait for a run with a higher number, and go to its page. @param {import("./rest.js").RunPage} page @param {number} number @param {AbortSignal} signal */
function followed(page, number, signal) {
  return new Promise((stay) => {
    const go = (/** @type {RunBody[]} */ runs) => {
      const found = runs.filter(({ id }) => id > number).sort((one, other) => one.id - other.id)[0];
      if (found) location.replace(pageOf(found));
      return found !== undefined;
    };
    if (go(page.runs)) return;
    watch(signal, ({ runs: changed }) => go(changed));
    stay(undefined);
  });
}
