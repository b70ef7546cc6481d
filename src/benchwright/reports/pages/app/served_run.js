// #/runs/7: the page of a benchmark run, as a server shows it.

import { get } from "./api.js";
import { agreement, anySeed } from "./blind.js";
import { distributions } from "./distributions.js";
import { figure, h, name } from "./dom.js";
import { count, plural } from "./figures.js";
import { run } from "./run.js";
import { isLive } from "./live.js";
import { pageOf, trail } from "./of_run.js";
import { link } from "./sample_filter.js";
import { ways as by } from "./slices.js";

const GROUPS = [["wrong", "wrong", "verdict=wrong"], ["failed", "without a score", "scored=false"], ["scored", "neither right nor wrong", "verdict=neither"], ["right", "right", "verdict=right"]];

/** The way to the samples. @param {string} id @param {Record<string, number>} counts */
export function ways(id, counts) {
  const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
  if (!total) return [h("p", { class: "dim" }, "This run has no samples.")];
  const found = GROUPS.filter(([group]) => counts[group]).map(([group, words, filter]) =>
    h("li", {}, h("a", { class: "way", href: link(id, filter) }, h("b", { "data-json": `page.counts.${group}` }, count(counts[group])), ` ${words}`)));
  return [h("ul", { class: "ways" }, ...found, h("li", {}, h("a", { class: "way", href: link(id, "") }, `all ${plural(total, "sample")}`)))];
}

/** How far people checked the judge's grades, and the ways to do so. @param {string} id @param {Record<string, any>} judged @param {AbortSignal} signal */
function judge(id, judged, signal) {
  const blindly = h("a", { href: `#/blind?${new URLSearchParams({ runs: id, seed: anySeed() })}` }, judged.labelled ? "Grade more replies blindly" : "Grade replies blindly");
  const said = h("div", {}, h("p", { "data-json": "judged.text" }, judged.text));
  if (judged.labelled) get(`/agreement?runs=${id}`, signal).then((found) => said.replaceChildren(...agreement(found, false)), () => {}); // the counts stay, if they cannot be compared
  return [said, h("p", {}, blindly, " · ", h("a", { href: `#/labels?${new URLSearchParams({ run: id, kind: "judge" })}` }, "Labels of this run"))];
}

/** Distributions, as soon as the server has read all samples. The page is shown before. @param {string} id @param {AbortSignal} signal */
function later(id, signal) {
  const part = h("div", { class: "later", "aria-busy": "true" }, h("p", { class: "dim" }, "Reading the samples…"));
  get(`/runs/${id}/distributions`, signal).then(
    (found) => part.replaceChildren(...distributions(found, (sample) => `#/runs/${id}/samples/${sample}`)),
    (error) => { if (error.name !== "AbortError") part.replaceChildren(h("p", { class: "bad-text", role: "alert" }, `The distributions could not be read: ${error.message}`)); },
  ).finally(() => part.setAttribute("aria-busy", "false"));
  return part;
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function servedRun(place) {
  const [id] = place.ids;
  const found = await get(`/runs/${id}/details`, place.signal);
  const { run: about, page } = found;
  if (pageOf(about) !== `#/runs/${id}`) { // a load test or a workflow
    location.replace(pageOf(about));
    return [];
  }
  place.title = `${about.name}, run ${id}`;
  place.live = isLive(about);
  if (about.kind !== "benchmark" || page === null) {
    const said = about.progress ? `${count(about.progress.done)} samples done so far.` : about.error ?? "";
    return [trail(about), h("h1", { tabindex: "-1" }, name("run.name", about.name), ` on `, name("run.model", about.model ?? "–")),
      h("p", { class: "about" }, `Run ${id}, `, figure("run.status", about.status), ". ", "There is no result yet. ", said),
      ...(found.recorded ? [h("p", {}, h("a", { href: link(id, "") }, `Show the ${plural(found.recorded, "sample")} recorded so far`))] : [])];
  }
  const parts = run(page, { samples: ways(id, page.counts), slices: page.columns.length && page.metrics.length ? [h("p", { class: "dim" }, "The headline by a column of the data:"), by(id, page.columns)] : [], judge: found.judged ? judge(id, found.judged, place.signal) : [], link: (filter) => link(id, filter), later: later(id, place.signal) });
  return [trail(about), h("div", { class: "run" }, h("h1", { tabindex: "-1", class: found.summary.comparable ? null : "bad", "data-json": "sentence" }, found.sentence), ...parts)];
}
