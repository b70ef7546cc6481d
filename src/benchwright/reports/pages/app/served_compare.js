// #/compare?runs=1,2,3: a comparison, as a server shows it.

import { get } from "./api.js";
import { compare } from "./compare.js";
import { h, quoted } from "./dom.js";

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function servedCompare(place) {
  const runs = place.query.get("runs") ?? "", by = place.query.get("by"), metric = place.query.get("metric"), force = place.query.get("force") === "true";
  const asked = { runs, ...(by ? { by } : {}), ...(metric ? { metric } : {}), ...(force ? { force: "true" } : {}) };
  const found = await get(`/compare?${new URLSearchParams(asked)}`, place.signal);
  const title = `Runs ${runs.split(",").join(", ")} compared`;
  place.title = title;
  place.command = `benchwright compare ${runs.split(",").join(" ")}${by ? ` --by ${quoted(by)}` : ""}${metric ? ` --metric ${quoted(metric)}` : ""}${force ? " --force" : ""}`;
  return [h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs")),
    h("div", { class: "compare" }, h("h1", { tabindex: "-1" }, title), ...compare(found, { linked: true }))];
}
