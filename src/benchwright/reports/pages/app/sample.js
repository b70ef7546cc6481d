// #/runs/7/samples/12/0: everything about one sample.

import { get, getText } from "./api.js";
import { askAgain } from "./ask_again.js";
import { anySeed } from "./blind.js";
import { at, figure, h, name, quoted, say, scrolls, section, table } from "./dom.js";
import { count, duration, plural } from "./figures.js";
import { labelling } from "./labels.js";
import { pageOf } from "./of_run.js";
import { indented } from "./run.js";
import { filterOf, link, withColumns } from "./sample_filter.js";
import { scoreText, state } from "./samples.js";

/** @typedef {Record<string, any>} Sample */

const FOLDED = 2_000, MOST_RAW = 500_000; // characters
/** @type {Record<string, string>} */
const MEDIA = { "data:image/png": "img", "data:image/jpeg": "img", "data:image/gif": "img", "data:image/webp": "img" };

/** A text of any length: what is beyond the first part is shown on demand. @param {string} words @param {string} label */
function long(words, label) {
  const most = 20_000;
  const box = h("pre", scrolls(label, "said-text"), words.slice(0, most));
  if (words.length <= most) return box;
  const rest = h("button", { type: "button", onclick: () => { say(box, ""); box.append(h("span", {}, words)); rest.remove(); } }, `Show all ${count(words.length)} characters`);
  return h("div", {}, box, rest);
}

/** A part of a message that is no text. Only data in the record itself is shown; nothing is fetched. @param {any} part */
function media(part) {
  const url = part.image_url?.url ?? part.image_url ?? part.url ?? "";
  const kind = typeof url === "string" ? MEDIA[url.slice(0, url.indexOf(";"))] : undefined;
  if (kind === "img") return h("img", { class: "shown-image", src: url, alt: "image of the prompt" });
  return h("pre", { class: "said-text" }, JSON.stringify(part, null, 2).slice(0, FOLDED));
}

/** @param {any} content @param {string} label @returns {Node[]} */
function contents(content, label) {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [long(content, label)];
  if (!Array.isArray(content)) return [long(JSON.stringify(content, null, 2), label)];
  return content.map((part) => (typeof part?.text === "string" ? long(part.text, label) : media(part)));
}

/** @param {any} message @param {number} number */
function message(message, number) {
  const role = String(message?.role ?? "message");
  const calls = (message?.tool_calls ?? []).map((/** @type {any} */ call) => h("pre", scrolls("Call", "said-text"), `${call.function?.name}(${call.function?.arguments})`));
  return h("article", { class: `message role-${/^[a-z]+$/.test(role) ? role : "other"}` }, h("h3", {}, role, typeof message?.name === "string" ? h("span", {}, " ", h("bdi", {}, message.name)) : null), ...contents(message?.content, `Message ${number + 1}`), ...calls);
}

/** Whether the messages are all that was said, and not only what was sent: the last word is not the reader's. @param {Sample} sample */
const isDialogue = ({ messages, run }) => Array.isArray(messages) && (run.kind === "workflow" || messages.at(-1)?.role === "assistant");

/** The prompt as messages. Examples between the system message and the last question are folded. @param {Sample} sample */
function prompt(sample) {
  const messages = Array.isArray(sample.messages) ? sample.messages : null;
  if (messages === null) return sample.prompt ? [h("article", { class: "message" }, h("h3", {}, "prompt"), long(sample.prompt, "Prompt"))] : [h("p", { class: "dim" }, "Nothing was sent.")];
  const system = messages.filter(({ role }) => role === "system").length;
  const examples = isDialogue(sample) ? [] : messages.slice(system, -1);
  if (examples.length < 2) return messages.map(message);
  return [...messages.slice(0, system).map(message),
    h("details", {}, h("summary", {}, `${count(examples.length)} messages before the question (examples)`), ...examples.map(message)),
    ...messages.slice(-1).map(message)];
}

/** The reply with the part marked from which the answer was read. @param {Sample} sample */
function reply(sample) {
  if (sample.response === null || sample.response === undefined) return h("p", { class: "dim" }, sample.error ? "There is no reply." : "The reply is empty.");
  const words = sample.response, span = /^(\d+):(\d+)$/.exec(sample.scores?.span ?? "");
  if (span === null || Number(span[2]) > words.length || words.length > 20_000) return long(words, "Reply");
  const [start, end] = [Number(span[1]), Number(span[2])];
  const characters = Array.from(words); // places count characters, not the units of a browser's texts
  return h("pre", scrolls("Reply", "said-text"), characters.slice(0, start).join(""), h("mark", { title: `read as the answer${sample.scores.rule ? ` by the rule ${sample.scores.rule}` : ""}` }, characters.slice(start, end).join("")), characters.slice(end).join(""));
}

/** @param {Sample} sample */
function scores(sample) {
  const rows = Object.entries(sample.scores ?? {}).map(([key, value]) => h("tr", {}, h("td", {}, key), h("td", { "data-json": typeof value === "string" ? at("scores", key) : null }, scoreText(value))));
  return rows.length ? h("div", scrolls("Scores"), h("table", { class: "settings" }, h("tbody", {}, ...rows))) : h("p", { class: "dim" }, "There are no scores.");
}

/** @param {Sample} sample */
function judges(sample) {
  const keys = Object.keys(sample.scores ?? {}).filter((key) => key.startsWith("grade_of_")); // of a panel, in the order of its judges
  const grade = (/** @type {number} */ place) => (sample.judges.length > 1 && keys.length === sample.judges.length ? sample.scores[keys[place]] : sample.scores?.judge_grade);
  const blindly = sample.scores?.judge_grade === undefined ? null : h("p", {}, h("a", { href: `#/blind?runs=${sample.run.run_id ?? sample.run.id}&seed=${anySeed()}` }, "Grade replies of this run blindly"));
  return [...sample.judges.map((/** @type {Record<string, string>} */ judge, /** @type {number} */ place) => h("article", { class: "message" }, h("h3", {}, `judge ${place + 1}`, grade(place) === undefined ? null : h("span", {}, ": grade ", h("b", {}, scoreText(grade(place)))), judge.error ? h("span", { class: "bad-text" }, ` ${judge.error}`) : null), long(judge.text || "–", "Judge's reply"))), blindly].filter((part) => part !== null);
}

/** @param {Sample} sample */
function calls(sample) {
  if (!sample.calls?.called && !sample.calls?.expected) return null;
  const { called = [], expected = [], difference } = sample.calls;
  const rows = Array.from({ length: Math.max(called.length, expected.length) }, (_, place) => [String(place + 1), called[place] ?? "–", expected[place] ?? "–"]);
  return h("div", {}, difference ? h("p", { class: "warn" }, `First difference: ${difference}`) : null, table("Calls", ["", "called", "expected"], rows, { texts: [1, 2] }));
}

/** @param {Sample} sample */
function requests(sample) {
  const rows = sample.requests.map((/** @type {Record<string, any>} */ each, /** @type {number} */ place) => {
    const json = (/** @type {string} */ key) => at("requests", place, key);
    return h("tr", {}, h("td", { "data-json": json("to") }, each.to), h("td", {}, figure(json("status"), each.status), each.http_status ? ` (HTTP ${each.http_status})` : "", each.error ? h("div", { class: "bad-text" }, each.error) : null),
      h("td", { class: "number", "data-json": json("attempts") }, count(each.attempts)), h("td", { class: "number" }, each.latency_s === null ? "–" : duration(each.latency_s)), h("td", {}, each.started_at?.slice(0, 19).replace("T", " ") ?? "–"),
      h("td", {}, h("details", {}, h("summary", {}, "body"), h("pre", scrolls("Body", "said-text"), indented(each.body ?? undefined) ?? "–"))));
  });
  if (!rows.length) return null;
  const head = h("tr", {}, ...["to", "status", "attempts", "last attempt", "started (UTC)", "sent"].map((words, place) => h("th", { class: place === 2 || place === 3 ? "number" : null }, words)));
  return h("div", scrolls("Requests"), h("table", { class: "requests" }, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** Short lines about samples next to this one. @param {string} label @param {any[]} list @param {string} path @param {(each: any) => Node} way */
function beside(label, list, path, way) {
  const rows = list.map((each) => h("tr", {}, h("td", {}, way(each)), h("td", {}, state(each)), h("td", {}, h("span", { class: "clip" }, each.response ?? "–"))));
  return h("div", scrolls(label), h("table", { class: "beside" }, h("tbody", {}, ...rows)));
}

/** Everything as the server sends it, read when it is first opened. @param {string} path @param {AbortSignal} signal */
function raw(path, signal) {
  const box = h("details", {}, h("summary", {}, "Raw JSON"));
  box.addEventListener("toggle", async () => {
    if (box.childElementCount > 1) return;
    const shown = h("pre", scrolls("Raw JSON"), "Loading…");
    box.append(shown);
    try {
      const text = indented(await getText(path, signal)) ?? "";
      say(shown, text.length > MOST_RAW ? `${text.slice(0, MOST_RAW)}\n… (the first ${count(MOST_RAW)} of ${count(text.length)} characters)` : text);
    } catch (error) {
      if (error.name !== "AbortError") say(shown, error.message);
    }
  });
  return box;
}

/** @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function sample(place) {
  const [run, row, repeat] = place.ids, { signal } = place;
  const found = await get(`/runs/${run}/samples/${row}/${repeat}`, signal);
  const filter = filterOf(place.query), asked = withColumns(filter);
  const address = (/** @type {number | string} */ id, /** @type {number | string} */ part) => `#/runs/${run}/samples/${id}/${part}${asked ? `?${asked}` : ""}`;
  place.title = `${found.name === null ? `Sample ${row}/${repeat}` : `Row ${found.name}`} of ${found.run.name}, run ${run}`;
  const said = h("span", { role: "status", class: "dim" });

  /** To the neighbour by the current filter. @param {boolean} back */
  async function go(back) {
    const query = new URLSearchParams([...filter].filter(([key]) => key !== "descending"));
    query.set("descending", String((filter.get("descending") === "true") !== back));
    query.set("columns", "sample_id,repeat");
    query.set("limit", "1");
    let after = Number(row) * 10_000 + Number(repeat);
    say(said, "Looking…");
    try {
      for (;;) {
        const page = await get(`/runs/${run}/samples?${query}&after=${after}`, signal);
        if (page.samples.length) { location.hash = address(page.samples[0].sample_id, page.samples[0].repeat); return; }
        if (page.next === null) break;
        after = page.next;
      }
      say(said, back ? "This is the first." : "This is the last.");
    } catch (error) {
      if (error.name !== "AbortError") say(said, `${error.message} ${error.hint ?? ""}`);
    }
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j") go(false);
    if (event.key === "k") go(true);
  }, { signal });

  const numbers = [
    found.latency_s === null ? null : `latency ${duration(found.latency_s)}`, found.ttft_s === null ? null : `first token after ${duration(found.ttft_s)}`,
    found.prompt_tokens === null ? null : `${count(found.prompt_tokens)} prompt tokens`, found.completion_tokens === null ? null : `${count(found.completion_tokens)} completion tokens`,
    found.finish_reason === null ? null : `finish reason ${found.finish_reason}`,
  ].filter(Boolean);
  const read = found.scores?.extracted ?? found.scores?.parsed_response ?? found.scores?.matched;
  const others = found.repeats.filter((/** @type {Sample} */ each) => String(each.repeat) !== repeat);
  if (found.name !== null) place.command = `benchwright show ${run} ${quoted(found.name)}`;
  return [
    h("p", { class: "trail" }, h("a", { href: "#/runs" }, "Runs"), " › ", h("a", { href: pageOf(found.run) }, name("run.name", found.run.name), ` (run ${run})`), " › ", h("a", { href: link(run, asked) }, "Samples")),
    h("div", { class: "bar" }, h("h1", { tabindex: "-1" }, found.name === null ? null : h("span", {}, "Row ", name("name", found.name), h("span", { class: "dim" }, " · ")), "Sample ", figure("sample_id", row), "/", figure("repeat", repeat)), state(found),
      h("span", { class: "steps" }, h("button", { id: "previous", type: "button", onclick: () => go(true), "aria-keyshortcuts": "k" }, "← Previous (k)"), " ", h("button", { id: "next", type: "button", onclick: () => go(false), "aria-keyshortcuts": "j" }, "Next (j) →"), " ", said)),
    h("p", { class: "about" }, numbers.join(" · ")),
    found.error ? h("p", { class: "bad-text" }, found.error) : null,
    h("div", { class: "sides" },
      h("div", {}, h("h2", {}, isDialogue(found) ? "Conversation" : "Prompt"), ...prompt(found)),
      h("div", {}, h("h2", {}, "Reply"), reply(found),
        read === undefined || read === null ? null : h("p", { class: "dim" }, "read as the answer: ", h("b", {}, scoreText(read)), found.scores.rule ? ` (rule ${found.scores.rule})` : ""),
        found.reasoning ? h("details", {}, h("summary", {}, "Reasoning"), long(found.reasoning, "Reasoning")) : null,
        h("h2", {}, "Target"), found.target === null ? h("p", { class: "dim" }, "The row has no answer.") : long(found.target, "Target"),
        h("h2", {}, "Scores"), scores(found))),
    labelling(`/runs/${run}/samples/${row}/${repeat}`, found, signal),
    ...section("Calls", calls(found)), ...section("Judges", ...judges(found)),
    ...section("Repeats of this row", others.length ? beside("Repeats", others, "repeats", (each) => h("a", { href: address(each.sample_id, each.repeat) }, `${each.sample_id}/${each.repeat}`)) : null),
    ...section("The same row in other runs", found.elsewhere.length ? beside("Other runs", found.elsewhere, "elsewhere", (each) => h("a", { href: `#/runs/${each.run_id}/samples/${each.sample_id}/${each.repeat}` }, `run ${each.run_id}: ${each.title}`)) : null,
      found.elsewhere_unread ? h("p", { class: "dim" }, `${plural(found.elsewhere_unread, "more run")} of the same name will be searched when you open this page again.`) : null),
    ...section("Requests", requests(found)), askAgain(`/runs/${run}/samples/${row}/${repeat}`, found),
    ...section("Row", found.row ? long(indented(found.row) ?? "", "Row") : null),
    h("h2", {}, "Everything"), raw(`/runs/${run}/samples/${row}/${repeat}`, signal),
  ].filter((part) => part !== null);
}
