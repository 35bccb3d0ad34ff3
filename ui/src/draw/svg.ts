// The same rectangles as SVG: a painter, and as much of a canvas's context as pictures here need.

import { Canvas2dPainter } from "./canvas2d";
import type { Painter, Placing, Spans } from "./painter";

const round = (value: number) => Math.round(value * 100) / 100;
const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

/** Takes what is drawn and keeps it as text. What is not used here does nothing. */
export class SvgContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "11px sans-serif";
  textBaseline = "middle";
  readonly canvas = { width: 0, height: 0 };
  private readonly parts: string[] = [];
  private path = "";
  private clips = 0;
  /** Groups that are open since each `save`. */
  private readonly open: number[] = [];

  private look(kind: "fill" | "stroke"): string {
    const color = kind === "fill" ? `fill="${this.fillStyle}"` : `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`;
    return this.globalAlpha === 1 ? color : `${color} opacity="${round(this.globalAlpha)}"`;
  }

  private box(x: number, y: number, width: number, height: number): string {
    return `x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, width))}" height="${round(Math.max(0, height))}"`;
  }

  fillRect(x: number, y: number, width: number, height: number) { this.parts.push(`<rect ${this.box(x, y, width, height)} ${this.look("fill")}/>`); }
  strokeRect(x: number, y: number, width: number, height: number) { this.parts.push(`<rect ${this.box(x, y, width, height)} ${this.look("stroke")}/>`); }
  beginPath() { this.path = ""; }
  moveTo(x: number, y: number) { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x: number, y: number) { this.path += `L${round(x)} ${round(y)}`; }
  bezierCurveTo(...at: number[]) { this.path += `C${at.map(round).join(" ")}`; }
  quadraticCurveTo(...at: number[]) { this.path += `Q${at.map(round).join(" ")}`; }
  closePath() { this.path += "Z"; }
  rect(x: number, y: number, width: number, height: number) { this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`; }
  fill() { this.parts.push(`<path d="${this.path}" ${this.look("fill")}/>`); }
  stroke() { this.parts.push(`<path d="${this.path}" ${this.look("stroke")}/>`); }
  save() { this.open.push(0); }
  clip() {
    this.clips += 1;
    this.parts.push(`<clipPath id="c${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#c${this.clips})">`);
    this.open[this.open.length - 1] = (this.open.at(-1) ?? 0) + 1;
  }
  restore() { this.parts.push("</g>".repeat(this.open.pop() ?? 0)); }
  /** About as wide as the letters of most fonts. */
  measureText(text: string) { return { width: text.length * Number(this.size()) * 0.56 }; }
  private size(): string { return /([\d.]+)px/.exec(this.font)?.[1] ?? "11"; }
  fillText(text: string, x: number, y: number) {
    const size = this.size();
    const down = this.textBaseline === "middle" ? 0.35 : this.textBaseline === "top" ? 0.8 : 0;
    this.parts.push(`<text x="${round(x)}" y="${round(y + Number(size) * down)}" font-size="${size}" ${this.look("fill")}>${escaped(text)}</text>`);
  }
  setLineDash() { /* Lines are whole. */ }
  setTransform() { /* One unit is one pixel. */ }
  clearRect() { /* Nothing is below. */ }

  /** This as what draws on canvases takes it; the methods that it lacks are not used here. */
  asContext(): CanvasRenderingContext2D {
    return this as unknown as CanvasRenderingContext2D;
  }

  /** What was drawn, moved to the right. */
  group(right: number): string {
    return `<g transform="translate(${right} 0)">${this.parts.join("\n")}</g>`;
  }
}

/** Spans as the plain canvas draws them, into another context. */
export class SvgPainter implements Painter {
  readonly name = "svg";
  private readonly inner: Canvas2dPainter;

  constructor(readonly context: SvgContext) {
    this.inner = new Canvas2dPainter(context.asContext());
  }

  begin(width: number, height: number): void { this.inner.begin(width, height, 1); }
  draw(spans: Spans, placing: Placing): void { this.inner.draw(spans, placing); }
  colors(fills: readonly string[], ground: string): void { this.inner.colors(fills, ground); }
  forget(): void { /* Nothing is kept. */ }
  close(): void { /* Nothing is kept. */ }
}
