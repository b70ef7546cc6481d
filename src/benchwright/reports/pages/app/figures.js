// Numbers with the same digits as the commands print.

/** As Python's `f"{value:.{digits}f}"`: a tie goes to the even digit. @param {number} value @param {number} digits */
export function fixed(value, digits) {
  const size = Math.abs(value);
  // Every digit of the number. From 1e21 on, `toFixed` writes powers; such numbers are whole.
  const [whole, part] = size < 1e21 ? size.toFixed(100).split(".") : [String(BigInt(size)), "0".repeat(100)];
  const cut = digits === 0 ? whole : `${whole}.${part.slice(0, digits)}`;
  const tie = /^50*$/.test(part.slice(digits));
  const rounded = tie && "02468".includes(cut.at(-1) ?? "") ? cut : size < 1e21 ? size.toFixed(digits) : cut;
  return value < 0 ? `-${rounded}` : rounded;
}

/** As Python's `f"{value:.{digits}g}"`. @param {number} value @param {number} digits */
export function general(value, digits) {
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const places = digits - 1 - Number(power);
  if (Number(power) < -4 || places < 0) return `${Number(mantissa)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  const text = fixed(value, places);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** With a comma at every thousand. @param {string} text */
const grouped = (text) => text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");

/** A score. @param {number} value */
export const score = (value) => grouped(fixed(value, 4));

/** A number of things. @param {number} value */
export const count = (value) => grouped(fixed(value, 0));

/** With decimals, and a comma at every thousand. @param {number} value @param {number} digits */
export const decimal = (value, digits) => grouped(fixed(value, digits));

/** A share. @param {number} share @param {number} digits */
export const percent = (share, digits) => `${fixed(100 * share, digits)} %`;

/** A p-value: never 0, and no more exact than it is. @param {number} value */
export const pText = (value) => (value < 0.001 ? "< 0.001" : value >= 0.01 ? general(value, 3) : fixed(value, 4));

/** A count with its noun. @param {number} value @param {string} noun */
export const plural = (value, noun) => `${count(value)} ${value === 1 ? noun : `${noun}s`}`;

/** A span of time. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1) return `${fixed(seconds * 1000, 0)} ms`;
  if (seconds < 60) return `${fixed(seconds, 1)} s`;
  const whole = Number(fixed(seconds, 0));
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A figure of a load test in few digits. @param {number | null | undefined} value @param {{ name: string, unit: string }} metric */
export function short(value, { name, unit }) {
  if (value === null || value === undefined) return "–";
  if (unit === "share") return value !== 0 && Math.abs(value) < 0.001 ? `${general(100 * value, 3)} %` : percent(value, 1);
  if (name === "peak_concurrency" || Math.abs(value) >= 1000) return count(value);
  return fixed(value, Math.abs(value) < 10 ? 2 : 1);
}

/** A limit of `--slo`, in its most readable unit. @param {number} ms */
export const limit = (ms) => (ms >= 1000 ? `${grouped(general(ms / 1000, 6))} s` : `${general(ms, 6)} ms`);

/** The fewest values for a percentile; with fewer, it tells no more than the two largest. @type {Record<string, number>} */
const LEAST = { p99: 100, "p99.9": 1000 };

/** A figure of a distribution, if there are enough values to show it. @param {Record<string, any>} values @param {string} key @returns {number | null} */
export const shown = (values, key) => (values.n >= (LEAST[key] ?? 1) ? values[key] : null);

/** An amount with its currency; small amounts keep two significant digits. @param {number} amount @param {string} currency */
export function money(amount, currency) {
  const digits = amount === 0 || amount >= 0.1 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(amount)));
  return `${decimal(amount, digits)} ${currency}`;
}
