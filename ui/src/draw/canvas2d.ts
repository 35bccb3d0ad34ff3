// The same rectangles on a plain canvas, for machines without WebGL2. Where they go is the shader's rule, line for line.

import { rgb, SHADE } from "./palette";
import type { Painter, Placing, Spans } from "./painter";

const SHADES = 16;

export class Canvas2dPainter implements Painter {
  readonly name = "canvas2d";
  private fills: string[] = [];
  private faded: string[] = [];
  private width = 0;
  private height = 0;
  private ratio = 1;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  colors(fills: readonly string[], ground: string): void {
    const shades = fills.map((fill) => Array.from({ length: SHADES }, (_, shade) => shaded(fill, 1 + (shade - 8) * SHADE)));
    const at = (number: number) => (shades[number & 15] as string[])[number >> 4] as string;
    this.fills = Array.from({ length: 256 }, (_, number) => at(number));
    this.faded = this.fills.map((fill) => mixed(fill, ground, 0.72));
  }

  begin(width: number, height: number, ratio: number): void {
    const canvas = this.context.canvas;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.width = width;
    this.ratio = ratio;
    this.height = height;
  }

  draw(spans: Spans, placing: Placing): void {
    const [clipLeft, clipRight] = [Math.max(0, placing.clip[0]), Math.min(this.width, placing.clip[1])];
    const [clipTop, clipBottom] = [Math.max(0, placing.clipRows[0]), Math.min(this.height, placing.clipRows[1])];
    if (clipRight <= clipLeft || clipBottom <= clipTop) return;
    const inks = placing.faded > 0 ? this.faded : this.fills;
    const room = placing.laneHeight - (placing.laneHeight > 6 ? 1 : 0);
    const least = Math.min(2, room);
    let ink = -1;
    for (let at = 0; at < spans.length; at += 1) {
      let left = ((spans.ends[2 * at] as number) - placing.from) * placing.pixelsPerUnit;
      let right = ((spans.ends[2 * at + 1] as number) - placing.from) * placing.pixelsPerUnit;
      if (right - left > 3) right -= 0.6;
      right = Math.max(right, left + 1);
      // As the graphics card does: a pixel is covered where its middle is.
      left = Math.round(left * this.ratio) / this.ratio;
      right = Math.max(Math.round(right * this.ratio) / this.ratio, left + 1 / this.ratio);
      left = Math.max(left, clipLeft);
      right = Math.min(right, clipRight);
      if (right <= left) continue;
      const foot = placing.top + (placing.flat ? 0 : (spans.lane[at] as number) * placing.laneHeight) + room;
      const top = Math.max(clipTop, foot - Math.max(least, (room * (spans.height[at] as number)) / 255));
      const bottom = Math.min(clipBottom, foot);
      if (bottom <= top) continue;
      const color = spans.color[at] as number;
      if (color !== ink) {
        ink = color;
        this.context.fillStyle = inks[color] as string;
      }
      this.context.fillRect(left, top, right - left, bottom - top);
    }
  }

  forget(): void { /* Nothing is kept. */ }
  close(): void { /* Nothing is kept. */ }
}

function shaded(fill: string, by: number): string {
  return hex(rgb(fill).map((part) => Math.min(1, part * by)));
}

function mixed(fill: string, ground: string, part: number): string {
  const below = rgb(ground);
  return hex(rgb(fill).map((value, at) => value * (1 - part) + (below[at] as number) * part));
}

function hex(parts: number[]): string {
  return `#${parts.map((part) => Math.round(part * 255).toString(16).padStart(2, "0")).join("")}`;
}
