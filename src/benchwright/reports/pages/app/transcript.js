// What happened for one row of a workflow, in order: messages, model calls, tool calls with arguments and results.

import { at, h, name, scrolls } from "./dom.js";
import { count, plural, score } from "./figures.js";

/** @typedef {{ id: string, status: string, error: string | null, row: any, response: any, target: any, scores: Record<string, number | boolean> | null, steps: string[] }} WorkflowRow */

/** A value as text. @param {any} value */
const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** @param {string} who @param {string} text @param {string | null} style */
const said = (who, text, style = null) => h("li", { class: style }, h("b", {}, who), " ", h("span", { class: "said" }, text));

/** The messages of a request. @param {any} input @returns {any[]} */
const messagesOf = (input) => (Array.isArray(input) ? input : Array.isArray(input?.messages) ? input.messages : []).filter((each) => each && typeof each === "object" && "role" in each);

/** @param {any} call */
const called = (call) => `${call.function?.name ?? call.name}(${call.function?.arguments ?? JSON.stringify(call.arguments ?? {})})`;

/** One step as lines of the conversation. @param {any} step @param {Set<string>} known messages that were said before */
function lines(step, known) {
  const found = [];
  for (const message of messagesOf(step.input)) {
    const key = JSON.stringify([message.role, message.content, message.tool_calls ?? null]);
    if (known.has(key) || message.role === "assistant" || message.role === "tool") continue; // said by the steps before
    known.add(key);
    found.push(said(String(message.role), words(message.content ?? "")));
  }
  const output = step.output, calls = Array.isArray(output?.tool_calls) ? output.tool_calls : [];
  if (step.error) return [...found, said(step.step_key, `failed: ${step.error.trim().split("\n").at(-1)}`, "bad-text")];
  const again = step.attempts > 1 ? ` (attempt ${step.attempts})` : "";
  if (typeof output?.content === "string") return [...found, said(`model${again}`, [output.content, ...calls.map(called)].filter(Boolean).join("\n"))];
  if (step.input && typeof step.input === "object" && "arguments" in step.input && typeof step.input.name === "string") return [...found, said(`tool${again}`, `${called(step.input)} → ${words(output)}`, "tool")];
  return [...found, said(`${step.step_key}${again}`, output === null || output === undefined ? step.status : words(output))];
}

/** @param {WorkflowRow} row @param {number} number @param {Map<string, any>} steps by key @param {boolean} open */
export function rowCard(row, number, steps, open = false) {
  const json = (/** @type {string} */ key) => at("rows", number, key), bad = row.status !== "completed", known = new Set();
  const scores = Object.entries(row.scores ?? {}), wrong = scores.some(([, value]) => value === false || value === 0);
  const there = row.steps.filter((key) => steps.has(key)), text = scores.map(([label, value]) => `${label} ${typeof value === "number" ? score(value) : value}`).join(" · ");
  const facts = [["row", row.row], ["answer", row.response], ["expected", row.target]].filter(([, value]) => value !== null && value !== undefined);
  return h("details", { class: `sample ${bad ? "failed" : wrong ? "wrong" : "right"}`, open: bad || open ? "" : null },
    h("summary", {}, name(json("id"), row.id), " ", h("span", { class: `status-${row.status}`, "data-json": json("status") }, row.status), " ", h("span", { class: "dim" }, text, text ? " · " : "", plural(row.steps.length, "step"))),
    bad && row.error ? h("pre", { ...scrolls(`Error of ${row.id}`, ""), "data-json": json("error") }, row.error) : null,
    h("ol", { class: "transcript" }, ...there.flatMap((key) => lines(steps.get(key), known))),
    there.length < row.steps.length ? h("p", { class: "dim" }, `${count(row.steps.length - there.length)} of its steps are not on this page.`) : null,
    facts.length ? h("dl", { class: "facts" }, ...facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, words(value))])) : null);
}
