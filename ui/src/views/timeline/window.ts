// The part of time that is shown, and how keys and wheels change it. Nanoseconds from the trace's start.

export interface Window { from: number; to: number }

const LEAST_NS = 20;

/** `window` within the trace, with at least a few nanoseconds in it; a little room is left at both ends. */
export function within(window: Window, span: number): Window {
  const room = span * 0.02 + 1;
  const width = Math.min(span + 2 * room, Math.max(LEAST_NS, window.to - window.from));
  const from = Math.min(span + room - width, Math.max(-room, window.from));
  return { from, to: from + width };
}

/** Zooms by `factor`, below 1 to see less, and keeps `at` where it is. */
export function zoomed(window: Window, factor: number, at: number, span: number): Window {
  const least = Math.max(factor, LEAST_NS / (window.to - window.from));
  return within({ from: at - (at - window.from) * least, to: at + (window.to - at) * least }, span);
}

/** Moves by a part of what is shown. */
export function moved(window: Window, part: number, span: number): Window {
  const by = (window.to - window.from) * part;
  return within({ from: window.from + by, to: window.to + by }, span);
}

/** A window that shows `from` to `to` with air around. */
export function around(from: number, to: number, span: number): Window {
  const air = Math.max(LEAST_NS, (to - from) * 0.5);
  return within({ from: from - air, to: to + air }, span);
}

/** Round times for the ruler, about one per `every` pixels. */
export function ticks(window: Window, width: number, every: number): { at: number[]; step: number } {
  const wanted = ((window.to - window.from) / Math.max(1, width)) * every;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((times) => times * power >= wanted) ?? 10));
  const at: number[] = [];
  for (let tick = Math.ceil(window.from / step) * step; tick <= window.to; tick += step) at.push(tick === 0 ? 0 : tick);
  return { at, step };
}
