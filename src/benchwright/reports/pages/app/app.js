// The shell: lets the tab in, finds the page of the address, and shows it in one of its states.

import { acts } from "./acts.js";
import { enter, exchange, hasToken } from "./api.js";
import { blind } from "./blind.js";
import { commandOf, shownBy } from "./command.js";
import { data } from "./data.js";
import { h, say } from "./dom.js";
import { gate } from "./gate.js";
import { history as historyPage } from "./history.js";
import { labels } from "./labels.js";
import { isLive, progressBand, watch } from "./live.js";
import { runs } from "./runs.js";
import { sample } from "./sample.js";
import { samples } from "./samples.js";
import { search } from "./search.js";
import { servedCompare } from "./served_compare.js";
import { servedLoad } from "./served_load.js";
import { servedRun } from "./served_run.js";
import { servedSuite } from "./served_suite.js";
import { servedWorkflow } from "./served_workflow.js";
import { slices } from "./slices.js";
import { deleted, failed, loading, needsCode, nothingThere } from "./states.js";

/** @typedef {{ signal: AbortSignal, address: string, ids: string[], query: URLSearchParams, title: string, command: string | null, live: boolean, tell: (words: string, share: number) => void }} Place
 *  where a page is shown: the parts of its address, and what it may change: its title, the command that shows the same, and whether the run
 *  that it shows was live when it was read; `tell` says how far it is, while it takes long */

/** One row per page: its address without what follows `?`, its title, and the function that makes its elements of the server's JSON.
 *  A row with a link is in the bar above all pages. */
const PAGES = [
  { address: /^#\/runs$/, title: "Runs", link: "#/runs", show: runs },
  { address: /^#\/search$/, title: "Search", link: "#/search", show: search },
  { address: /^#\/labels$/, title: "Labels", link: "#/labels", show: labels },
  { address: /^#\/blind$/, title: "Blind grading", show: blind },
  { address: /^#\/runs\/(\d+)$/, title: "Run", show: servedRun, ofRun: true },
  { address: /^#\/runs\/(\d+)\/samples$/, title: "Samples", show: samples },
  { address: /^#\/runs\/(\d+)\/samples\/(\d+)\/(\d+)$/, title: "Sample", show: sample },
  { address: /^#\/runs\/(\d+)\/slices$/, title: "Slices", show: slices },
  { address: /^#\/compare$/, title: "Comparison", show: servedCompare },
  { address: /^#\/history\/([^/]+)$/, title: "History", show: historyPage },
  { address: /^#\/suites\/([^/]+)$/, title: "Suite", show: servedSuite },
  { address: /^#\/load\/(\d+)$/, title: "Load test", show: servedLoad, ofRun: true },
  { address: /^#\/workflows\/(\d+)$/, title: "Workflow", show: servedWorkflow, ofRun: true },
  { address: /^#\/gates\/(\d+)$/, title: "Gate", show: gate },
  { address: /^#\/data$/, title: "Data", show: data },
];

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
let leaving = new AbortController();
let shown = ""; // the address of the page that is shown, without what follows `?`

/** @param {string} title @param {boolean} busy @param {...Node} children */
function fill(title, busy, ...children) {
  document.title = `${title} – benchwright`;
  main.setAttribute("aria-busy", String(busy));
  main.replaceChildren(...children);
}

/** Tell how far a page is that takes long, where it says what it is doing. @param {string} words @param {number} share */
function tell(words, share) {
  const line = main.querySelector("[role=status]");
  line?.setAttribute("data-progress", String(share));
  if (line) say(line, words);
}

/** @param {string | null} why */
function askForCode(why) {
  fill("Code needed", false, needsCode(why, async (code) => {
    try {
      await exchange(code);
      show(true);
    } catch (error) {
      askForCode(error.status === 0 ? error.message : `${error.message}.`);
    }
  }));
}

/** Keep the page of a run up to date: while it is live, a band above it says how far it is; when that ends, the page is read again.
 *  @param {{ ofRun?: boolean }} page @param {Place} place */
function follow(page, place) {
  if (!page.ofRun) return;
  const id = Number(place.ids[0]);
  let band = /** @type {Element | null} */ (null), wasLive = place.live;
  watch(place.signal, ({ runs: changed, removed, first }) => {
    const run = changed.find((each) => each.id === id);
    const ended = wasLive && (run === undefined ? first : !isLive(run));
    if (removed.includes(id)) return fill("Deleted", false, deleted(id));
    if (ended) return show(false);
    if (run === undefined || !isLive(run)) return;
    wasLive = true;
    const now = progressBand(run);
    if (band === null) main.querySelector("h1")?.after(now);
    else band.replaceWith(now);
    band = now;
  });
}

/** @param {boolean} moved whether the reader followed a link, so that the focus must follow */
async function show(moved) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [address, asked] = [location.hash.replace(/\?.*$/s, ""), location.hash.replace(/^[^?]*\??/, "")];
  const page = PAGES.find((each) => each.address.test(address));
  for (const link of document.querySelectorAll("nav a")) {
    if (page !== undefined && address.startsWith(link.getAttribute("href") ?? "-")) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!hasToken()) return askForCode(null);
  if (page === undefined) return fill("No such page", false, nothingThere(location.hash));
  const same = shown === address && main.getAttribute("aria-busy") === "false"; // only the query changed: the page stays while the next one loads
  if (same) main.setAttribute("aria-busy", "true");
  else fill(page.title, true, loading(page.title.toLowerCase()));
  const place = { signal, address: location.hash, ids: (page.address.exec(address) ?? []).slice(1), query: new URLSearchParams(asked), title: page.title, command: commandOf(address, new URLSearchParams(asked)), live: false, tell };
  try {
    const parts = await page.show(place);
    if (signal.aborted) return;
    const focused = same ? document.activeElement?.id : "";
    fill(place.title, false, ...parts, ...(place.command === null ? [] : [shownBy(place.command)]));
    shown = address;
    follow(page, place);
    if (page.ofRun) acts(place.ids[0], signal, () => show(false)).then((bar) => bar !== null && !signal.aborted && main.append(bar), () => {});
    const kept = focused ? document.getElementById(focused) : null;
    if (kept) kept.focus();
    else if (moved) main.querySelector("h1")?.focus();
  } catch (error) {
    if (signal.aborted) return;
    shown = "";
    if (error.status === 401) askForCode("The token of this tab no longer works: the server was started again, or the token was taken away.");
    else fill(page.title, false, failed(error, () => show(true)));
  }
}

async function start() {
  document.querySelector("nav")?.append(...PAGES.filter(({ link }) => link).map(({ title, link }) => h("a", { href: link }, title)));
  if (location.hash === "") history.replaceState(null, "", `${location.pathname}${location.search}#/runs`);
  try {
    await enter();
  } catch (error) {
    if (error.status === 0) return fill("No answer", false, failed(error, () => location.reload()));
    addEventListener("hashchange", () => show(true));
    return askForCode(`${error.message}.`);
  }
  addEventListener("hashchange", () => show(true));
  show(false);
}

start();
