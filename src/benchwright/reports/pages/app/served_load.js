// #/load/9: the page of a load test, as a server shows it.

import { get } from "./api.js";
import { h, name } from "./dom.js";
import { isLive } from "./live.js";
import { load } from "./load.js";
import { trail } from "./of_run.js";

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function servedLoad(place) {
  const [id] = place.ids;
  const page = await get(`/runs/${id}/load`, place.signal);
  place.title = `Load test ${page.run.name}, run ${id}`;
  place.live = isLive(page.run);
  return [trail(page.run),
    h("h1", { tabindex: "-1" }, "Load test: ", name("run.name", page.run.name), " on ", name("run.model", page.run.model ?? "–")), ...load(page)];
}
