// What a picture of the timeline is drawn on and with: a context, colors, and where times and rows stand.

import type { Layout, Row } from "./layout";
import type { Window } from "./window";

/** Height of the ruler, above all rows. */
export const RULER = 30;
export const LABEL = "11px system-ui, sans-serif";
/** About the width of a letter of a label. */
export const LETTER = 6.1;

export interface Inks { ground: string; ink: string; quiet: string; line: string; mark: string; band: string }

export type TrackId = number | string;
/** Left, top, width, height. */
export type Box = [number, number, number, number];

/** Lengths are CSS pixels, times nanoseconds from the trace's start. */
export interface Sheet {
  readonly context: CanvasRenderingContext2D;
  readonly inks: Inks;
  readonly isDark: boolean;
  readonly size: { width: number; height: number; ratio: number };
  readonly window: Window;
  readonly order: Layout;
  /** How far rows are scrolled up. */
  readonly scroll: number;
  /** The row that shows a track: its own, or its folded group's. */
  rowOf(track: TrackId): Row | undefined;
  x(at: number): number;
}

/** The box of a stretch of time in the row of its track, or on one lane of it; clipped to the picture, none where it is out of sight. */
export function boxOf(sheet: Sheet, start: number, end: number, track: TrackId, lane?: number): Box | undefined {
  const row = sheet.rowOf(track);
  if (row === undefined) return undefined;
  const { width } = sheet.size;
  const left = Math.max(-4, sheet.x(start));
  const right = Math.min(width + 4, Math.max(sheet.x(end), left + 2));
  if (right < -2 || left > width + 2) return undefined;
  const isOnLane = lane !== undefined && row.kind === "track" && row.folded !== true;
  return isOnLane ? [left, topOf(sheet, row) + 2 + lane * row.laneHeight, right - left, row.laneHeight - 1] : [left, topOf(sheet, row) + 1, right - left, row.height - 3];
}

export const topOf = (sheet: Sheet, row: Row) => RULER + row.top - sheet.scroll;

/** As much of a name as fits; nothing where that says nothing. */
export const clipped = (name: string, letters: number) => (letters < 3 ? "" : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`);
