// Ask again: the request of a sample, changed by hand, sent to the run's model; the reply stands next to the recorded one.

import { post, readOnly } from "./api.js";
import { at, h, say, scrolls } from "./dom.js";
import { count, duration } from "./figures.js";
import { indented } from "./run.js";
import { state } from "./samples.js";

/** @typedef {Record<string, any>} Trial */

/** @param {Trial} trial @param {number} place */
function shown(trial, place) {
  const cost = trial.cost === null || trial.cost === undefined ? "cost not known" : `${trial.cost.amount.toPrecision(3)} ${trial.cost.currency}`;
  const facts = [`${trial.at.slice(0, 16).replace("T", " ")} UTC`, trial.latency_s === null ? null : duration(trial.latency_s), trial.completion_tokens === null ? null : `${count(trial.completion_tokens)} completion tokens`, cost].filter((each) => each !== null);
  return h("article", { class: "message trial", "data-trial": String(trial.id) }, h("h3", {}, "by ", h("bdi", {}, trial.who), " ", state(trial)), h("p", { class: "dim" }, facts.join(" · ")),
    h("pre", { ...scrolls("Reply to the changed request", "said-text"), "data-json": at("trials", place, "response") }, trial.response ?? trial.error ?? "–"),
    h("details", {}, h("summary", {}, "What was sent"), h("pre", scrolls("Changed request"), indented(trial.body) ?? "")));
}

/** @param {string} path of the sample below /api @param {any} found the sample @returns {Node | null} */
export function askAgain(path, found) {
  const sent = found.requests.filter((/** @type {any} */ each) => each.to === "model");
  const list = h("div", {}, ...found.trials.map(shown));
  const recorded = h("div", { hidden: found.trials.length ? null : "" }, h("article", { class: "message" }, h("h3", {}, "recorded in the run ", state(found)), h("pre", scrolls("Recorded reply", "said-text"), found.response ?? "–")));
  if (readOnly() || sent.length !== 1 || !sent[0].body) return found.trials.length ? h("section", { "aria-label": "Asked again" }, h("h2", {}, "Asked again"), list) : null;
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { id: "ask-body", rows: "12", spellcheck: "false", "aria-label": "Request" }));
  text.value = indented(sent[0].body) ?? "";
  const told = h("p", { role: "status", class: "dim" }, "Change the messages or the settings. The reply is no part of the run; it is recorded here with its cost."), trouble = h("p", { class: "bad-text", role: "alert" });
  const send = /** @type {HTMLButtonElement} */ (h("button", { id: "ask", type: "submit" }, "Send to the model"));
  const form = h("form", { class: "ask", "aria-label": "Ask again", onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    say(trouble, "");
    send.disabled = true;
    say(told, "Waiting for the model…");
    try {
      const trial = await post(`${path}/trials`, { body: text.value });
      found.trials.unshift(trial);
      list.replaceChildren(...found.trials.map(shown));
      recorded.hidden = false;
      say(told, "The newest reply is below, next to the recorded one.");
    } catch (error) {
      say(told, "");
      say(trouble, `${error.message} ${error.hint ?? ""}`);
    } finally {
      send.disabled = false;
    }
  } }, text, h("div", { class: "tools" }, send), told, trouble);
  return h("section", { "aria-label": "Ask again" }, h("h2", {}, "Ask again"), h("details", { open: found.trials.length ? "" : null }, h("summary", {}, "Send this request again, changed"), form),
    h("div", { class: "sides" }, list, recorded));
}
