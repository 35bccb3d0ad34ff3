// The ruler above the rows, and the steps that the program marked: bands behind the rows, names above them.

import { time } from "../../format";
import type { Timeline } from "../../source/types";
import { clipped, LABEL, LETTER, RULER, type Sheet } from "./sheet";
import { ticks } from "./window";

type Steps = Timeline["steps"];

/** Every second step as a band behind the rows. */
export function drawBands(sheet: Sheet, ground: CanvasRenderingContext2D, steps: Steps): void {
  if (steps.length === 0) return;
  const { size, inks } = sheet;
  ground.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  ground.clearRect(0, 0, size.width, size.height);
  steps.forEach(([start, end], at) => {
    const [left, right] = [sheet.x(start), sheet.x(end)];
    if (right < 0 || left > size.width || right - left < 2) return;
    if (at % 2 === 1) {
      ground.fillStyle = inks.band;
      ground.fillRect(left, RULER, right - left, size.height - RULER);
    }
    ground.fillStyle = inks.line;
    ground.fillRect(left, RULER, 1, size.height);
  });
}

export function drawRuler(sheet: Sheet, steps: Steps, range: { from: number; to: number } | undefined): void {
  const { context, size, inks } = sheet;
  context.fillStyle = inks.ground;
  context.fillRect(0, 0, size.width, RULER);
  context.fillStyle = inks.line;
  context.fillRect(0, RULER - 1, size.width, 1);
  context.font = LABEL;
  context.textBaseline = "middle";
  const { at, step } = ticks(sheet.window, size.width, 110);
  for (const tick of at) {
    const x = Math.round(sheet.x(tick));
    context.fillStyle = inks.line;
    context.fillRect(x, RULER - 8, 1, 8);
    context.fillStyle = inks.quiet;
    const text = clock(tick, step);
    if (x + 4 + context.measureText(text).width + 6 <= size.width) context.fillText(text, x + 4, 20);
  }
  drawStepNames(sheet, steps);
  if (range !== undefined) drawLength(sheet, range);
}

function drawStepNames(sheet: Sheet, steps: Steps): void {
  const { context, size, inks } = sheet;
  let free = 0;
  for (const [start, end, name] of steps) {
    const [left, right] = [Math.max(0, sheet.x(start)), Math.min(size.width, sheet.x(end))];
    const text = clipped(name, Math.floor((right - left - 6) / LETTER));
    if (right - left < 30 || left < free || text === "") continue;
    context.fillStyle = inks.band;
    context.fillRect(left, 1, right - left - 1, 12);
    context.fillStyle = inks.ink;
    context.fillText(text, left + 4, 7, right - left - 6);
    free = right;
  }
}

/** How long the chosen range is, above its middle. */
function drawLength(sheet: Sheet, range: { from: number; to: number }): void {
  const { context, inks } = sheet;
  const text = time(range.to - range.from);
  const middle = (sheet.x(range.from) + sheet.x(range.to)) / 2;
  const wide = text.length * LETTER + 10;
  context.fillStyle = inks.mark;
  context.fillRect(middle - wide / 2, 13, wide, 15);
  context.fillStyle = inks.ground;
  context.fillText(text, middle - wide / 2 + 5, 21);
}

/** A time on the ruler: all in one unit, with as many digits as neighbors need. */
export function clock(at: number, step: number): string {
  const [unit, size] = step >= 1e9 ? ["s", 1e9] : step >= 1e6 ? ["ms", 1e6] : step >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const [larger, by] = Math.abs(at) >= 1e9 ? ["s", 1e9] : [unit, size];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / (by as number)))));
  return `${(at / (by as number)).toFixed(decimals).replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, ",")} ${larger}`;
}
