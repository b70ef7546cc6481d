// How the figures of a run's samples are distributed, and how stable the repeats of its rows are.

import { axisFor, chart, tickText } from "./charts.js";
import { at, figure, h, section } from "./dom.js";
import { count, decimal, general, money, plural, score } from "./figures.js";

/** @typedef {{ name: string, unit: string, count: number, mean: number, p50: number, p95: number, min: number, max: number, first: number, step: number,
 *  bins: number[], above: number }} Histogram */
/** @typedef {{ metric: string, repeats: number, stable: number, changing: number, unscored: number, right: number[] | null,
 *  rows: { sample_id: number, scores: (number | null)[] }[] }} Repeats */
/** @typedef {{ run_id: number, figures: Histogram[], repeats: Repeats | null }} Distributions as GET /runs/7/distributions answers */

const NAMES = /** @type {Record<string, string>} */ ({
  latency_s: "Latency", prompt_tokens: "Prompt tokens", completion_tokens: "Completion tokens", reply_length: "Length of replies", cost: "Cost" });

/** A value of a figure, in its unit. @param {Histogram} of @param {number} value */
function worded({ name, unit }, value) {
  if (name === "score") return score(value);
  if (name === "cost") return money(value, unit);
  return name === "latency_s" ? `${value < 0.1 ? general(value, 3) : decimal(value, value < 10 ? 3 : 1)} s` : decimal(value, value % 1 ? 1 : 0);
}

/** @param {Histogram} found @param {number} place in the list */
function drawn(found, place) {
  const { name, unit, bins, first, step, above } = found, json = (/** @type {string} */ key) => at("distributions", "figures", place, key);
  const title = name === "score" ? unit : NAMES[name] ?? name, ends = bins.map((_, number) => first + step * number), last = first + step * bins.length;
  const said = name === "reply_length" ? "characters" : name === "latency_s" ? "seconds" : name === "cost" ? unit : name === "score" ? unit : "tokens";
  const figures = chart({
    title, x: { low: first, high: last, title: said }, y: axisFor(bins, "samples"), legend: false,
    series: [{ name: title, colour: 0, kind: "area", points: [...ends.map((end, number) => /** @type {[number, number]} */ ([end, bins[number]])), [last, bins[bins.length - 1]]] }],
    tips: ends.map((end, number) => [end + step / 2, `${tickText(end)} to ${tickText(Number(general(end + step, 6)))} ${said}: ${plural(bins[number], "sample")}`]),
  });
  figures.append(h("p", { class: "dim" }, "Median ", figure(json("p50"), worded(found, found.p50)), ", mean ", figure(json("mean"), worded(found, found.mean)), ", 95th percentile ",
    figure(json("p95"), worded(found, found.p95)), ". n = ", figure(json("count"), count(found.count)),
    ...(above ? ["; ", figure(json("above"), count(above)), " beyond the picture, up to ", figure(json("max"), worded(found, found.max))] : []), "."));
  return figures;
}

/** Figures without a spread are said, not drawn. Right and wrong are drawn as outcomes. @param {Histogram} found */
const hasShape = ({ name, min, max, bins }) => min < max && !(name === "score" && min === 0 && max === 1 && bins.length === 2);

/** @typedef {((sample: string) => string) | null} Link the address of a sample's page; null in a file */

/** The repeats of one row: a square for each. @param {Link} link @param {Repeats["rows"][number]} row @param {number} place @param {boolean} right whether scores are right or wrong */
function strip(link, { sample_id: row, scores }, place, right) {
  return h("li", {}, h("span", {}, "row ", figure(at("distributions", "repeats", "rows", place, "sample_id"), String(row))),
    h("span", { class: "strip" }, ...scores.map((value, repeat) => {
      const words = value === null ? "no score" : right ? (value === 1 ? "right" : "wrong") : score(value);
      const mark = value === null ? "–" : right ? (value === 1 ? "✓" : "✗") : general(value, 2);
      return h(link === null ? "span" : "a", { class: value === null ? "none" : right ? (value === 1 ? "right" : "wrong") : "other", href: link?.(`${row}/${repeat}`), role: link === null ? "img" : null, title: `repeat ${repeat}: ${words}`, "aria-label": `Repeat ${repeat} of row ${row}: ${words}` }, mark);
    })));
}

/** @param {Link} link @param {Repeats | null} found */
function repeats(link, found) {
  if (found === null) return [];
  const json = (/** @type {(string | number)[]} */ ...path) => at("distributions", "repeats", ...path), right = found.right !== null;
  const rows = found.stable + found.changing + found.unscored;
  const lost = found.unscored ? ["; ", figure(json("unscored"), count(found.unscored)), " without any score"] : [];
  const said = !found.changing && !found.unscored ? h("p", {}, "All ", figure(json("stable"), count(found.stable)), ` rows scored the same in each of ${found.repeats} repeats.`) :
    h("p", {}, figure(json("changing"), count(found.changing)), ` of ${plural(rows, "row")} changed between ${found.repeats} repeats; `, figure(json("stable"), count(found.stable)), " always scored the same", ...lost, ".");
  const by = found.right === null || !found.changing ? null : h("p", { class: "dim" }, "Rows by right repeats: ", ...found.right.flatMap((number, place) =>
    [place ? " · " : "", `${place} of ${found.repeats}: `, figure(json("right", place), count(number))]), ".");
  const strips = found.rows.length ? h("ul", { class: "card strips" }, ...found.rows.map((row, place) => strip(link, row, place, right))) : null;
  const cut = found.changing > found.rows.length ? h("p", { class: "dim" }, `The ${count(found.rows.length)} rows that changed most often of ${count(found.changing)}.`) : null;
  return section("Repeats", said, by, cut, strips);
}

/** The sections of a run's page. @param {Distributions} found @param {Link} link @returns {Node[]} */
export function distributions(found, link) {
  const shaped = found.figures.map((each, place) => ({ each, place })).filter(({ each }) => hasShape(each));
  const flat = found.figures.filter(({ name, min, max }) => min === max && name !== "score" && name !== "cost");
  const same = flat.map((each) => `${(NAMES[each.name] ?? each.name).toLowerCase()} ${worded(each, each.min)}`).join(", ");
  return [...repeats(link, found.repeats), ...section("Distributions",
    shaped.length ? h("div", { class: "charts small" }, ...shaped.map(({ each, place }) => drawn(each, place))) : null,
    same ? h("p", { class: "dim" }, `The same for every sample: ${same}.`) : null)];
}
