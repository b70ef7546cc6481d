// The shell: lets the tab in, finds the page of the address, and shows it in one of its states.

import { enter, hasToken } from "./api.js";
import { h } from "./dom.js";
import { runs } from "./runs.js";
import { failed, loading, needsCode, nothingThere } from "./states.js";

/** One row per page: its address, its title, and the function that makes its elements of the server's JSON. */
const PAGES = [
  { address: /^#\/runs$/, title: "Runs", link: "#/runs", show: runs },
];

const main = document.querySelector("main");
let leaving = new AbortController();

/** @param {string} title @param {boolean} busy @param {...Node} children */
function fill(title, busy, ...children) {
  document.title = `${title} – benchwright`;
  main.setAttribute("aria-busy", String(busy));
  main.replaceChildren(...children);
}

/** @param {boolean} moved whether the reader followed a link, so that the focus must follow */
async function show(moved) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const page = PAGES.find(({ address }) => address.test(location.hash));
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === page?.link) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!hasToken()) return fill("Code needed", false, needsCode(null));
  if (page === undefined) return fill("No such page", false, nothingThere(location.hash));
  fill(page.title, true, loading(page.title.toLowerCase()));
  try {
    const parts = await page.show({ signal, address: location.hash });
    if (signal.aborted) return;
    fill(page.title, false, ...parts);
    if (moved) main.querySelector("h1")?.focus();
  } catch (error) {
    if (signal.aborted) return;
    if (error.status === 401) fill("Code needed", false, needsCode("The server was started again since this tab was opened."));
    else fill(page.title, false, failed(error, () => show(true)));
  }
}

async function start() {
  document.querySelector("nav").append(...PAGES.map(({ title, link }) => h("a", { href: link }, title)));
  if (location.hash === "") history.replaceState(null, "", `${location.pathname}${location.search}#/runs`);
  try {
    await enter();
  } catch (error) {
    if (error.status === 0) return fill("No answer", false, failed(error, () => location.reload()));
    return fill("Code needed", false, needsCode(`${error.message}.`));
  }
  addEventListener("hashchange", () => show(true));
  show(false);
}

start();
