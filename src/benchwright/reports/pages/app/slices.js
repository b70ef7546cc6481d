// #/runs/7/slices?by=topic: a metric of a run by the values of a column.

import { get } from "./api.js";
import { at, figure, h, name, scrolls, svg, unseen } from "./dom.js";
import { count, fixed, pText, score } from "./figures.js";
import { pageOf } from "./of_run.js";
import { link } from "./sample_filter.js";

/** @typedef {import("./rest.js").Slice} Slice */
/** @typedef {import("./rest.js").Slices} Slices */

/** The result in one sentence. @param {Slices} found */
export function sentence({ slices, lower_is_better: less }) {
  const worse = slices.filter(({ significant, difference }) => significant && (difference ?? 0) > 0 === less);
  const better = slices.filter(({ significant, difference }) => significant && (difference ?? 0) > 0 !== less);
  const said = (/** @type {Slice[]} */ some) => some.slice(0, 4).map(({ value }) => value ?? "(no value)").join(", ") + (some.length > 4 ? ` and ${count(some.length - 4)} more` : "");
  if (!worse.length && !better.length) return "No slice differs significantly from the rest of the run.";
  return [worse.length ? `Significantly worse than the rest: ${said(worse)}.` : "", better.length ? `Significantly better: ${said(better)}.` : ""].filter(Boolean).join(" ");
}

/** A point with its interval, and a line where the whole is. @param {Slice} slice @param {Slice} whole @param {[number, number]} scale */
function range({ mean, ci_low: low, ci_high: high }, whole, [from, to]) {
  if (mean === null) return null;
  const place = (/** @type {number} */ value) => `${fixed(2 + (96 * (value - from)) / (to - from || 1), 2)}%`;
  const line = (/** @type {(string | number)[]} */ ...[kind, x1, x2, y1, y2]) => svg("line", { class: kind, x1, x2, y1, y2 });
  return svg("svg", { class: "range", "aria-hidden": "true" }, line("rail", "2%", "98%", 11, 11),
    ...(whole.mean === null ? [] : [line("whole-line", place(whole.mean), place(whole.mean), 0, 22)]),
    ...(low === null || high === null ? [] : [line("span", place(low), place(high), 11, 11), line("end", place(low), place(low), 4, 18), line("end", place(high), place(high), 4, 18)]),
    svg("circle", { class: "dot", cx: place(mean), cy: 11, r: 5 }));
}

/** @param {Slices} found */
export function slicesTable(found) {
  const all = [...found.slices, found.whole].flatMap(({ mean, ci_low: low, ci_high: high }) => [mean, low, high]).filter((value) => value !== null);
  const scale = /** @type {[number, number]} */ (all.every((value) => value >= 0 && value <= 1) ? [0, 1] : [Math.min(...all, 0), Math.max(...all, 0)]);
  const row = (/** @type {Slice} */ slice, /** @type {(string | number)[]} */ path, /** @type {Node | string} */ title) => {
    const json = (/** @type {string} */ key) => at(...path, key);
    const number = (/** @type {"mean" | "failed"} */ key, /** @type {(value: number) => string} */ form) => h("td", { class: "number" }, slice[key] === null ? "–" : figure(json(key), form(slice[key])));
    const changed = slice.significant ? ((slice.difference ?? 0) > 0 === found.lower_is_better ? "bad-text" : "good-text") : null;
    return h("tr", { class: path.length === 1 ? "main" : null }, h("td", { class: "metric-name" }, title), number("mean", score),
      h("td", { class: "number" }, ...(slice.ci_low === null || slice.ci_high === null ? ["–"] : [figure(json("ci_low"), score(slice.ci_low)), " – ", figure(json("ci_high"), score(slice.ci_high))])),
      h("td", { class: "range-cell" }, range(slice, found.whole, scale)),
      h("td", { class: `number ${changed ?? ""}` }, slice.difference === null ? "–" : h("span", {}, slice.difference >= 0 ? "+" : "", figure(json("difference"), score(slice.difference)), slice.significant ? " *" : "")),
      h("td", { class: "number" }, figure(json("rows"), count(slice.rows)), slice.small ? h("span", { class: "dim" }, " (few)") : null),
      number("failed", count), h("td", { class: "number" }, slice.p_adjusted === null ? "–" : slice.p_adjusted < 0.001 ? pText(slice.p_adjusted) : figure(json("p_adjusted"), pText(slice.p_adjusted))));
  };
  const title = (/** @type {Slice} */ { value }) => {
    if (value === null) return h("span", { class: "dim" }, "(no value)");
    if (found.binned) return value;
    return h("a", { href: link(found.run_id, new URLSearchParams({ column: found.column, value }).toString()) }, h("bdi", {}, value));
  };
  const headings = [found.column, found.metric, "95 % interval", unseen("interval as a picture"), "difference", "rows", "failed", "p"];
  const places = ["", "number", "number", "range-cell", "number", "number", "number", "number"];
  const notes = [
    found.slices.some(({ significant }) => significant) ? "* differs significantly from the rest" : "", found.slices.some(({ small }) => small) ? "few: fewer than 20 rows, so the interval is unreliable" : "",
    found.tests ? "p: against the rest of the run, corrected by Holm's method" : "", found.overlapping ? "a row may be in several slices" : "", found.binned ? "the column has many numbers, so slices are fifths of the rows" : "",
  ].filter(Boolean);
  return [h("div", scrolls(`${found.metric} by ${found.column}`), h("table", { class: "metrics slices" }, h("thead", {}, h("tr", {}, ...headings.map((words, place) => h("th", { class: places[place] }, words)))),
    h("tbody", {}, ...found.slices.map((slice, place) => row(slice, ["slices", place], title(slice))), row(found.whole, ["whole"], "all rows")))),
  notes.length ? h("p", { class: "dim" }, `${notes.join("; ")}.`) : null].filter((part) => part !== null);
}

/** The columns to slice by, as links. @param {string} run @param {string[]} columns @param {string | null} chosen @param {string | null} metric */
export const ways = (run, columns, chosen = null, metric = null) => h("ul", { class: "ways" }, ...columns.map((column) =>
  h("li", {}, h("a", { class: "way", href: `#/runs/${run}/slices?${new URLSearchParams(metric === null ? { by: column } : { by: column, metric })}`, "aria-current": column === chosen ? "true" : null }, column))));

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function slices(place) {
  const [run] = place.ids, by = place.query.get("by") ?? "", metric = place.query.get("metric");
  const about = await get(`/runs/${run}/details`, place.signal);
  const columns = about.page?.columns ?? [];
  const asked = new URLSearchParams(metric === null ? { by } : { by, metric });
  place.title = `${about.run.name} by ${by || "column"}, run ${run}`;
  const trail = h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " › ", h("a", { href: pageOf(about.run) }, h("bdi", {}, about.run.name), ` (run ${run})`));
  const metrics = Object.keys(about.run.metrics ?? {});
  const choice = [h("p", { class: "dim" }, "Slice by a column of the data:"), ways(run, columns, by, metric),
    ...(by && metrics.length > 1 ? [h("p", { class: "dim" }, "Another metric:"), h("ul", { class: "ways" }, ...metrics.map((each) =>
      h("li", {}, h("a", { class: "way", href: `#/runs/${run}/slices?${new URLSearchParams({ by, metric: each })}`, "aria-current": each === (metric ?? about.run.headline?.name) ? "true" : null }, each))))] : [])];
  if (!by) return [trail, h("h1", { tabindex: "-1" }, "Slices"), ...choice];
  /** @type {Slices | null} */
  let found = null;
  /** @type {any} */
  let refused = null;
  try {
    found = await get(`/runs/${run}/slices?${asked}`, place.signal);
  } catch (error) {
    if (error.name === "AbortError" || error.status === 401 || error.status === 0) throw error;
    refused = error;
  }
  return [trail, h("h1", { tabindex: "-1" }, found === null ? "Slices" : h("span", {}, name("metric", found.metric), " by ", name("column", found.column))),
    ...(found === null ? [h("p", { class: "bad-text", role: "alert" }, refused.message)] : [h("p", { class: "verdict-line" }, sentence(found)), ...slicesTable(found)]),
    ...choice];
}
