// #/suites/NAME: a suite, as a server shows it.

import { get } from "./api.js";
import { decoded, h, name, quoted } from "./dom.js";
import { suite } from "./suite.js";

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function servedSuite(place) {
  const asked = decoded(place.ids[0]);
  /** @type {import("./suite.js").SuitePage & { suite: string }} */
  const found = await get(`/suites?${new URLSearchParams({ name: asked })}`, place.signal);
  const failed = found.runs.filter(({ outcomes }) => !outcomes.length).length;
  place.title = `Suite ${asked}`;
  const runs = found.runs.map(({ id }) => id).join(",");
  return [h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " · ", h("a", { href: `#/runs?${new URLSearchParams({ suite: asked })}` }, "Runs of this suite")),
    h("div", { class: "suite" }, h("h1", { tabindex: "-1", class: failed ? "bad" : null }, "Suite ", name("suite", found.suite)), ...suite(found, { link: (id) => `#/runs/${id}` }),
      found.runs.length > 1 && found.runs.length <= 8 && new Set(found.lines.map(({ dataset }) => dataset)).size === 1 ? h("p", {}, h("a", { class: "button", href: `#/compare?runs=${runs}` }, "Compare these runs sample by sample")) : "",
      h("p", { class: "dim" }, "The command that writes this page as one file: ", h("code", {}, `benchwright report ${quoted(asked)} -o suite.html`)))];
}
