// Charts: axes with round ticks, curves and dots, and the values near the pointer.

import { h, say, svg } from "./dom.js";
import { general } from "./figures.js";

/** @typedef {{ low: number, high: number, title?: string, log?: boolean, percent?: boolean, names?: string[] }} Axis `names` stand at 0, 1, 2 and so on, instead of numbers */
/** @typedef {[number, number]} Point */
/** @typedef {{ name: string, points: Point[], colour: number, kind?: "line" | "step" | "area" | "dots", dashed?: boolean, labels?: string[], intervals?: (Point | null)[] }} Series
 *  `labels` stand next to dots, and `intervals` are bars through them */
/** @typedef {[number, string]} Tip a value on the axis along which the nearest tip is searched, and its text */
/** @typedef {[number, string]} Mark a value with its text */
/** @typedef {{ title: string, x: Axis, y: Axis, series: Series[], tips: Tip[], along?: "x" | "y", wide?: boolean, note?: string,
 *  marks?: Mark[], limits?: Mark[], legend?: boolean }} Chart
 *  limits are lines across the axis that they are on: vertical if tips are searched along y; of those beyond the axis, only the texts are shown */

/** The position of a value, from 0 to 1. @param {Axis} axis @param {number} value */
export function place(axis, value) {
  if (!axis.log) return (value - axis.low) / (axis.high - axis.low);
  const [low, high] = [Math.log10(axis.low), Math.log10(axis.high)];
  return (Math.log10(Math.max(value, axis.low)) - low) / (high - low);
}

/** Round values within the range. @param {Axis} axis @param {number} most */
export function ticks({ low, high, log = false }, most = 5) {
  if (log) return logTicks(low, high, most);
  const rough = (high - low) / most;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * (/** @type {number} */ ([1, 2, 2.5, 5, 10].find((nice) => unit * nice >= rough)));
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at <= Math.floor(high / step + 1e-9); at += 1) found.push(step * at);
  return found;
}

/** @param {number} low @param {number} high @param {number} most */
function logTicks(low, high, most) {
  /** @type {number[]} */
  let found = [];
  for (const digits of [[1, 2, 5], [1, 3], [1]]) {
    found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      found.push(...digits.map((digit) => digit * 10 ** power).filter((tick) => low * 0.999 <= tick && tick <= high * 1.001));
    }
    if (found.length <= most + 1) return found;
  }
  const every = Math.ceil(found.length / most);
  return found.filter((_, number) => number % every === 0);
}

/** An axis that contains the values, with some space above. @param {number[]} values @param {string} title
 *  @param {{ zero?: boolean, log?: boolean }} options @returns {Axis} */
export function axisFor(values, title, { zero = true, log = false } = {}) {
  let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  if (log && low > 0 && high > low) return { low: low * 0.97, high: high * 1.03, title, log };
  const equal = high - low < 1e-3 * Math.abs(high); // but for the noise of the clock, which needs no axis of its own
  low = zero || equal ? Math.min(0, low) : low - 0.04 * (high - low);
  return { low, high: high + 0.06 * (high - low || Math.abs(high) || 1), title };
}

/** A round value in few characters. @param {number} value */
export function tickText(value) {
  for (const [size, unit, letter] of /** @type {[number, number, string][]} */ ([[1e9, 1e9, "G"], [1e6, 1e6, "M"], [1e4, 1e3, "k"]])) {
    if (Math.abs(value) >= size) return `${general(value / unit, 6)}${letter}`;
  }
  return general(value, 6);
}

const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;

/** The path through points. Neighbours less than half a unit apart are merged. @param {Point[]} places @param {boolean} step */
function path(places, step = false) {
  let [last] = places;
  let drawn = `M${round(last[0])} ${round(last[1])}`;
  for (const [x, y] of places.slice(1)) {
    if (Math.abs(x - last[0]) < 0.5 && Math.abs(y - last[1]) < 0.5) continue;
    drawn += step ? `H${round(x)}V${round(y)}` : `L${round(x)} ${round(y)}`;
    last = [x, y];
  }
  return drawn;
}

/** The drawing of a chart. Its size is in units that the page scales. */
class Drawing {
  /** @param {Chart} chart */
  constructor(chart) {
    this.chart = chart;
    this.width = chart.wide ? 1000 : 480;
    this.height = chart.wide ? 300 : 280;
    this.left = chart.wide ? 76 : 64;
    this.top = 18;
    this.right = this.width - 14;
    this.floor = this.height - (chart.wide ? 52 : 48);
  }

  /** @param {number} value */
  px(value) {
    return this.left + place(this.chart.x, value) * (this.right - this.left);
  }

  /** @param {number} value */
  py(value) {
    return this.floor - place(this.chart.y, value) * (this.floor - this.top);
  }

  svg() {
    const { chart, left, right, top, floor } = this;
    const guide = chart.along === "y" ? { x1: left, x2: right, y1: top, y2: top } : { x1: left, x2: left, y1: top, y2: floor };
    return svg("svg", { viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": chart.title },
      ...this.grid(), ...this.marks(), ...chart.series.flatMap((each) => this.series(each)), ...this.limits(),
      svg("line", { class: "guide", ...guide, hidden: "" }));
  }

  grid() {
    const { chart, left, right, floor } = this;
    const across = ticks(chart.y).flatMap((tick) => {
      const y = round(this.py(tick));
      return [
        svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }),
        svg("text", { x: left - 8, y, dy: ".35em", "text-anchor": "end" }, tickText(tick) + (chart.y.percent ? " %" : "")),
      ];
    });
    const most = chart.wide ? 8 : 5, names = chart.x.names, every = Math.ceil((names?.length ?? 0) / most);
    const steps = names ? [...names.keys()].filter((number) => number % every === 0) : ticks(chart.x, most);
    const along = steps.flatMap((tick) => {
      const x = round(this.px(tick));
      return [
        svg("line", { class: "tick", x1: x, x2: x, y1: floor, y2: floor + 4 }),
        svg("text", { class: "below", x, y: floor + 18, "text-anchor": "middle" }, names ? names[tick] : tickText(tick)),
      ];
    });
    return [...across, ...along, svg("line", { class: "base", x1: left, x2: right, y1: floor, y2: floor }),
      svg("text", { class: "axis", x: (left + right) / 2, y: this.height - 8, "text-anchor": "middle" }, chart.x.title ?? "")];
  }

  marks() {
    let free = 0; // where the last text ends, by a rough width of letters
    return (this.chart.marks ?? []).flatMap(([value, text]) => {
      const x = this.px(value);
      const drawn = [svg("line", { class: "mark", x1: round(x), x2: round(x), y1: this.top, y2: this.floor })];
      if (x >= free && x + 8 * text.length < this.width) {
        drawn.push(svg("text", { class: "axis", x: round(x + 4), y: this.top - 5 }, text));
        free = x + 8 * text.length + 8;
      }
      return drawn;
    });
  }

  limits() {
    const { chart, left, right, top, floor } = this;
    const axis = chart.along === "y" ? chart.x : chart.y;
    return (chart.limits ?? []).filter(([value]) => axis.low <= value).flatMap(([value, text], place) => {
      if (value > axis.high) {
        const words = `${text} ${chart.along === "y" ? "→" : "↑"}`;
        return [svg("text", { class: "limit", x: right - 4, y: floor - 8 - 14 * place, "text-anchor": "end" }, words)];
      }
      if (chart.along === "y") {
        const x = round(this.px(value)), late = x > (left + right) / 2;
        return [svg("line", { class: "limit", x1: x, x2: x, y1: top, y2: floor }),
          svg("text", { class: "limit", x: late ? x - 5 : x + 5, y: floor - 8, "text-anchor": late ? "end" : "start" }, text)];
      }
      const y = round(this.py(value));
      return [svg("line", { class: "limit", x1: left, x2: right, y1: y, y2: y }),
        svg("text", { class: "limit", x: right - 4, y: y - 5, "text-anchor": "end" }, text)];
    });
  }

  /** @param {Series} series */
  series({ points, colour, kind = "line", dashed = false, labels = [], intervals = [] }) {
    if (!points.length) return [];
    const places = points.map(([x, y]) => /** @type {Point} */ ([this.px(x), this.py(y)]));
    const style = `s${colour % 8}${dashed ? " dashed" : ""}`;
    const bars = intervals.flatMap((each, number) => (each === null ? [] : [svg("line", {
      class: `whisker ${style}`, x1: round(places[number][0]), x2: round(places[number][0]), y1: round(this.py(each[0])), y2: round(this.py(each[1])) })]));
    if (kind === "dots") return [...bars, ...this.dots(places, labels, style)];
    const drawn = path(places, kind !== "line");
    if (kind !== "area") return [svg("path", { class: `curve ${style}`, d: drawn })];
    const base = round(this.py(Math.max(0, this.chart.y.low)));
    return [svg("path", { class: `area ${style}`, d: `${drawn}V${base}H${round(places[0][0])}Z` })];
  }

  /** @param {Point[]} places @param {string[]} labels @param {string} style */
  dots(places, labels, style) {
    const found = [svg("path", { class: `curve ${style}`, d: path(places) })];
    /** @type {Point | null} */
    let taken = null;
    places.forEach(([x, y], number) => {
      found.push(svg("circle", { class: `dot ${style}`, cx: round(x), cy: round(y), r: 4 }));
      const crowded = taken !== null && Math.abs(x - taken[0]) < 26 && Math.abs(y - taken[1]) < 18;
      if (number < labels.length && !crowded) {
        found.push(svg("text", { class: "label", "text-anchor": "end", x: round(x - 5), y: round(y - 8) }, labels[number]));
        taken = [x, y];
      }
    });
    return found;
  }
}

/** A drawing that shows the nearest of some texts next to the pointer. @param {SVGElement} drawing @param {"x" | "y"} along
 *  @param {[number, string][]} points places in the drawing's units, with texts */
function plot(drawing, along, points) {
  const tip = h("div", { class: "tip", hidden: "" });
  const guide = /** @type {SVGElement} */ (drawing.querySelector(".guide"));
  const hide = () => { tip.hidden = true; guide.setAttribute("hidden", ""); };
  const show = (/** @type {PointerEvent} */ event) => {
    const box = drawing.getBoundingClientRect(), scale = /** @type {SVGSVGElement} */ (drawing).viewBox.baseVal.width / box.width;
    const there = (along === "x" ? event.clientX - box.left : event.clientY - box.top) * scale;
    const nearest = points.reduce((best, each) => (Math.abs(each[0] - there) < Math.abs(best[0] - there) ? each : best));
    for (const end of ["1", "2"]) guide.setAttribute(along + end, String(nearest[0]));
    guide.removeAttribute("hidden");
    say(tip, nearest[1]);
    tip.hidden = false;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const left = x + tip.offsetWidth + 18 < box.width ? x + 14 : Math.max(0, x - tip.offsetWidth - 14);
    tip.style.left = `${left}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 12, box.height - tip.offsetHeight))}px`;
  };
  if (points.length) {
    drawing.addEventListener("pointerleave", hide);
    drawing.addEventListener("pointermove", show);
  }
  return h("div", { class: "plot" }, drawing, tip);
}

/** @param {[string, string][]} keys styles with names */
const legend = (keys) => h("div", { class: "keys" }, ...keys.map(([style, words]) => h("span", { class: "key" }, h("i", { class: style }), words)));

/** A chart with its title, its legend and a note. @param {Chart} chart */
export function chart(chart) {
  const drawing = new Drawing(chart), along = chart.along ?? "x";
  const points = chart.tips.map(([value, text]) => /** @type {Tip} */ ([round(along === "x" ? drawing.px(value) : drawing.py(value)), text]));
  const named = new Map(chart.series.map(({ colour, dashed, name }) => [name, `s${colour % 8}${dashed ? " dashed" : ""}`]));
  const keys = [...named].map(([name, style]) => /** @type {[string, string]} */ ([style, name]));
  return h("figure", { class: chart.wide ? "chart wide" : "chart" },
    h("figcaption", {}, chart.title), plot(drawing.svg(), along, points),
    chart.legend !== false && keys.length > 1 ? legend(keys) : null,
    chart.note ? h("p", { class: "dim" }, chart.note) : null);
}

/** @typedef {{ parts: [string, number, number][], tip: string }} Line parts of a line, each with a style, its start and its end */

/** One line for each request, on an axis of time. @param {string} title @param {string} note @param {Line[]} lines @param {Axis} x
 *  @param {[string, string][]} keys the styles of parts, in the order of drawing, with their names */
export function timeline(title, note, lines, x, keys) {
  const [width, left, right, top, bottom] = [1000, 76, 14, 8, 52];
  const row = Math.max(1.9, Math.min(14, 420 / Math.max(1, lines.length)));
  const height = top + lines.length * row + bottom, floor = height - bottom;
  const px = (/** @type {number} */ value) => left + Math.max(0, Math.min(1, place(x, value))) * (width - left - right);
  const middle = (/** @type {number} */ number) => round(top + (number + 0.5) * row);
  const paths = Object.fromEntries(keys.map(([style]) => [style, ""]));
  lines.forEach(({ parts }, number) => {
    for (const [style, start, end] of parts) {
      const [a, b] = [px(start), px(end)];
      if (b - a >= 0.2 || style !== "wait") paths[style] += `M${round(a)} ${middle(number)}H${round(Math.max(b, a + 0.8))}`;
    }
  });
  const grid = ticks(x, 8).flatMap((tick) => [
    svg("line", { class: "grid", x1: round(px(tick)), x2: round(px(tick)), y1: top, y2: round(floor) }),
    svg("text", { class: "below", x: round(px(tick)), y: round(floor + 18), "text-anchor": "middle" }, tickText(tick)),
  ]);
  const stroke = round(Math.max(0.8, Math.min(6, 0.7 * row)));
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${Math.round(height)}`, role: "img", "aria-label": "timeline of requests" },
    ...grid, ...keys.filter(([style]) => paths[style]).map(([style]) => svg("path", { class: style, "stroke-width": stroke, d: paths[style] })),
    svg("text", { class: "axis", x: width / 2, y: Math.round(height - 8), "text-anchor": "middle" }, x.title ?? ""),
    svg("line", { class: "guide", x1: left, x2: width - right, y1: 0, y2: 0, hidden: "" }));
  return h("figure", { class: "chart wide" }, h("figcaption", {}, `${title} `, h("span", { class: "dim" }, note)),
    plot(drawing, "y", lines.map(({ tip }, number) => [middle(number), tip])), legend(keys));
}
