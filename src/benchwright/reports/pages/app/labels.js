// What people say of samples: the labels of one sample with the form for a new one, and #/labels, the list of all.

import { get, post, readOnly } from "./api.js";
import { at, h, name, say, scrolls, unseen } from "./dom.js";
import { plural } from "./figures.js";

/** @typedef {{ id: number, kind: string, words: string, value: string | null, who: string, at: string, applies: boolean, run_id: number, sample_id: number, repeat: number }} Label */

/** Each kind, its words, and what its value is: empty if it has none. */
export const KINDS = [
  ["gold", "gold is wrong", "the right target"], ["ambiguous", "ambiguous", ""], ["extraction", "extraction is wrong", "the right reading of the reply"],
  ["judge", "right grade", "the grade that the judge should give"], ["tag", "tag", "a word of your own"], ["note", "note", "a text"],
];
const NEEDED = ["judge", "tag", "note"], SCORED = ["gold", "ambiguous", "extraction"], MOST_EFFECTS = 3;

/** @param {Error & { hint?: string | null }} error */
const told = (error) => `${error.message} ${error.hint ?? ""}`;

/** @param {Label} label @param {number} place @param {((label: Label) => void) | null} remove */
function item(label, place, remove) {
  return h("li", { "data-label": String(label.id) }, h("b", { "data-json": at("labels", place, "words") }, label.words), label.value === null ? null : h("span", {}, ": ", h("bdi", { class: "label-value", "data-json": at("labels", place, "value") }, label.value)),
    h("span", { class: "dim" }, " by ", name(at("labels", place, "who"), label.who), `, ${label.at.slice(0, 10)}`, label.applies ? "" : ", about another reply to this row"),
    remove === null ? null : h("span", {}, " ", h("button", { type: "button", class: "small", "aria-label": `Remove label ${label.words} by ${label.who}`, onclick: () => remove(label) }, "Remove")));
}

/** The labels of a sample, and the form that the key `l` opens. A judged sample offers the judge's grades, each with its key.
 *  @param {string} path of the sample below /api @param {{ labels: Label[], grades: string[] }} found
 *  @param {AbortSignal} signal @returns {Node} */
export function labelling(path, found, signal) {
  const list = h("ul", { class: "labels" }), said = h("p", { role: "status", class: "dim" }), slot = h("div", {});
  const opener = h("button", { id: "label", type: "button", "aria-keyshortcuts": "l", onclick: open }, "Label (l)");
  const none = h("p", { class: "dim" }, "Nobody has labelled this row.");

  function show() {
    list.replaceChildren(...found.labels.map((label, place) => item(label, place, readOnly() ? null : remove)));
    list.hidden = !found.labels.length;
    none.hidden = !list.hidden;
  }

  async function again() {
    found = await get(path, signal);
    show();
  }

  /** @param {Label} label */
  async function remove(label) {
    try {
      say(said, `${(await post(`/labels/${label.id}/remove`, {})).message}.`);
      await again();
      opener.focus();
    } catch (error) {
      say(said, told(error));
    }
  }

  function close() {
    slot.replaceChildren();
    opener.hidden = false;
    opener.focus();
  }

  function open() {
    if (slot.childElementCount) return;
    const kind = /** @type {HTMLSelectElement} */ (h("select", { id: "label-kind", name: "kind" }, ...KINDS.map(([value, words]) => h("option", { value }, words))));
    const value = /** @type {HTMLTextAreaElement} */ (h("textarea", { id: "label-value", name: "value", rows: "2", autocomplete: "off" }));
    const words = h("span", {}), field = h("label", { class: "field wide" }, words, value), trouble = h("p", { class: "bad-text", role: "alert" });
    const grades = found.grades.map((grade, at) => h("button", { type: "button", class: "grade", "data-grade": grade, "aria-keyshortcuts": at < 9 ? String(at + 1) : null, onclick: () => keep("judge", grade) }, at < 9 ? `${grade} (${at + 1})` : grade));
    const submit = h("button", { type: "submit" }, "Save (Enter)");
    const choices = h("div", { class: "tools grades", role: "group", "aria-label": "Right grade" }, ...grades);
    const chosen = () => {
      const asks = KINDS.find(([each]) => each === kind.value)?.[2] ?? "";
      value.required = NEEDED.includes(kind.value);
      say(words, value.required ? asks : `${asks} (if you know it)`);
      choices.hidden = kind.value !== "judge" || !grades.length;
      submit.hidden = !choices.hidden;
      field.hidden = asks === "" || !choices.hidden;
      value.disabled = field.hidden; // what is hidden is not required
    };
    kind.addEventListener("change", chosen);
    const save = (/** @type {Event} */ event) => {
      event.preventDefault();
      keep(kind.value, field.hidden || value.value === "" ? null : value.value);
    };
    const keep = async (/** @type {string} */ what, /** @type {string | null} */ said_of_it) => {
      say(trouble, "");
      try {
        const kept = await post(`${path}/labels`, { kind: what, value: said_of_it });
        await again();
        say(said, `Labelled: ${kept.words}.`);
        close();
      } catch (error) {
        say(trouble, told(error));
      }
    };
    const keys = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") close();
      const at = "123456789".indexOf(event.key);
      if (!choices.hidden && event.key.length === 1 && at >= 0 && at < found.grades.length) { event.preventDefault(); keep("judge", found.grades[at]); }
      if (event.key === "Enter" && event.target === value && !event.shiftKey) { event.preventDefault(); form.requestSubmit(); }
    };
    const form = /** @type {HTMLFormElement} */ (h("form", { class: "label-form", "aria-label": "Label this sample", onsubmit: save, onkeydown: keys },
      h("div", { class: "fields" }, h("label", { class: "field" }, h("span", {}, "label"), kind), choices, field,
        submit, h("button", { type: "button", onclick: close }, "Close (Esc)")), trouble));
    if (grades.length) kind.value = "judge"; // what a judged sample is mostly labelled with
    chosen();
    slot.replaceChildren(form);
    opener.hidden = true;
    kind.focus();
  }

  if (readOnly()) opener.hidden = true;
  else {
    addEventListener("keydown", (event) => {
      const target = /** @type {Element | null} */ (event.target);
      if (event.key !== "l" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target?.tagName ?? "")) return;
      event.preventDefault();
      open();
    }, { signal });
  }
  show();
  return h("section", { class: "labelling", "aria-label": "Labels" }, h("h2", {}, "Labels"), list, none, opener, slot, said);
}

/** @param {string} id @param {string} words @param {HTMLElement} control */
const field = (id, words, control) => h("label", { class: "field", for: id }, h("span", {}, words), control);

/** What labels would change of the runs that they were given in. Samples are scored again for it, which only a reader with all rights may do.
 *  @param {number[]} runs @param {AbortSignal} signal */
function effects(runs, signal) {
  const lines = runs.map((run) => h("li", { "data-effect": String(run) }, h("a", { href: `#/runs/${run}` }, `run ${run}`), ": ", h("span", {}, "Scoring the labelled samples again…")));
  (async () => {
    for (const [place, run] of runs.entries()) {
      if (signal.aborted) return;
      const words = lines[place].lastElementChild;
      try {
        const found = await post(`/runs/${run}/labels/effect`, {});
        if (words) say(words, found.text || "no score would change.");
      } catch (error) {
        if (signal.aborted) return;
        if (words) say(words, told(error));
      }
    }
  })();
  return h("section", { "aria-label": "What labels change" }, h("ul", { class: "labels" }, ...lines));
}

/** #/labels: all labels, newest first. @param {import("./app.js").Place} place @returns {Promise<Node[]>} */
export async function labels(place) {
  const { query, signal } = place;
  const asked = new URLSearchParams(["kind", "who", "run", "q"].map((key) => [key, query.get(key) ?? ""]).filter(([, value]) => value !== ""));
  const first = await get(`/labels?${asked}&limit=100`, signal);
  const body = h("tbody", {}), said = h("p", { class: "about", role: "status" }), trouble = h("p", { class: "bad-text", role: "alert" });
  const further = h("button", { id: "more", type: "button" }, "Show more labels");
  const grid = h("div", scrolls("Labels"), h("table", { class: "labels-table" }, h("thead", {}, h("tr", {}, ...["sample", "label", "value", "who", "when (UTC)", ...(readOnly() ? [] : [unseen("remove")])].map((words) => h("th", {}, words)))), body));
  /** @type {number | null} */
  let next = null;

  /** @param {Label} label */
  function row(label) {
    const line = h("tr", { "data-label": String(label.id) },
      h("td", {}, h("a", { href: `#/runs/${label.run_id}/samples/${label.sample_id}/${label.repeat}` }, `run ${label.run_id}, ${label.sample_id}/${label.repeat}`)),
      h("td", {}, label.words), h("td", {}, h("span", { class: "clip" }, label.value ?? "–")), h("td", {}, h("bdi", {}, label.who)), h("td", {}, label.at.slice(0, 16).replace("T", " ")));
    if (!readOnly()) {
      line.append(h("td", {}, h("button", { type: "button", class: "small", "aria-label": `Remove label ${label.id}`, onclick: async () => {
        try {
          await post(`/labels/${label.id}/remove`, {});
          line.remove();
          sayHowMany();
        } catch (error) {
          say(trouble, told(error));
        }
      } }, "Remove")));
    }
    return line;
  }

  function sayHowMany() {
    say(said, body.childElementCount ? `${plural(body.childElementCount, "label")} shown${next === null ? "" : ", there are more"}.` : [...asked].length ? "No labels match." : "There are no labels yet. Open a sample and press l.");
    further.hidden = next === null;
    grid.hidden = !body.childElementCount;
  }

  /** @param {{ labels: Label[], next: number | null }} page */
  function add(page) {
    body.append(...page.labels.map(row));
    next = page.next;
    sayHowMany();
  }

  further.addEventListener("click", async () => {
    try {
      add(await get(`/labels?${asked}&limit=100&after=${next}`, signal));
    } catch (error) {
      if (error.name !== "AbortError") say(trouble, told(error));
    }
  });
  add(first);
  const value = (/** @type {string} */ key) => query.get(key) ?? "";
  const kinds = h("select", { id: "kind", name: "kind" }, ...[["", "any"], ...KINDS].map(([each, words]) => h("option", { value: each, selected: each === value("kind") ? "" : null }, words)));
  const input = (/** @type {string} */ id, kind = "text") => h("input", { id, name: id, type: kind, value: value(id), autocomplete: "off" });
  const filter = h("form", { class: "filter", role: "search", "aria-label": "Filter", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    const given = new URLSearchParams([...new FormData(/** @type {HTMLFormElement} */ (event.target))].map(([key, each]) => [key, String(each)]).filter(([, each]) => each !== ""));
    location.hash = `#/labels${given.size ? `?${given}` : ""}`;
  } }, h("div", { class: "fields" }, field("kind", "label", kinds), field("who", "who", input("who")), field("run", "rows of run", input("run", "number")), field("q", "text", input("q", "search")), h("button", { id: "apply", type: "submit" }, "Show")));
  const runs = value("run") ? [Number(value("run"))] : [...new Set(/** @type {Label[]} */ (first.labels).filter(({ kind }) => SCORED.includes(kind)).map(({ run_id }) => run_id))].slice(0, MOST_EFFECTS);
  const changed = readOnly() || !runs.length || !first.labels.length ? [] : [effects(runs, signal)];
  return [h("h1", { tabindex: "-1" }, "Labels"), filter, ...changed, said, grid, h("div", { class: "foot" }, trouble, further),
    h("p", { class: "dim" }, "Labels belong to rows: each shows in every run on its row. In a sheet: "), h("pre", scrolls("Command"), "benchwright labels RUN --export labels.xlsx")];
}
