// The filter of a list of samples, as it stands in the address and in requests.

/** One row per filter: its name in the address and for the server, and its words on the page. */
export const FILTERS = [
  ["outcome", "outcome"], ["verdict", "verdict"], ["scored", "scored"], ["metric", "metric"], ["above", "above"], ["below", "below"],
  ["rule", "rule of extraction"], ["column", "column"], ["value", "value"], ["text", "text"], ["labelled", "labelled"], ["changed_from", "changed from run"], ["sort", "sorted by"], ["descending", "descending"],
];

/** The address of samples. @param {string | number} run @param {string} filter */
export const link = (run, filter) => `#/runs/${run}/samples${filter ? `?${filter}` : ""}`;

/** What the server understands of a query, in the order of the table. @param {URLSearchParams} query */
export function filterOf(query) {
  return new URLSearchParams(FILTERS.map(([name]) => [name, query.get(name) ?? ""]).filter(([, value]) => value !== ""));
}

/** A filter with the columns that the address has now. @param {URLSearchParams} filter */
export function withColumns(filter) {
  const shown = new URLSearchParams(location.hash.replace(/^[^?]*\??/s, "")).getAll("show");
  return new URLSearchParams([...filter, ...shown.map((key) => ["show", key])]).toString();
}
