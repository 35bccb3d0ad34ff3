// Counters as areas over time: the most that was within each pixel, from as few points as the zoom needs.

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
    const most = points.reduce((top, point) => Math.max(top, point[2]), 1e-12);
    const x = (at: number) => Math.max(-1, Math.min(box.width + 1, ((at - window.from) / (window.to - window.from)) * box.width));
    const y = (value: number) => box.top + box.height - 2 - (value / most) * (box.height - 6);
    context.beginPath();
    context.moveTo(x((points[0] as Point)[0]), y(0));
    let before = 0;
    for (const [at, , high, last] of points) {
      context.lineTo(x(at), y(before));
      context.lineTo(x(at), y(high));
      before = last;
    }
    context.lineTo(x(points.at(-1)?.[0] ?? 0), y(before));
    context.lineTo(box.width, y(before));
    context.lineTo(box.width, y(0));
    context.closePath();
    context.globalAlpha = 0.35;
    context.fillStyle = inks.mark;
    context.fill();
    context.globalAlpha = 1;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "top";
    context.fillStyle = inks.quiet;
    context.fillText(`most ${show(most, counter.unit)}`, 4, box.top + 3);
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
