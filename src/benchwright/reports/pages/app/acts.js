// What can be done with a run from its page: each act asks before it changes anything. Tabs that only read have none of them.

import { get, post, readOnly } from "./api.js";
import { h } from "./dom.js";
import { isLive } from "./live.js";

/** @param {string} id @param {AbortSignal} signal @param {() => void} again draws the page again @returns {Promise<Node | null>} */
export async function acts(id, signal, again) {
  if (readOnly()) return null;
  const run = await get(`/runs/${id}`, signal);
  const told = h("p", { role: "status" }), bar = h("div", { class: "tools" });
  /** @typedef {[string, string, string, () => void]} Act label, question, route, what follows */
  const all = /** @type {Act[]} */ ([
    ...(isLive(run) ? [["Cancel run", `End run ${id} now? It can be resumed.`, "cancel", again]] : [["Delete run", `Delete run ${id} with its record and its files?`, "remove", () => { location.hash = "#/runs"; }]]),
    ...(run.status === "completed" && run.kind !== "workflow" ? [["Make it the baseline", `Make run ${id} the baseline of ${run.name}?`, "bless", () => {}]] : []),
  ]);
  const show = () => bar.replaceChildren(...all.map(([label, question, path, then]) => h("button", { type: "button", onclick: () => ask(label, question, path, then) }, label)));
  function ask(label, question, path, then) {
    const yes = h("button", { type: "button", class: "sure", onclick: () => act(path, then) }, label);
    bar.replaceChildren(h("span", { role: "alert" }, question), yes, h("button", { type: "button", onclick: () => { show(); bar.querySelector("button")?.focus(); } }, "Leave it as it is"));
    yes.focus();
  }
  async function act(path, then) {
    for (const button of bar.querySelectorAll("button")) button.disabled = true;
    try {
      told.textContent = `${(await post(`/runs/${id}/${path}`, {})).message}.`;
      show();
      then();
    } catch (error) {
      told.textContent = `${error.message} ${error.hint ?? ""}`;
      show();
    }
  }
  show();
  return h("section", { class: "acts", "aria-label": "Change this run" }, bar, told);
}
