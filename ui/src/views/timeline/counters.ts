// Counters as lines over time, from the least to the most that was sampled, with what was between within each pixel.

import { show } from "../../format";
import type { Source } from "../../source/source";
import type { Counter } from "../../source/types";
import type { Inks } from "./sheet";
import { levelFor } from "./tiles";
import type { Window } from "./window";

/** Time, least, most, last. */
type Point = [number, number, number, number];

export class Counters {
  private readonly held = new Map<string, Point[]>();

  constructor(private readonly source: Source, private readonly changed: () => void) {}

  draw(context: CanvasRenderingContext2D, counter: Counter, window: Window, box: { top: number; height: number; width: number }, inks: Inks): void {
    const points = this.points(counter, levelFor((window.to - window.from) / box.width));
    if (points.length === 0) return;
    const [least, most] = points.reduce(([low, high], point) => [Math.min(low, point[1]), Math.max(high, point[2])], [Infinity, -Infinity]);
    const x = (at: number) => Math.max(-1, Math.min(box.width + 1, ((at - window.from) / (window.to - window.from)) * box.width));
    const y = (value: number) => box.top + box.height - 5 - (most > least ? (value - least) / (most - least) : 0.5) * (box.height - 10);
    context.fillStyle = inks.mark;
    context.globalAlpha = 0.25;
    for (const [at, low, high] of points) if (high > low) context.fillRect(x(at), y(high), 1, Math.max(1, y(low) - y(high)));
    context.globalAlpha = 1;
    context.strokeStyle = inks.mark;
    context.lineWidth = 1.25;
    context.beginPath();
    let before: number | undefined;
    for (const [at, , , last] of points) {
      if (before === undefined) context.moveTo(x(at), y(last));
      else context.lineTo(x(at), y(before));
      context.lineTo(x(at), y(last));
      before = last;
    }
    // What was sampled last holds until the next sample.
    context.lineTo(box.width, y(before ?? least));
    context.stroke();
    scale(context, box, inks, [show(least, counter.unit), show(most, counter.unit)]);
  }

  /** The value at a time: that of the sample before it. */
  at(counter: Counter, time: number): string | undefined {
    const points = [...this.held].filter(([key]) => key.startsWith(`${counter.id}/`)).map(([, known]) => known).sort((one, other) => other.length - one.length)[0] ?? [];
    const before = points.findLast(([start]) => start <= time);
    return before === undefined ? undefined : show(before[3], counter.unit);
  }

  private points(counter: Counter, level: number): Point[] {
    const key = `${counter.id}/${level}`;
    const known = this.held.get(key);
    if (known !== undefined) return known;
    const near = [...this.held.keys()].find((other) => other.startsWith(`${counter.id}/`));
    this.held.set(key, near === undefined ? [] : (this.held.get(near) as Point[]));
    this.source
      // A report holds each counter once, as coarse as fits the whole.
      .json<{ points: Point[] }>(`counter/${counter.id}`, this.source.live ? { level } : {})
      .then((answer) => this.held.set(key, answer.points))
      .catch(() => undefined)
      .finally(this.changed);
    return this.held.get(key) as Point[];
  }
}

/** What the lower and the upper edge mean, on a ground that lets them be read. */
function scale(context: CanvasRenderingContext2D, box: { top: number; height: number }, inks: Inks, [least, most]: [string, string]): void {
  context.font = "10px system-ui, sans-serif";
  const texts = least === most ? [[most, box.top + box.height / 2 - 12] as const] : [[most, box.top + 3] as const, [least, box.top + box.height - 14] as const];
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
