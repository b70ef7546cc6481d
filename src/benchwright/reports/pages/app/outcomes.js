// How the samples of a run ended: a bar, and the number of each outcome.

import { h, svg } from "./dom.js";
import { count, fixed } from "./figures.js";

/** @typedef {[string, string, number, string?]} Ended an outcome, its name on the page, its samples, and the place of their number in the JSON */

/** Outcomes that did not occur are left out. @param {string} label @param {Ended[]} all @param {{ more?: Node[], link?: ((outcome: string) => string) | null }} options
 *  what belongs below, and the address of the samples with an outcome */
export function outcomes(label, all, { more = [], link = null } = {}) {
  const outcomes = all.filter(([,, number]) => number);
  const total = outcomes.reduce((sum, [,, number]) => sum + number, 0);
  let before = 0;
  const parts = outcomes.map(([outcome, name, number]) => {
    const part = svg("rect", { class: outcome, x: share(before), width: share(number), height: 12 }, svg("title", {}, `${name}: ${count(number)}`));
    before += number;
    return link === null ? part : svg("a", { href: link(outcome), tabindex: "-1" }, part); // the key below has the same link
  });
  function share(/** @type {number} */ part) {
    return `${fixed((100 * part) / total, 2)}%`;
  }
  const keys = outcomes.map(([outcome, name, number, json]) =>
    h(link === null ? "span" : "a", { class: "key", href: link?.(outcome) }, h("i", { class: outcome }), `${name} `, h("span", { "data-json": json }, count(number))));
  const about = link === null ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }; // a picture holds no links
  return [svg("svg", { class: "outcomes", ...about }, ...parts), h("div", { class: "keys" }, ...keys), ...more];
}
