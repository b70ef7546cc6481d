// Live runs: one stream of events for all tabs of this browser, because a browser opens only six connections to a server.

import { stream } from "./api.js";
import { figure, h, say, svg } from "./dom.js";
import { count, decimal, duration, fixed } from "./figures.js";

/** @typedef {import("./rest.js").LiveRuns & { first: boolean }} News runs that changed, numbers of deleted ones, and the
 *  newest number; the first news of a connection has all runs that are live */

const channel = new BroadcastChannel("benchwright.live");
const PAUSES_MS = [500, 1000, 2000, 4000];
/** @type {Set<(news: News) => void>} */
const readers = new Set();
const line = h("p", { class: "connection", role: "status", hidden: "" });
/** @type {Map<number, any>} */
const live = new Map();
let begun = false, leads = false, last = 0, known = false;

/** What the reader is told of the connection; empty while it is well. @param {string} words */
function tell(words) {
  line.hidden = words === "";
  if (line.textContent !== words) say(line, words);
}

/** @param {{ news?: News, words?: string }} message */
function hand({ news, words }) {
  if (words !== undefined) tell(words);
  if (news === undefined) return;
  if (news.first) live.clear();
  for (const run of news.runs) {
    if (isLive(run)) live.set(run.id, run);
    else live.delete(run.id);
  }
  for (const id of news.removed) live.delete(id);
  last = news.last;
  known = true;
  for (const reader of [...readers]) reader(news);
}

/** Read the stream for all tabs, and begin again whenever it breaks. */
async function lead() {
  leads = true;
  for (let failures = 0; ; failures += 1) {
    let first = true;
    try {
      await stream("/live", (news) => {
        failures = 0;
        share({ news: { ...news, first }, words: "" });
        first = false;
      });
      share({ words: "Connecting to the server again…" });
    } catch (error) {
      if (error.status === 401) return share({ words: "The token of this tab no longer works: the server was started again, or the token was taken away. Reload this page and enter a new code to see what happens now." });
      share({ words: failures ? "The server does not answer. What you see may be old; this page keeps trying." : "Connecting to the server again…" });
    }
    await new Promise((done) => setTimeout(done, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]));
  }
}

/** All that is live now, for a reader that comes later. @returns {News} */
const sofar = () => ({ runs: [...live.values()], removed: [], last, first: true });

/** @param {{ words?: string, news?: News }} message */
function share(message) {
  channel.postMessage(message);
  hand(message);
}

/** Call a function with all news until the page is left. @param {AbortSignal} signal @param {(news: News) => void} reader */
export function watch(signal, reader) {
  if (signal.aborted) return;
  readers.add(reader);
  signal.addEventListener("abort", () => readers.delete(reader));
  if (known) queueMicrotask(() => readers.has(reader) && reader(sofar()));
  if (begun) return;
  begun = true;
  document.querySelector("body > header")?.append(line);
  channel.addEventListener("message", ({ data }) => {
    if (data !== "so far?") hand(data);
    else if (leads && known) channel.postMessage({ news: sofar() });
  });
  channel.postMessage("so far?");
  // Whoever holds the lock reads for all; when its tab is closed, the next one does.
  if (navigator.locks) navigator.locks.request("benchwright.live", lead);
  else lead();
}

/** Whether a run is queued or running. @param {{ status: string }} run */
export const isLive = (run) => run.status === "running" || run.status === "queued";

/** How far a live run is: a bar, and words; null if it does not tell. @param {any} run */
export function progress(run) {
  const told = run.progress;
  if (!told) return null;
  const share = told.total ? Math.min(1, told.done / told.total) : null;
  const json = (/** @type {string} */ key) => `progress.${key}`;
  const bar = share === null ? null : svg("svg", { class: "progress", role: "img", "aria-label": `${fixed(100 * share, 0)} % done` },
    svg("rect", { class: "ground", width: "100%", height: 6, rx: 3 }), svg("rect", { class: "bar", width: `${fixed(100 * share, 2)}%`, height: 6, rx: 3 }));
  return h("div", { class: "so-far", "data-progress": share === null ? "" : String(share) },
    bar, h("span", { class: "whole" }, figure(json("done"), count(told.done)), ...(told.total ? [" of ", figure(json("total"), count(told.total))] : [" done"]), told.seconds_left === null ? null : ","), " ",
    told.seconds_left === null ? null : h("span", { class: "whole", "data-time-left": String(told.seconds_left), "data-json": json("seconds_left") }, `${duration(told.seconds_left)} left`));
}

/** The same above the page of a run, with its rate. @param {any} run */
export function progressBand(run) {
  const told = run.progress;
  const words = told ? [`${told.phase}, `, figure("progress.per_s", decimal(told.per_s, 1)), " per second",
    ...(told.failed ? [", ", h("span", { class: "warn" }, figure("progress.failed", count(told.failed)), " failed")] : [])] : ["it has not told yet how far it is"];
  return h("section", { class: "card live", role: "region", "aria-label": "Progress" },
    h("p", {}, h("b", { class: `status-${run.status}`, "data-json": "status" }, run.status), ": ", ...words), progress(run));
}
