// How the samples of a run ended: a bar, and the number of each outcome.

import { h, svg } from "./dom.js";
import { count, fixed } from "./figures.js";

/** @typedef {[string, string, number, string?]} Ended an outcome, its name on the page, its samples, and the place of their number in the JSON */

/** @param {string} label @param {Ended[]} outcomes @param {...Node} more what belongs below */
export function outcomes(label, outcomes, ...more) {
  const total = outcomes.reduce((sum, [,, number]) => sum + number, 0);
  let before = 0;
  const parts = outcomes.filter(([,, number]) => number).map(([outcome, name, number]) => {
    const part = svg("rect", { class: outcome, x: share(before), width: share(number), height: 12 }, svg("title", {}, `${name}: ${count(number)}`));
    before += number;
    return part;
  });
  function share(/** @type {number} */ part) {
    return `${fixed((100 * part) / total, 2)}%`;
  }
  const keys = outcomes.map(([outcome, name, number, json]) =>
    h("span", { class: "key" }, h("i", { class: outcome }), `${name} `, h("span", { "data-json": json }, count(number))));
  return [svg("svg", { class: "outcomes", role: "img", "aria-label": label }, ...parts), h("div", { class: "keys" }, ...keys), ...more];
}
