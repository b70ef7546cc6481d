// What the pages of all kinds of runs have above their results: the way back, the history of the name, and the tags.

import { at, figure, h } from "./dom.js";

/** @typedef {{ id: number, name: string, tags: Record<string, any> | null }} About */

/** The tags of a run, each with the runs that have it too. @param {About} about */
function tags({ tags: found }) {
  return Object.entries(found ?? {}).map(([key, value]) =>
    h("a", { class: "tag", href: `#/runs?tag=${encodeURIComponent(`${key}=${value}`)}`, title: "Runs with this tag" }, `${key}=`, figure(at("run", "tags", key), String(value))));
}

/** @param {About} about @returns {Node} */
export function trail(about) {
  return h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " · ", h("a", { href: `#/history/${encodeURIComponent(about.name)}` }, "History of ", h("bdi", {}, about.name)), " ", ...tags(about));
}
