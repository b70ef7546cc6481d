// #/blind?runs=7&seed=3: grade replies without knowing the model or the judge's verdict, with one key for each grade.

import { get, post, readOnly } from "./api.js";
import { figure, h, notes, say, scrolls } from "./dom.js";
import { count } from "./figures.js";

/** @typedef {{ run_id: number, sample_id: number, repeat: number, prompt: string | null, response: string | null, target: string | null, label: string | null }} Blind */

/** A new order. */
export const anySeed = () => String(Math.floor(Math.random() * 1e6));

/** @param {string} heading @param {string | null} words */
const box = (heading, words) => (words === null || words === undefined || words === "" ? [] : [h("h2", {}, heading), h("pre", scrolls(heading, "said-text"), words)]);

/** How far people and the judge agree. @param {any} found of /agreement @param {boolean} linked whether runs are named and linked @returns {Node[]} */
export function agreement({ runs }, linked = true) {
  const lines = Object.entries(runs).filter(([, each]) => each !== null).map(([run, each]) => {
    const json = (/** @type {string} */ key) => `runs.${run}.${key}`;
    return h(linked ? "li" : "div", {}, ...(linked ? [h("a", { href: `#/runs/${run}` }, `Run ${run}`), ": "] : []), figure(json("sentence"), each.sentence), ...(linked ? notes(each.notes) : [])); // the page of a run has them
  });
  const numbers = Object.entries(runs).filter(([, each]) => each !== null).map(([run]) => `benchwright judge-calibrate --labels ${run} --disagreements`);
  return lines.length ? [...(linked ? [h("h2", {}, "Agreement so far"), h("ul", {}, ...lines)] : lines), h("p", { class: "dim" }, "Where they differ, with the judge's reasons:"), h("pre", scrolls("Command"), numbers.join("\n"))] : [h("p", {}, "There is no label to compare yet.")];
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function blind(place) {
  const { query, signal } = place, runs = query.get("runs") ?? "";
  place.title = "Blind grading";
  const top = h("h1", { tabindex: "-1" }, "Grade replies");
  if (runs === "") {
    const which = /** @type {HTMLInputElement} */ (h("input", { id: "runs", name: "runs", required: "", placeholder: "7 or 7,8", autocomplete: "off" }));
    return [top, h("p", {}, "Shows replies of runs with a judge in random order, without the model and without the judge's grade."),
      h("form", { class: "tools", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); location.hash = `#/blind?${new URLSearchParams({ runs: which.value, seed: anySeed() })}`; } }, h("label", { class: "field" }, h("span", {}, "runs"), which), h("button", { type: "submit" }, "Begin"))];
  }
  if (!query.has("seed")) history.replaceState(null, "", `${location.pathname}#/blind?${new URLSearchParams({ runs, seed: anySeed() })}`);
  const seed = new URLSearchParams(location.hash.replace(/^[^?]*\??/, "")).get("seed") ?? "0";
  const found = await get(`/blind?${new URLSearchParams({ runs, seed, limit: query.get("limit") ?? "50" })}`, signal);
  /** @type {Blind[]} */
  const samples = found.samples;
  /** @type {string[]} */
  const grades = found.grades;
  let now = Math.max(0, samples.findIndex(({ label }) => label === null));
  if (samples.every(({ label }) => label !== null)) now = samples.length;
  const said = h("p", { class: "about", role: "status" }), shown = h("div", {}), trouble = h("p", { class: "bad-text", role: "alert" });
  const keys = (/** @type {number} */ at) => (at < 9 ? String(at + 1) : "");
  const buttons = grades.map((grade, at) => h("button", { type: "button", class: "grade", "data-grade": grade, "aria-keyshortcuts": keys(at), onclick: () => give(grade) }, `${grade} (${keys(at)})`));
  const back = h("button", { type: "button", "aria-keyshortcuts": "k", onclick: () => move(-1) }, "← Back (k)"), skip = h("button", { type: "button", "aria-keyshortcuts": "j", onclick: () => move(1) }, "Skip (j) →");
  const end = h("button", { id: "end", type: "button", "aria-keyshortcuts": "e", onclick: () => { now = samples.length; draw(); } }, "End (e)");
  const bar = h("div", { class: "tools grades", role: "group", "aria-label": "Grades" }, ...buttons, back, skip, end);
  const hint = h("p", { class: "dim" }, `${readOnly() ? "This tab only reads, so that it cannot grade." : "Press the number of a grade."} The order is that of seed ${seed}, which is in the address.`);
  let busy = false;

  async function draw() {
    const done = samples.filter(({ label }) => label !== null).length;
    say(said, now < samples.length ? `Reply ${count(now + 1)} of ${count(samples.length)}, ${count(done)} graded.` : `${count(done)} of ${count(samples.length)} graded.`);
    for (const button of [...buttons, skip, end]) button.disabled = now >= samples.length || (readOnly() && buttons.includes(button));
    back.disabled = now === 0;
    if (now < samples.length) {
      hint.hidden = false;
      const each = samples[now];
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.grade === each.label));
      shown.replaceChildren(...box("Prompt", each.prompt), ...box("Reply", each.response ?? "There is no reply."), ...box("Target", each.target));
      return;
    }
    hint.hidden = true;
    shown.replaceChildren(h("p", { class: "dim" }, "Comparing…"));
    try {
      shown.replaceChildren(...agreement(await get(`/agreement?${new URLSearchParams({ runs })}`, signal)));
    } catch (error) {
      if (error.name !== "AbortError") shown.replaceChildren(h("p", { class: "bad-text" }, `${error.message} ${error.hint ?? ""}`));
    }
  }

  /** @param {number} step */
  function move(step) {
    now = Math.max(0, Math.min(samples.length, now + step));
    draw();
  }

  /** @param {string} grade */
  async function give(grade) {
    if (busy || now >= samples.length || readOnly()) return;
    busy = true;
    say(trouble, "");
    const each = samples[now];
    try {
      await post(`/runs/${each.run_id}/samples/${each.sample_id}/${each.repeat}/labels`, { kind: "judge", value: grade });
      each.label = grade;
      move(1);
    } catch (error) {
      say(trouble, `${error.message} ${error.hint ?? ""}`);
    } finally {
      busy = false;
    }
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(/** @type {Element | null} */ (event.target)?.tagName ?? "")) return;
    const at = "123456789".indexOf(event.key);
    if (event.key.length === 1 && at >= 0 && at < grades.length) give(grades[at]);
    if (event.key === "j") move(1);
    if (event.key === "k") move(-1);
    if (event.key === "e") { now = samples.length; draw(); }
  }, { signal });
  await draw();
  return [top, said, bar, trouble, shown, hint];
}
