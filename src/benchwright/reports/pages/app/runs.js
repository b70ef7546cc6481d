// #/runs: all runs of the workspace, newest first.

import { get } from "./api.js";
import { figure, h, name } from "./dom.js";
import { count, duration, score } from "./figures.js";
import { empty } from "./states.js";

const KINDS = { benchmark: "benchmark", workflow: "workflow", load: "load test" };
const AT_ONCE = 100;

/** One row per column: its heading, the name of its style, and its cell for a run. */
const COLUMNS = [
  ["Run", "id", (run) => [figure("id", String(run.id))]],
  ["Name", "name", (run) => [run.kind === "benchmark" ? h("a", { href: `#/runs/${run.id}` }, name("name", run.name)) : name("name", run.name)]],
  ["Kind", "kind", (run) => [figure("kind", KINDS[run.kind] ?? run.kind)]],
  ["Model", "model", model],
  ["Result", "result", result],
  ["Status", "status", status],
  ["Failures", "failures", failures],
  ["Duration", "duration", (run) => (run.duration_s === null ? none() : [figure("duration_s", duration(run.duration_s))])],
];

/** A cell with nothing in it. */
function none() {
  return [h("span", { class: "none" }, "–")];
}

function model(run) {
  if (!run.model_name || run.model_name === run.model) return run.model ? [name("model", run.model)] : none();
  return run.model ? [name("model_name", run.model_name), " (", name("model", run.model), ")"] : [name("model_name", run.model_name)];
}

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

function status(run) {
  const limited = run.status === "completed" && run.comparable === false;
  return [
    figure("status", run.status, `status-${run.status}`),
    limited ? h("div", { class: "warn", "data-json": "comparable" }, "not comparable") : null,
  ];
}

function failures(run) {
  if (run.failed === null) return none();
  if (run.failed === 0) return [figure("failed", "0", "zero")];
  return [h("span", { class: "warn" }, figure("failed", count(run.failed)), " of ", figure("evaluated", count(run.evaluated)))];
}

function row(run) {
  const cells = COLUMNS.map(([, style, cell]) => h("td", { class: style, role: "cell" }, ...cell(run)));
  return h("tr", { role: "row", "data-run": run.id }, ...cells);
}

/** @param {{signal: AbortSignal}} place @returns {Promise<Node[]>} */
export async function runs({ signal }) {
  const first = await get(`/runs?limit=${AT_ONCE}`, signal);
  if (first.runs.length === 0) {
    return [empty("No runs yet", "Runs of this workspace appear here. Start one, on your own file of questions and answers:", "benchwright run FILE --model demo")];
  }
  const heads = COLUMNS.map(([title, style]) => h("th", { class: style, scope: "col", role: "columnheader" }, title));
  const body = h("tbody", { role: "rowgroup" });
  const total = h("p", { class: "about", role: "status" });
  const trouble = h("p", { class: "bad-text", role: "alert" });
  const older = h("button", { type: "button", onclick: more }, "Show older runs");
  const foot = h("div", { class: "foot" }, trouble, older);
  let next = null;

  function add(page) {
    body.append(...page.runs.map(row));
    next = page.next;
    const shown = body.childElementCount;
    total.textContent = `${count(shown)} ${shown === 1 ? "run" : "runs"}, newest first${next === null ? "" : "; there are older ones"}`;
    foot.hidden = next === null;
  }

  async function more() {
    older.disabled = true;
    trouble.textContent = "";
    try {
      const last = body.lastElementChild;
      add(await get(`/runs?limit=${AT_ONCE}&after=${next}`, signal));
      if (foot.hidden) { // the button that had the focus is gone
        last.nextElementSibling?.setAttribute("tabindex", "-1");
        last.nextElementSibling?.focus();
      }
    } catch (error) {
      if (error.name !== "AbortError") trouble.textContent = `${error.message} ${error.hint ?? ""}`;
    } finally {
      older.disabled = false;
    }
  }

  add(first);
  const head = h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...heads));
  return [h("h1", { tabindex: "-1" }, "Runs"), total, h("table", { class: "runs", role: "table", "aria-label": "Runs" }, head, body), foot];
}
