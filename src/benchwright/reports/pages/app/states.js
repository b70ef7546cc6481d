// What a page shows while there is nothing to show.

import { h } from "./dom.js";

/** A command, to be copied. @param {string} text */
const command = (text) => h("p", {}, h("code", { class: "command", tabindex: "0" }, text));

/** @param {string} what */
export function loading(what) {
  return h("p", { class: "state", role: "status" }, `Loading ${what}…`);
}

/** @param {Error & {hint?: string | null}} error @param {() => void} again */
export function failed(error, again) {
  return h("section", { class: "state bad", role: "alert" },
    h("h1", {}, "This page could not be loaded"),
    h("p", {}, error.message),
    error.hint ? h("p", {}, error.hint) : null,
    h("p", {}, h("button", { type: "button", onclick: again }, "Try again")));
}

/** How to open the pages. @param {string | null} why a refusal, in the server's words @param {(code: string) => void} enter */
export function needsCode(why, enter) {
  const field = /** @type {HTMLInputElement} */ (h("input", { type: "password", name: "code", autocomplete: "off", required: "", "aria-label": "Code or token" }));
  const send = (/** @type {Event} */ event) => { event.preventDefault(); enter(field.value.trim()); };
  return h("section", { class: "state", role: why === null ? null : "alert" },
    h("h1", {}, "Open this page with a code"),
    why === null ? null : h("p", { class: "bad-text" }, why),
    h("p", {}, "These pages show the runs of a workspace only to people who may see them. For an address that opens them, run this in the workspace:"),
    command("benchwright serve --new-code"),
    h("p", { class: "dim" }, "The address works once, within ten minutes. After that, this tab and new ones stay open to you until the server stops."),
    h("p", {}, "Or enter a code, or the token that somebody made for you with benchwright token add:"),
    h("form", { class: "tools", onsubmit: send }, field, h("button", {}, "Open")));
}

/** @param {string} what @param {string} how @param {string} line a command */
export function empty(what, how, line) {
  return h("section", { class: "state" }, h("h1", {}, what), h("p", {}, how), command(line));
}

/** @param {string} address */
export function nothingThere(address) {
  return h("section", { class: "state" },
    h("h1", {}, "There is no such page"),
    h("p", {}, h("bdi", {}, address), " is not the address of a page."),
    h("p", {}, h("a", { href: "#/runs" }, "Show all runs")));
}

/** @param {number} id */
export function deleted(id) {
  return h("section", { class: "state", role: "alert" }, h("h1", {}, `Run ${id} was deleted`), h("p", {}, h("a", { href: "#/runs" }, "Show all runs")));
}
