// Counters as lines over time, from the least to the most of the capture, with what was between within each pixel.

import { show } from "../../format";
import type { Source } from "../../source/source";
import type { Counter } from "../../source/types";
import type { Inks } from "./sheet";
import { tileWidth } from "./tile";
import { levelFor } from "./tiles";
import type { Window } from "./window";

/** Time, least, most, last. */
type Point = [number, number, number, number];
interface Answer { points: Point[]; range?: [number, number] }
interface Box { top: number; height: number; width: number }

/** Parts that are kept, those that are asked for at once, and those that wait: newer ones first. */
const [KEPT, CALLS, WAITING] = [600, 3, 60];
/** A report holds each counter once, as coarse as fits the whole. */
const WHOLE = "whole";
/** Lower rows have room for one number. */
const TWO_NUMBERS = 32;

export class Counters {
  private readonly held = new Map<string, Answer | "asked">();
  private readonly ranges = new Map<Counter["id"], [number, number]>();
  private waiting: (readonly [name: string, counter: Counter, query: Record<string, number>])[] = [];
  private calls = 0;

  constructor(private readonly source: Source, private readonly changed: () => void, private readonly span: number) {}

  draw(context: CanvasRenderingContext2D, counter: Counter, window: Window, box: Box, inks: Inks): void {
    const perPixel = (window.to - window.from) / box.width;
    const parts = this.parts(counter, levelFor(perPixel), window);
    const range = this.ranges.get(counter.id);
    if (parts.length === 0 || range === undefined) return;
    const [least, most] = range;
    const x = (at: number) => Math.max(-1, Math.min(box.width + 1, (at - window.from) / perPixel));
    const room = box.height - 8;
    const y = (value: number) => box.top + box.height - 4 - (most > least ? (value - least) / (most - least) : 0.5) * room;
    const columns = perPixelColumn(parts, window, perPixel, box.width);
    context.fillStyle = inks.mark;
    // As strong as the line: a pulse looks the same whether it is within one pixel or begins in one and ends in the next.
    for (const { left, low, high } of columns) if (high > low) context.fillRect(left, y(high), 1, Math.max(1, y(low) - y(high)));
    context.strokeStyle = inks.mark;
    context.lineWidth = 1.25;
    context.beginPath();
    let before: number | undefined;
    for (const { left, last } of columns) {
      if (before === last) continue;
      if (before === undefined) context.moveTo(x(window.from + left * perPixel), y(last));
      else context.lineTo(left, y(before));
      context.lineTo(left, y(last));
      before = last;
    }
    // What was sampled last holds until the next sample.
    if (before !== undefined) context.lineTo(box.width, y(before));
    context.stroke();
    scale(context, box, inks, [show(least, counter.unit), show(most, counter.unit)]);
  }

  /** The value at a time: that of the sample before it. */
  at(counter: Counter, time: number, window: Window, width: number): string | undefined {
    const points = this.parts(counter, levelFor((window.to - window.from) / width), window).flatMap((part) => part.points.filter(([at]) => at < part.to));
    const before = points.findLast(([start]) => start <= time);
    return before === undefined ? undefined : show(before[3], counter.unit);
  }

  /** What is here of the window, the finest there is, in order; asks for what is missing. */
  private parts(counter: Counter, wanted: number, window: Window): Part[] {
    if (!this.source.live) return this.part(`${counter.id}/${WHOLE}`, counter, {}, window.from, window.to);
    const top = Math.max(0, Math.ceil(Math.log2(Math.max(1, this.span / tileWidth(0)))));
    const level = Math.min(top, wanted);
    const width = tileWidth(level);
    const parts: Part[] = [];
    for (let index = Math.max(0, Math.floor(window.from / width)); index * width < Math.min(window.to, this.span + 1); index += 1) {
      const [from, to] = [index * width, (index + 1) * width];
      const found = this.part(`${counter.id}/${level}/${index}`, counter, { level, index }, from, to);
      parts.push(...(found.length > 0 ? found : this.standIn(counter, level, index, top, from, to)));
    }
    return parts;
  }

  private part(name: string, counter: Counter, query: Record<string, number>, from: number, to: number): Part[] {
    const known = this.held.get(name);
    if (known === undefined) this.ask(name, counter, query);
    return typeof known === "object" ? [{ points: known.points, from, to }] : [];
  }

  /** The part of a coarser level that has this time. */
  private standIn(counter: Counter, level: number, index: number, top: number, from: number, to: number): Part[] {
    for (let coarser = level + 1; coarser <= top; coarser += 1) {
      const known = this.held.get(`${counter.id}/${coarser}/${Math.floor(index / 2 ** (coarser - level))}`);
      if (typeof known === "object") return [{ points: known.points, from, to }];
    }
    return [];
  }

  private ask(name: string, counter: Counter, query: Record<string, number>): void {
    this.held.set(name, "asked");
    this.waiting.push([name, counter, query]);
    // What was wanted before somebody went on is asked again if it is seen again.
    for (const [old] of this.waiting.splice(0, this.waiting.length - WAITING)) this.held.delete(old);
    this.next();
  }

  private next(): void {
    if (this.calls >= CALLS) return;
    const call = this.waiting.pop();
    if (call === undefined) return;
    const [name, counter, query] = call;
    this.calls += 1;
    this.source
      .json<Answer>(`counter/${counter.id}`, query)
      .then((answer) => {
        this.held.delete(name);
        this.held.set(name, answer);
        this.ranges.set(counter.id, answer.range ?? extent(answer.points));
        for (const old of [...this.held.keys()].slice(0, Math.max(0, this.held.size - KEPT))) this.held.delete(old);
      })
      .catch(() => undefined)
      .finally(() => {
        this.calls -= 1;
        this.next();
        this.changed();
      });
  }
}

/** Points, and the part of time that they stand for. */
interface Part { points: readonly Point[]; from: number; to: number }
interface Column { left: number; low: number; high: number; last: number }

/** One entry for each pixel in which there is a point; at the left edge the value that holds there. */
function perPixelColumn(parts: readonly Part[], window: Window, perPixel: number, width: number): Column[] {
  const columns: Column[] = [];
  let held: number | undefined;
  for (const part of parts) {
    const [from, to] = [Math.max(part.from, window.from), Math.min(part.to, window.to)];
    for (const [at, low, high, last] of part.points) {
      if (at >= to) break;
      if (at < from) {
        held = last;
        continue;
      }
      const left = Math.min(width, Math.floor((at - window.from) / perPixel));
      if (columns.length === 0 && held !== undefined && left > 0) columns.push({ left: 0, low: held, high: held, last: held });
      const column = columns.at(-1);
      if (column?.left !== left) columns.push({ left, low, high, last });
      else Object.assign(column, { low: Math.min(column.low, low), high: Math.max(column.high, high), last });
    }
  }
  if (columns.length === 0 && held !== undefined) columns.push({ left: 0, low: held, high: held, last: held });
  return columns;
}

const extent = (points: readonly Point[]): [number, number] => points.reduce(([low, high], point) => [Math.min(low, point[1]), Math.max(high, point[2])], [Infinity, -Infinity]);

/** What the lower and the upper edge mean, on a ground that lets them be read. */
function scale(context: CanvasRenderingContext2D, box: { top: number; height: number }, inks: Inks, [least, most]: [string, string]): void {
  context.font = "10px system-ui, sans-serif";
  const highest = [most, box.top + 3] as const;
  const texts = least === most ? [[most, box.top + box.height / 2 - 12] as const] : box.height < TWO_NUMBERS ? [highest] : [highest, [least, box.top + box.height - 14] as const];
  for (const [text, top] of texts) {
    context.globalAlpha = 0.8;
    context.fillStyle = inks.ground;
    context.fillRect(2, top - 1, text.length * 5.6 + 4, 12);
    context.globalAlpha = 1;
    context.fillStyle = inks.ink;
    context.textBaseline = "top";
    context.fillText(text, 4, top);
  }
}
