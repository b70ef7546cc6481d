// Elements. All text is text: nothing here reads markup.

/** @param {string} tag @param {Record<string, any>} attributes `on…` is a listener; null and false leave one out
 *  @param {...(Node | string | null)} children @returns {HTMLElement} */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A figure, with its place in the JSON that it comes from. @param {string} path @param {string} text @param {string | null} style */
export function figure(path, text, style = null) {
  return h("span", { "data-json": path, class: style }, printable(text));
}

/** A name of the user's data. It can break after its marks, and its direction of writing turns nothing next to it.
 *  @param {string} path @param {string} text */
export function name(path, text) {
  const parts = printable(text).split(/(?<=[_\-/.:])/);
  return h("bdi", { "data-json": path }, ...parts.flatMap((part, at) => (at === 0 ? [part] : [h("wbr", {}), part])));
}

/** Text with marks that hide or turn text made visible, as the commands print it. @param {string} text */
export function printable(text) {
  return text.replaceAll("\r\n", "\n").replace(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu,
    (mark) => {
      const code = mark.codePointAt(0);
      return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    },
  );
}
