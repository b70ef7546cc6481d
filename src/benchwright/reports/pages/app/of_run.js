// What the pages of all kinds of runs have above their results: the way back, the history of the name, and the tags.

import { at, figure, h, name } from "./dom.js";
import { historyOf, suiteOf } from "./runs.js";

/** @typedef {{ id: number, name: string, suite: string | null, tags: Record<string, any> | null }} About */

/** The address of a run's page. @param {{ kind: string, id: number | string }} run */
export const pageOf = ({ kind, id }) => `#/${{ load: "load", workflow: "workflows" }[kind] ?? "runs"}/${id}`;

/** The tags of a run, each with the runs that have it too. @param {About} about */
function tags({ tags: found }) {
  return Object.entries(found ?? {}).map(([key, value]) =>
    h("a", { class: "tag", href: `#/runs?tag=${encodeURIComponent(`${key}=${value}`)}`, title: "Runs with this tag" }, `${key}=`, figure(at("run", "tags", key), String(value))));
}

/** @param {About} about @returns {Node} */
export function trail(about) {
  const suite = about.suite === null ? [] : [" · ", h("a", { href: suiteOf(about.suite) }, "Suite ", name("run.suite", about.suite))];
  return h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " · ", h("a", { href: historyOf(about.name) }, "History of ", h("bdi", {}, about.name)), ...suite, " ", ...tags(about));
}
