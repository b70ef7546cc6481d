// #/data?target=…: what `check` found in a target, and its first rows as they will be sent, before anything is spent.

import { get } from "./api.js";
import { at, figure, h, scrolls, verdicts } from "./dom.js";
import { count, plural } from "./figures.js";

/** @type {Record<string, string[]>} */
const GRADES = { red: ["bad", "✗"], yellow: ["warn", "!"] };
/** @type {Record<string, string>} */
const NAMES = { bad: "problem", warn: "caution" };

/** @param {string} heading @param {string} line that it is of @param {string} json @param {string} text */
const block = (heading, line, json, text) => h("div", {}, h("h3", {}, heading), h("pre", { ...scrolls(`${heading}, ${line}`, ""), "data-json": json }, text));

/** @typedef {{ line: number, messages: { role: string, content: any }[], target: unknown, choices?: string[], media?: string[] }} Row */
/** @typedef {{ key: string, dataset: string, verdict: string, ok: boolean, rows: number, requests: number, prompt_tokens_estimate: number,
 *  findings: [string, string, string][], samples: Row[] }} Check as `check --json` prints it */

/** One row, as it will be sent. @param {Row} sample @param {(string | number)[]} path */
function row(sample, path) {
  const line = `line ${count(sample.line)}`;
  const said = (/** @type {Row["messages"][number]} */ message, /** @type {number} */ place) => block(`${message.role} message${sample.messages.length > 1 ? ` ${place + 1}` : ""}`, line, at(...path, "messages", place, "content"),
    typeof message.content === "string" ? message.content : JSON.stringify(message.content, null, 2));
  return h("article", { class: "sample" }, h("header", {}, h("b", {}, line)),
    h("div", { class: "texts" }, h("div", {}, ...sample.messages.map(said)), h("div", {}, block("target", line, at(...path, "target"), String(sample.target)),
      sample.choices?.length ? block("choices", line, at(...path, "choices"), sample.choices.join("\n")) : null,
      sample.media?.length ? block("media", line, at(...path, "media"), sample.media.join("\n")) : null)));
}

/** @param {Check} found @param {number} place */
function checked(found, place) {
  const path = ["checks", place], json = (/** @type {(string | number)[]} */ ...parts) => at(...path, ...parts);
  const told = found.findings.filter(([,, style]) => style in GRADES).map(([label, text, style]) => /** @type {[string, string, string]} */ ([...GRADES[style], label ? `${label}: ${text}` : text]));
  const plain = found.findings.filter(([label,, style]) => !(style in GRADES) && label !== "per repeat"); // which is the sentence above
  const size = found.rows ? [figure(json("rows"), count(found.rows)), found.rows === 1 ? " row, " : " rows, ", figure(json("requests"), count(found.requests)), found.requests === 1 ? " request and about " : " requests and about ",
    figure(json("prompt_tokens_estimate"), count(found.prompt_tokens_estimate)), " prompt tokens for each repeat."] : ["No row can be sent."];
  return [
    h("h2", {}, h("bdi", { "data-json": json("key") }, found.key), " on ", h("bdi", { "data-json": json("dataset") }, found.dataset), ": ",
      h("span", { class: found.ok ? "status-completed" : "status-failed", "data-json": json("verdict") }, found.verdict)),
    h("p", { class: "about" }, ...size),
    ...(told.length ? [verdicts(told, (style) => NAMES[style])] : []),
    ...(plain.length ? [h("div", { class: "card" }, h("dl", { class: "facts" }, ...plain.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)])))] : []),
    ...(found.samples.length ? [h("h3", {}, `The first ${plural(found.samples.length, "row")} as they will be sent`), ...found.samples.map((each, number) => row(each, [...path, "samples", number]))] : []),
  ];
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function data(place) {
  const { signal, query } = place;
  const target = query.get("target") ?? "";
  const page = `/data?target=${encodeURIComponent(target).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)}`;
  const found = await get(`/handed?page=${encodeURIComponent(page)}`, signal);
  place.command = found.command;
  const all = /** @type {Check[]} */ (found.checks), ready = all.filter(({ ok }) => ok).length;
  const sentence = ready === all.length ? "Everything is ready to run." : `${count(all.length - ready)} of ${plural(all.length, "check")} found a problem.`;
  return [h("h1", { tabindex: "-1" }, "Data of ", h("bdi", { "data-json": "target" }, found.target)), h("p", { class: "about" }, sentence, " Nothing was sent."),
    ...all.flatMap(checked)];
}
