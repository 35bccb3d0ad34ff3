// Draws many rectangles: spans on lanes, in numbers from 0 to 15 for colors. Knows nothing of traces.

import { Canvas2dPainter } from "./canvas2d";
import { WebGlPainter } from "./webgl";

/** Rectangles whose ends are counted from one origin, so that 32-bit floats are exact enough. */
export interface Spans {
  readonly length: number;
  /** Start and end by turns, in units from the origin. */
  readonly ends: Float32Array;
  readonly lane: Uint16Array;
  /** Color in the low four bits, shade in the high four. */
  readonly color: Uint8Array;
  /** Height as a part of the lane, 255 being all of it; it stands on the lane's floor. */
  readonly height: Uint8Array;
}

/** Where spans go, in CSS pixels. */
export interface Placing {
  /** Where the left edge of the picture is, in units from the spans' origin. */
  from: number;
  pixelsPerUnit: number;
  top: number;
  laneHeight: number;
  /** All lanes on one. */
  flat: boolean;
  /** From 0, all color, to 1, none. */
  faded: number;
  /** Left and right edge outside of which nothing is drawn. */
  clip: [number, number];
  /** Top and bottom edge outside of which nothing is drawn. */
  clipRows: [number, number];
}

export interface Painter {
  readonly name: "webgl2" | "canvas2d" | "svg";
  begin(width: number, height: number, ratio: number): void;
  draw(spans: Spans, placing: Placing): void;
  colors(fills: readonly string[], ground: string): void;
  /** Gives back what the device keeps of these spans. */
  forget(spans: Spans): void;
  close(): void;
}

/** WebGL2 where there is one, else the canvas; `want` forces one for tests. */
export function painterOn(canvas: HTMLCanvasElement, want: string | null): Painter {
  if (want !== "canvas2d") {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, powerPreference: "low-power" });
    if (gl !== null) return new WebGlPainter(gl);
  }
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser draws neither by WebGL2 nor on a canvas");
  return new Canvas2dPainter(context);
}
