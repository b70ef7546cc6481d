// #/workflows/4: the page of a workflow run, as a server shows it.

import { get } from "./api.js";
import { h, name } from "./dom.js";
import { isLive } from "./live.js";
import { trail } from "./of_run.js";
import { ways } from "./served_run.js";
import { ways as by } from "./slices.js";
import { workflow } from "./workflow.js";

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function servedWorkflow(place) {
  const [id] = place.ids;
  const found = await get(`/runs/${id}/details`, place.signal);
  place.title = `${found.run.name}, run ${id}`;
  place.live = isLive(found.run);
  const { page } = found;
  const more = page === null ? [] : [...ways(id, page.counts), ...(page.columns.length && Object.keys(found.scores).length ? [h("p", { class: "dim" }, "The main score by a column of the rows:"), by(id, page.columns)] : [])];
  return [trail(found.run), h("h1", { tabindex: "-1" }, "Workflow ", name("run.name", found.run.name)), ...workflow(found, { ways: more, way: (sample) => `#/runs/${id}/samples/${sample}/0` })];
}
