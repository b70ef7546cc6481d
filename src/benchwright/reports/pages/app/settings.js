// The settings of a run, and where each comes from.

import { h, scrolls } from "./dom.js";

/** @typedef {[string, string, string | null][]} Settings each has its name, its value, and where it comes from */

/** @param {string} heading @param {Settings} rows */
export function settingsTable(heading, rows) {
  const head = rows.some(([,, origin]) => origin) ? h("thead", {}, h("tr", {}, ...["setting", "value", "set by"].map((words) => h("th", {}, words)))) : null;
  const cell = (/** @type {string | null} */ origin) => (origin ? h("td", { class: origin === "default" ? "dim" : null }, origin) : head && h("td", {}));
  return h("div", scrolls(heading), h("table", { class: "settings" }, head, h("tbody", {}, ...rows.map(([key, value, origin]) => h("tr", {}, h("td", {}, key), h("td", {}, value), cell(origin))))));
}

/** @param {boolean} recorded */
export const origins = (recorded) => (recorded ? null : h("p", { class: "dim" }, "Where these settings come from was not recorded."));
