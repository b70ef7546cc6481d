// Numbers with the same digits as the commands print.

/** As Python's `f"{value:.{digits}f}"`: a tie goes to the even digit. @param {number} value @param {number} digits */
export function fixed(value, digits) {
  const size = Math.abs(value);
  const [whole, part] = size.toFixed(100).split("."); // every digit of the number
  const cut = digits === 0 ? whole : `${whole}.${part.slice(0, digits)}`;
  const tie = /^50*$/.test(part.slice(digits));
  const rounded = tie && "02468".includes(cut.at(-1)) ? cut : size.toFixed(digits);
  return value < 0 ? `-${rounded}` : rounded;
}

/** With a comma at every thousand. @param {string} text */
const grouped = (text) => text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");

/** A score. @param {number} value */
export const score = (value) => grouped(fixed(value, 4));

/** A number of things. @param {number} value */
export const count = (value) => grouped(fixed(value, 0));

/** A span of time. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1) return `${fixed(seconds * 1000, 0)} ms`;
  if (seconds < 60) return `${fixed(seconds, 1)} s`;
  const whole = Number(fixed(seconds, 0));
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
