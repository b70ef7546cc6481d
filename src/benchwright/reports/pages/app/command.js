// "The command that shows this", on every page: the terminal has the same numbers.

import { decoded, h, quoted, say } from "./dom.js";
import { filterOf } from "./sample_filter.js";

/** A request to REST, for what no command lists. @param {string} path */
const curl = (path) => `curl -H "Authorization: Bearer $BENCHWRIGHT_TOKEN" ${quoted(`${location.origin}/api${path}`)}`;

/** @param {URLSearchParams} query @param {Record<string, string>} flags the flag of each parameter @returns {string | null} null: one has no flag */
function flagged(query, flags) {
  const given = [...query].filter(([, value]) => value !== "");
  if (given.some(([key]) => !(key in flags))) return null;
  return given.map(([key, value]) => ` ${flags[key]} ${quoted(value)}`).join("");
}

/** @param {string} run @param {URLSearchParams} query */
function samples(run, query) {
  const filter = filterOf(query), show = `benchwright show ${run}`;
  const only = filter.toString();
  if (only === "") return `${show} --steps`;
  if (only === "verdict=wrong") return `${show} --wrong`;
  if (only === "scored=false") return `${show} --failed`;
  const [metric, above, below] = ["metric", "above", "below"].map((key) => filter.get(key));
  const rest = new URLSearchParams([...filter].filter(([key]) => !["metric", "above", "below"].includes(key)));
  const flags = flagged(rest, { outcome: "--outcome", text: "--text", changed_from: "--changed-from" });
  if (flags === null) return curl(`/runs/${run}/samples?${filter}`);
  const limits = metric === null ? [] : [above === null ? null : `${metric}>${above}`, below === null ? null : `${metric}<${below}`].filter((each) => each !== null);
  const where = metric === null ? [] : limits.length ? limits : [metric];
  return show + flags + where.map((each) => ` --where ${quoted(each)}`).join("");
}

/** @param {URLSearchParams} query */
function list(query) {
  const filter = new URLSearchParams([...query].filter(([key]) => !["group", "follow", "select"].includes(key)));
  const flags = flagged(filter, { name: "--name", status: "--status", kind: "--kind" });
  return flags === null ? curl(`/runs?${filter}`) : `benchwright list${flags}`;
}

/** One row per page: its address, and its command. A page that knows better sets `place.command`. @type {[RegExp, (ids: string[], query: URLSearchParams) => string][]} */
const COMMANDS = [
  [/^#\/runs$/, (_, query) => list(query)],
  [/^#\/search$/, (_, query) => curl(`/search?q=${encodeURIComponent(query.get("q") ?? "")}`)],
  [/^#\/(?:runs|load|workflows)\/(\d+)$/, ([id]) => `benchwright show ${id}`],
  [/^#\/runs\/(\d+)\/samples$/, ([id], query) => samples(id, query)],
  [/^#\/runs\/(\d+)\/samples\/(\d+)\/(\d+)$/, ([id, row, repeat]) => `benchwright show ${id} ${row}/${repeat}`],
  [/^#\/runs\/(\d+)\/slices$/, ([id], query) => `benchwright show ${id} --by ${quoted(query.get("by") ?? "COLUMN")}`],
  [/^#\/history\/([^/]+)$/, ([name]) => `benchwright list --name ${quoted(decoded(name))}`],
];

/** @param {string} address of a page @param {URLSearchParams} query @returns {string | null} */
export function commandOf(address, query) {
  const row = COMMANDS.find(([pattern]) => pattern.test(address));
  return row === undefined ? null : row[1]((row[0].exec(address) ?? []).slice(1), query);
}

/** The command with a button that copies it. @param {string} command */
export function shownBy(command) {
  const code = h("code", { class: "command", tabindex: "0" }, command), told = h("span", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      say(told, "Copied.");
    } catch { // no permission, or a plain http address that is not this machine
      getSelection()?.selectAllChildren(code);
      say(told, "Selected: copy it with Ctrl+C or ⌘C.");
    }
  };
  return h("section", { class: "shown-by", "aria-label": "The command that shows this page" }, h("span", { class: "dim" }, "The command that shows this:"), " ", code, " ", h("button", { type: "button", onclick: copy }, "Copy"), " ", told);
}
