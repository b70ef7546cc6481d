// What happened for one row of a workflow, in order: messages, model calls, tool calls with arguments and results.

import { at, h, name, scrolls } from "./dom.js";
import { plural, score } from "./figures.js";

/** @typedef {{ role: string, name?: string, content: any, tool_calls?: any[] }} Message */
/** @typedef {{ id: string, sample_id: number, status: string, error: string | null, row: any, response: any, target: any, scores: Record<string, number | boolean> | null,
 *  messages: Message[], steps: string[] }} WorkflowRow */

/** A value as text. @param {any} value */
const words = (value) => (typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value));

/** @param {any} call */
const called = (call) => `${call.function?.name ?? call.name}(${call.function?.arguments ?? JSON.stringify(call.arguments ?? {})})`;

/** Messages in order, with the calls that they make. @param {Message[]} messages */
export function transcript(messages) {
  return h("ol", { class: "transcript" }, ...messages.map((message) => h("li", { class: message.role === "tool" ? "tool" : null }, h("b", {}, String(message.role), message.name ? h("span", {}, " ", h("bdi", {}, String(message.name))) : null), " ",
    h("span", { class: "said" }, [words(message.content), ...(message.tool_calls ?? []).map(called)].filter(Boolean).join("\n")))));
}

/** @param {WorkflowRow} row @param {number} number @param {string | null} way to the page of its sample @param {boolean} open */
export function rowCard(row, number, way, open = false) {
  const json = (/** @type {string} */ key) => at("rows", number, key), bad = row.status !== "completed";
  const scores = Object.entries(row.scores ?? {}), wrong = scores.some(([, value]) => value === false || value === 0);
  const text = scores.map(([label, value]) => `${label} ${typeof value === "number" ? score(value) : value}`).join(" · ");
  const facts = [["row", row.row], ["answer", row.response], ["expected", row.target]].filter(([, value]) => value !== null && value !== undefined);
  return h("details", { class: `sample ${bad ? "failed" : wrong ? "wrong" : "right"}`, open: bad || open ? "" : null },
    h("summary", {}, name(json("id"), row.id), " ", h("span", { class: `status-${row.status}`, "data-json": json("status") }, row.status), " ", h("span", { class: "dim" }, text, text ? " · " : "", plural(row.steps.length, "step"))),
    bad && row.error ? h("pre", { ...scrolls(`Error of ${row.id}`, ""), "data-json": json("error") }, row.error) : null,
    transcript(row.messages),
    facts.length ? h("dl", { class: "facts" }, ...facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, words(value))])) : null,
    way === null ? null : h("p", {}, h("a", { href: way }, "Everything about this row")));
}
