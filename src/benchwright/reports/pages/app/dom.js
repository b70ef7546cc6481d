// Elements. All text is text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | null | undefined} Child */

/** @template {Element} E @param {E} element @param {Record<string, any>} attributes @param {Child[]} children */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  for (const child of children) {
    if (child !== null && child !== undefined) element.append(typeof child === "string" ? printable(child) : child);
  }
  return element;
}

/** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {Record<string, any>} attributes `on…` is a listener; null and
 *  false leave one out @param {...Child} children @returns {HTMLElementTagNameMap[T]} */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of a drawing. @param {string} tag @param {Record<string, any>} attributes @param {...Child} children @returns {SVGElement} */
export function svg(tag, attributes, ...children) {
  return /** @type {SVGElement} */ (filled(document.createElementNS(SVG, tag), attributes, children));
}

/** Put a text into an element, in place of what it has. @param {Element} element @param {string} text */
export function say(element, text) {
  element.textContent = printable(text);
}

/** The place of a value in the JSON of a run: names and numbers with dots between, `\.` for a dot in a name.
 *  @param {...(string | number)} parts */
export function at(...parts) {
  return parts.map((part) => String(part).replaceAll(".", "\\.")).join(".");
}

/** A figure, with its place in the JSON that it comes from. @param {string} path @param {string} text @param {string | null} style */
export function figure(path, text, style = null) {
  return h("span", { "data-json": path, class: style }, text);
}

/** A name that can break after its marks. @param {string} text @returns {Child[]} */
export function broken(text) {
  return printable(text).split(/(?<=[_\-/.:])/).flatMap((part, place) => (place === 0 ? [part] : [h("wbr", {}), part]));
}

/** A name of the user's data. Its direction of writing turns nothing next to it. @param {string} path @param {string} text */
export function name(path, text) {
  return h("bdi", { "data-json": path }, ...broken(text));
}

/** The attributes of a part that may scroll, which the keyboard must reach. @param {string} label @param {string} kind */
export function scrolls(label, kind = "card") {
  return { class: kind, tabindex: "0", role: "region", "aria-label": label };
}

/** Words that only a reader of the screen needs, such as the heading of a column of pictures. @param {string} words */
export const unseen = (words) => h("span", { class: "hidden" }, words);

/** A name in an address. @param {string} part */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand
  }
}

/** A word of a command, as a shell takes it. @param {string} text */
export const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** @typedef {{ text: string, json?: string, style?: string, about?: string, span?: number }} Cell
 *  a text, its place in the JSON, its style, its meaning, and the columns that it takes */

/** @param {"th" | "td"} tag @param {string | Node | Cell} content @param {string} style */
function cell(tag, content, style) {
  if (typeof content === "string" || content instanceof Node) return h(tag, { class: style }, content);
  const styles = `${style} ${content.style ?? ""}`.trim();
  return h(tag, { class: styles, title: content.about, colspan: content.span, "data-json": content.json }, content.text);
}

/** A table in a card. The first column has names, all others numbers, unless a heading says otherwise.
 *  @param {string} label @param {(string | Node | Cell)[]} headings @param {(string | Node | Cell)[][]} rows
 *  @param {{ chosen?: number | null, kind?: string, texts?: number[] }} options the place of a row that stands out, and the columns of texts */
export function table(label, headings, rows, { chosen = null, kind = "figures", texts = [] } = {}) {
  const style = (/** @type {number} */ place) => (place === 0 ? "first" : texts.includes(place) ? "words" : "number");
  const head = headings.length ? h("thead", {}, h("tr", {}, ...headings.map((each, place) => cell("th", each, style(place))))) : null;
  const body = rows.map((row, number) => h("tr", { class: number === chosen ? "chosen" : null }, ...row.map((each, place) => cell("td", each, style(place)))));
  return h("div", scrolls(label), h("table", { class: kind }, head, h("tbody", {}, ...body)));
}

/** A heading with what belongs to it, if there is anything. @param {string} heading @param {...Child} children @returns {Node[]} */
export function section(heading, ...children) {
  const there = children.filter((child) => child !== null && child !== undefined);
  return there.length ? [h("h2", {}, heading), ...there.map((child) => (typeof child === "string" ? document.createTextNode(printable(child)) : child))] : [];
}

/** Sentences with a mark of their state. @param {[string, string, string][]} items style, mark, words @param {(style: string) => string} name of a mark */
export function verdicts(items, name) {
  return h("ul", { class: "verdicts" }, ...items.map(([style, mark, words]) =>
    h("li", { class: style }, h("b", { role: "img", "aria-label": name(style), title: name(style) }, mark), h("span", {}, words))));
}

/** @typedef {{ grade: string, text: string }} Note */

// The class and the mark of a note of each grade.
/** @type {Record<string, [string, string]>} */
const GRADES = { problem: ["bad", "✗"], caution: ["warn", "!"], information: ["info", "i"] };
const GRADE_OF = Object.fromEntries(Object.entries(GRADES).map(([grade, [style]]) => [style, grade]));

/** Notes, the gravest first, each with its grade. What only informs is folded if something else is there to be read first.
 *  @param {Note[]} all @returns {Node[]} */
export function notes(all) {
  const list = (/** @type {Note[]} */ some) => verdicts(some.map(({ grade, text }) => [...GRADES[grade], text]), (style) => GRADE_OF[style]);
  const grave = all.filter(({ grade }) => grade !== "information"), other = all.filter(({ grade }) => grade === "information");
  if (!all.length) return [];
  if (!grave.length || !other.length) return [list(all)];
  return [list(grave), h("details", {}, h("summary", {}, `For information: ${other.length}`), list(other))];
}

/** Text with marks that hide or turn text made visible, as the commands print it. @param {string} text */
export function printable(text) {
  return text.replaceAll("\r\n", "\n").replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu,
    (mark) => {
      const code = mark.codePointAt(0) ?? 0;
      return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    },
  );
}
