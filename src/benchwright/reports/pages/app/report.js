// A page in one file: shows the JSON that was written into it.

/** @param {(page: any) => Node[]} show makes the elements of the page */
export function open(show) {
  const data = /** @type {HTMLElement} */ (document.getElementById("data"));
  const place = /** @type {HTMLElement} */ (document.getElementById("page"));
  place.append(...show(JSON.parse(data.textContent ?? "")));
}
