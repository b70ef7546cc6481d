// #/gates/5: the verdict of a gate on a run, rule by rule.

import { get } from "./api.js";
import { at, h, name, notes, quoted, section } from "./dom.js";
import { count, general, score } from "./figures.js";

/** The style and the sign of each verdict. @type {Record<string, [string, string]>} */
export const STYLES = { GO: ["ok", "✓"], "NO-GO": ["bad", "✗"], INCONCLUSIVE: ["warn", "?"] };
const ORDER = ["NO-GO", "INCONCLUSIVE", "GO"];
/** @type {Record<string, string>} */
const SAYS = { GO: "The run meets every rule.", "NO-GO": "The run breaks a rule.", INCONCLUSIVE: "The run does not decide every rule." };

/** @typedef {{ rule: string, verdict: string, needed: string, observed: number | null, interval: number[] | null, level: number | null, n: number | null,
 *  n_needed: number | null, test: string, p_holm: number | null, detectable: number | null, where: string, reason: string }} Rule as `gate --json` prints it */

/** Where the samples behind a rule for a slice are: `correct, category = law`. @param {string} id @param {Rule} rule */
function samples(id, rule) {
  const found = /^(.+), ([^,=]+) = (.+)$/s.exec(rule.rule);
  if (found === null || rule.verdict === "GO") return null;
  return h("p", {}, h("a", { href: `#/runs/${id}/samples?${new URLSearchParams({ column: found[2], value: found[3], verdict: "wrong" })}` }, `Show the wrong samples with ${found[2]} = ${found[3]}`));
}

/** @param {Rule} found @param {number} place @param {string} id */
function rule(found, place, id) {
  const json = (/** @type {(string | number)[]} */ ...parts) => at("rows", place, ...parts);
  const [style, mark] = STYLES[found.verdict];
  const facts = /** @type {[string, Node | string | null][]} */ ([
    ["needed", h("span", { "data-json": json("needed") }, found.needed)],
    ["seen", found.observed === null ? "–" : h("span", {}, h("b", { "data-json": json("observed") }, score(found.observed)),
      found.interval === null ? "" : ` (${found.interval.map(score).join(" – ")}${found.level === null ? "" : `, ${general(100 * found.level, 3)} % interval`})`)],
    ["n", found.n === null ? null : h("span", { "data-json": json("n") }, count(found.n))],
    ["n needed to decide", found.n_needed === null ? null : h("span", { "data-json": json("n_needed") }, count(found.n_needed))],
    ["test", found.test], ["p, corrected", found.p_holm === null ? null : h("span", { "data-json": json("p_holm") }, general(found.p_holm, 2))],
    ["smallest loss that it finds", found.detectable === null ? null : h("span", { "data-json": json("detectable") }, general(found.detectable, 3))],
    ["rule", found.where],
  ]).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("article", { class: `card rule ${style}` },
    h("h3", {}, h("span", { class: "mark", role: "img", "aria-label": found.verdict }, mark), " ", name(json("rule"), found.rule), " ", h("small", { class: "dim", "data-json": json("verdict") }, found.verdict)),
    h("p", { "data-json": json("reason") }, found.reason), h("dl", { class: "facts" }, ...facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])), samples(id, found));
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function gate(place) {
  const [id] = place.ids;
  const found = await get(`/handed?page=${encodeURIComponent(`/gates/${id}`)}`, place.signal);
  place.title = `${found.verdict}: ${found.name}, run ${id}`;
  const rows = /** @type {Rule[]} */ (found.rows).map((each, number) => ({ each, number })).sort((one, other) => ORDER.indexOf(one.each.verdict) - ORDER.indexOf(other.each.verdict));
  const baseline = found.baseline ? ` --baseline ${quoted(found.baseline.replace(/^run (\d+)$/, "$1"))}` : "";
  place.command = `benchwright gate ${id} --policy ${quoted(found.policy)}${baseline}${found.accept_cached ? " --accept-cached" : ""} --web`;
  return [
    h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " › ", h("a", { href: `#/runs/${id}` }, `run ${id}`)),
    h("h1", { tabindex: "-1" }, h("span", { class: `verdict ${STYLES[found.verdict][0]}`, "data-json": "verdict" }, found.verdict), ": ", name("name", found.name), ", ", h("bdi", { "data-json": "run" }, found.run)),
    h("p", { class: "about" }, SAYS[found.verdict], found.sentence ? ` ${found.sentence}.` : "", found.baseline ? ` Compared with ${found.baseline}.` : ""),
    ...section("Rules", ...rows.map(({ each, number }) => rule(each, number, id))),
    ...section("Notes", ...notes(found.notes)),
  ];
}
