// #/search?q=…: a text in all runs: their names, models and tags, and what was sent, replied, expected and judged.

import { get } from "./api.js";
import { at, figure, h, name, say, section } from "./dom.js";
import { count, plural } from "./figures.js";
import { pageOf } from "./of_run.js";

/** @typedef {import("./rest.js").FoundSample} FoundSample */
/** @typedef {import("./rest.js").SearchPage} SearchPage */

const AT_ONCE = 25, MOST_EMPTY = 40;
/** @type {Record<string, string>} */
const FIELDS = { prompt: "prompt", reply: "reply", reasoning: "reasoning", target: "target", judge: "judge's reply" };

/** @param {any} run @param {number} place */
function runLine(run, place) {
  const words = [h("b", {}, name(at("runs", place, "name"), run.name)), run.model ? h("span", {}, " on ", h("bdi", {}, run.model)) : null];
  const way = h("a", { href: pageOf({ kind: run.kind, id: run.run_id }) }, ...words);
  return h("li", {}, way, h("span", { class: "dim" }, ` run `, figure(at("runs", place, "run_id"), String(run.run_id)), `, ${run.kind}, ${run.status}`));
}

/** @param {FoundSample} found */
function hit(found) {
  return h("li", { class: "hit", "data-sample": `${found.run_id}/${found.sample_id}/${found.repeat}` },
    h("div", {}, h("a", { href: `#/runs/${found.run_id}/samples/${found.sample_id}/${found.repeat}` }, `Run ${found.run_id}, sample ${found.sample_id}/${found.repeat}`),
      h("span", { class: "dim" }, ` ${FIELDS[found.field] ?? found.field} · `, h("bdi", {}, found.name), found.model ? h("span", {}, " on ", h("bdi", {}, found.model)) : null)),
    h("p", { class: "excerpt" }, found.before, h("mark", {}, found.match), found.after));
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function search(place) {
  const q = place.query.get("q") ?? "", { signal } = place;
  const box = h("input", { id: "q", name: "q", type: "search", value: q, autocomplete: "off", "aria-label": "Text to search for" });
  const form = h("form", { class: "tools", role: "search", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    location.hash = `#/search?${new URLSearchParams({ q: box.value })}`;
  } }, box, h("button", { id: "go", type: "submit" }, "Search"));
  const top = [h("h1", { tabindex: "-1" }, "Search"), form];
  if (!q.trim()) return [...top, h("p", { class: "dim" }, "Finds a text in the names, models and tags of all runs, and in prompts, replies, reasoning, targets and judges' replies of their samples.")];
  place.title = `Search for ${q}`;
  /** @type {SearchPage} */
  const first = await get(`/search?${new URLSearchParams({ q, limit: String(AT_ONCE) })}`, signal);
  const list = h("ul", { class: "hits" }), said = h("p", { class: "about", role: "status" }), trouble = h("p", { class: "bad-text", role: "alert" });
  const further = h("button", { id: "more", type: "button", onclick: () => more(true) }, "Look further");
  const stop = h("button", { id: "stop", type: "button", onclick: () => { running = false; } }, "Stop looking");
  let next = /** @type {string | null} */ (null), looked = 0, running = true;

  /** @param {SearchPage} page */
  function add(page) {
    list.append(...page.samples.map(hit));
    next = page.next;
    looked += page.looked;
    const where = next === null ? `Looked at everything: ${plural(looked, "record")} of ${plural(page.runs_there, "benchmark run")}.` :
      `Looked at ${plural(looked, "record")} so far, in ${count(page.runs_looked)} of ${plural(page.runs_there, "benchmark run")}, newest first.`;
    say(said, `${plural(list.childElementCount, "place")} found. ${where}`);
    further.hidden = next === null;
  }

  /** @param {boolean} moved */
  async function more(moved) {
    const before = list.childElementCount, enough = before + AT_ONCE;
    running = true;
    further.disabled = true;
    stop.hidden = false;
    say(trouble, "");
    try {
      for (let pages = 0; running && next !== null && list.childElementCount < enough && pages < MOST_EMPTY; pages += 1) {
        add(await get(`/search?${new URLSearchParams({ q, limit: String(AT_ONCE), after: next })}`, signal));
      }
      if (moved) list.children[before]?.querySelector("a")?.focus();
    } catch (error) {
      if (error.name !== "AbortError") say(trouble, `${error.message} ${error.hint ?? ""}`);
    } finally {
      further.disabled = false;
      stop.hidden = true;
    }
  }

  add(first);
  stop.hidden = true;
  if (next !== null && list.childElementCount < AT_ONCE) more(false); // goes on while the first ones are read
  return [...top, said, ...section("Runs", first.runs.length ? h("ul", { class: "hits" }, ...first.runs.map(runLine)) : null),
    h("h2", {}, "Samples"), list, h("div", { class: "foot" }, trouble, further, " ", stop)];
}
