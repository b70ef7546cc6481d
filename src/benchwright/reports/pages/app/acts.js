// What can be done with a run from its page, as the commands do it: each act asks before it changes anything. Tabs that only read have none.

import { get, post, readOnly } from "./api.js";
import { h, say } from "./dom.js";
import { isLive } from "./live.js";

/** @typedef {{ label: string, question: string, path: string, fields?: [string, string, string][], body?: (given: Record<string, string>) => object, then: () => void }} Act
 *  its button, what it asks, its route, the fields to fill in (name, label, value), the body that it sends, and what follows */

/** `a=1, b=2` as an object; a name that is no longer there is taken away. @param {string} text @param {Record<string, any>} before */
export function tagsOf(text, before) {
  const given = Object.fromEntries(text.split(",").map((each) => each.trim()).filter(Boolean).map((each) => {
    const place = each.indexOf("=");
    return place < 0 ? [each, ""] : [each.slice(0, place).trim(), each.slice(place + 1).trim()];
  }));
  return { ...Object.fromEntries(Object.keys(before).map((key) => [key, null])), ...given };
}

/** One row per act that this run allows now. @param {any} run @param {string} id @param {() => void} again @returns {Act[]} */
function allowed(run, id, again) {
  const tags = run.tags ?? {};
  const written = Object.entries(tags).map(([key, value]) => `${key}=${value}`).join(", ");
  const away = () => { location.hash = "#/runs"; };
  const ended = !isLive(run);
  /** @type {[boolean, Act][]} */
  const rows = [
    [!ended, { label: "Cancel run", question: `End run ${id} now? It can be resumed.`, path: "cancel", then: again }],
    [ended && run.status !== "completed" && run.kind !== "load", { label: "Resume run", question: `Resume run ${id} where it stopped? It sends requests, which may cost money.`, path: "continue", then: again }],
    [ended && run.status === "completed" && run.kind !== "workflow", { label: "Make it the baseline", question: `Make run ${id} the baseline of ${run.name}?`, path: "bless", then: () => {} }],
    [true, { label: "Tag", question: `Tags of run ${id}, as name=value with commas between:`, path: "tag", fields: [["tags", "Tags", written]], body: ({ tags: text }) => ({ tags: tagsOf(text, tags) }), then: again }],
    [ended, { label: "Rename", question: `Another name for run ${id}, in lists and histories:`, path: "rename", fields: [["name", "Name", run.name]], body: ({ name }) => ({ name }), then: again }],
    [ended, { label: "Delete run", question: `Delete run ${id} with its record and its files?`, path: "remove", then: away }],
  ];
  return rows.filter(([there]) => there).map(([, act]) => act);
}

/** @param {string} id @param {AbortSignal} signal @param {() => void} again draws the page again @returns {Promise<Node | null>} */
export async function acts(id, signal, again) {
  if (readOnly()) return null;
  const run = await get(`/runs/${id}`, signal);
  const told = h("p", { role: "status" }), bar = h("div", { class: "tools" });
  const all = allowed(run, id, again);
  const show = () => bar.replaceChildren(...all.map((act) => h("button", { type: "button", onclick: () => ask(act) }, act.label)));
  /** @param {Act} act */
  function ask(act) {
    const fields = (act.fields ?? []).map(([key, label, value]) => {
      const field = /** @type {HTMLInputElement} */ (h("input", { name: key, "aria-label": label, autocomplete: "off" }));
      field.value = value;
      return field;
    });
    const form = h("form", { class: "tools asking", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); perform(act, fields); } },
      h("span", { role: "alert" }, act.question), ...fields, h("button", { class: "sure" }, act.label),
      h("button", { type: "button", onclick: () => { show(); bar.querySelector("button")?.focus(); } }, "Leave it as it is"));
    bar.replaceChildren(form);
    /** @type {HTMLElement | null} */ (fields[0] ?? form.querySelector(".sure"))?.focus();
  }
  /** @param {Act} act @param {HTMLInputElement[]} fields */
  async function perform(act, fields) {
    const given = Object.fromEntries(fields.map((field) => [field.name, field.value]));
    for (const button of bar.querySelectorAll("button")) button.disabled = true;
    say(told, "…");
    try {
      say(told, `${(await post(`/runs/${id}/${act.path}`, act.body ? act.body(given) : {})).message}.`);
      show();
      act.then();
    } catch (error) {
      say(told, `${error.message} ${error.hint ?? ""}`);
      show();
    }
  }
  show();
  return h("section", { class: "acts", "aria-label": "Change this run" }, bar, told);
}
