// #/workflows/4: the page of a workflow run, as a server shows it.

import { get } from "./api.js";
import { h, name } from "./dom.js";
import { workflow } from "./workflow.js";

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function servedWorkflow(place) {
  const [id] = place.ids;
  const found = await get(`/runs/${id}/details`, place.signal);
  place.title = `${found.run.name}, run ${id}`;
  return [h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs")), h("h1", { tabindex: "-1" }, "Workflow ", name("run.name", found.run.name)), ...workflow(found)];
}
