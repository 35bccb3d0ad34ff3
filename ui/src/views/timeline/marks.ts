// What stands out on the timeline: the chosen event, gap or range, lit events, hits of a search, arrows from launches.

import { causeFill } from "../../draw/causes";
import { fill } from "../../draw/palette";
import type { Selection } from "../../selection";
import type { EventRef } from "../../source/types";
import { time } from "../../format";
import type { Marker } from "./markers";
import { type Box, boxOf, clipped, LABEL, RULER, type Sheet, topOf, type TrackId } from "./sheet";

export interface End { at: number; track: TrackId }

/** Arrows that are drawn with their heads; more are thin lines. */
const FEW_FLOWS = 24;

export interface Marks {
  chosen: { start: number; end: number; track: TrackId } | undefined;
  flows: readonly { from: End; to: End }[];
  gap: { start: number; end: number; track: TrackId; cause?: string } | undefined;
  range: Selection | undefined;
  lit: readonly EventRef[] | undefined;
  hits: readonly { start_ns: number; duration_ns: number; track: TrackId; lane?: number }[] | undefined;
  markers: readonly Marker[];
}

export const NO_MARKS: Marks = { chosen: undefined, flows: [], gap: undefined, range: undefined, lit: undefined, hits: undefined, markers: [] };

/** `chosen` is the box of the chosen event on its own lane. */
export function drawMarks(sheet: Sheet, marks: Marks, chosen: Box | undefined): void {
  const { context, inks, size } = sheet;
  context.save();
  context.beginPath();
  context.rect(0, RULER, size.width, size.height);
  context.clip();
  if (marks.lit !== undefined) drawBoxes(sheet, marks.lit.map(([, start, length, track, lane]) => boxOf(sheet, start, start + length, track, lane)), fill(3, sheet.isDark));
  if (marks.hits !== undefined) drawBoxes(sheet, marks.hits.map((hit) => boxOf(sheet, hit.start_ns, hit.start_ns + hit.duration_ns, hit.track, hit.lane)), undefined);
  if (marks.gap !== undefined) drawGap(sheet, marks.gap);
  if (marks.range !== undefined) drawRange(sheet, marks.range);
  for (const { at } of marks.markers) line(sheet, at);
  marks.flows.forEach(({ from, to }) => drawFlow(sheet, from, to, marks.flows.length > FEW_FLOWS));
  if (chosen !== undefined) {
    context.strokeStyle = inks.ink;
    context.lineWidth = 2;
    context.strokeRect(chosen[0] - 0.5, chosen[1], Math.max(3, chosen[2]) + 1, chosen[3]);
  }
  context.restore();
}

/** A marker goes through all rows; its note is in the ruler. */
function line(sheet: Sheet, at: number): void {
  const { context, inks, size } = sheet;
  context.fillStyle = inks.ink;
  context.fillRect(Math.round(sheet.x(at)), RULER, 1, size.height);
}

/** The notes of markers in the ruler, each with the time since the one before. */
export function drawNotes(sheet: Sheet, markers: readonly Marker[]): void {
  const { context, inks, size } = sheet;
  context.font = LABEL;
  context.textBaseline = "middle";
  markers.forEach(({ at, note }, n) => {
    const x = Math.round(sheet.x(at));
    if (x < -2 || x > size.width) return;
    const before = markers[n - 1];
    const text = clipped([note, ...(before === undefined ? [] : [`+${time(at - before.at)}`])].filter((part) => part !== "").join(" ") || "marker", 28);
    const wide = context.measureText(text).width + 8;
    context.fillStyle = inks.ink;
    context.fillRect(x, RULER - 15, wide, 14);
    context.fillStyle = inks.ground;
    context.fillText(text, x + 4, RULER - 8);
  });
}

function drawBoxes(sheet: Sheet, boxes: readonly (Box | undefined)[], inside: string | undefined): void {
  const { context, inks } = sheet;
  context.lineWidth = 1;
  context.strokeStyle = inks.mark;
  for (const box of boxes) {
    if (box === undefined) continue;
    if (inside !== undefined) {
      context.fillStyle = inside;
      context.fillRect(...box);
    }
    if (inside === undefined || box[2] > 4) outline(context, box);
  }
}

const outline = (context: CanvasRenderingContext2D, box: Box) => context.strokeRect(box[0] + 0.5, box[1] + 0.5, box[2] - 1, box[3] - 1);

/** Over the rows of its tracks; the lines at its ends go through all. */
function drawRange(sheet: Sheet, range: Selection): void {
  const { context, inks, size } = sheet;
  const [left, right] = [sheet.x(range.from), sheet.x(range.to)];
  context.globalAlpha = 0.14;
  context.fillStyle = inks.mark;
  if (range.tracks === undefined) context.fillRect(left, RULER, right - left, size.height);
  else for (const row of new Set(range.tracks.map((track) => sheet.rowOf(track)))) if (row !== undefined) context.fillRect(left, topOf(sheet, row), right - left, row.height);
  context.globalAlpha = 1;
  context.fillRect(left, RULER, 1, size.height);
  context.fillRect(right, RULER, 1, size.height);
}

/** A gap in the color of its cause, hatched, so that it is not taken for an event. */
function drawGap(sheet: Sheet, gap: NonNullable<Marks["gap"]>): void {
  const box = boxOf(sheet, gap.start, gap.end, gap.track);
  if (box === undefined) return;
  const { context, inks } = sheet;
  context.save();
  context.beginPath();
  context.rect(...box);
  context.clip();
  context.fillStyle = causeFill(gap.cause, sheet.isDark);
  context.globalAlpha = 0.55;
  context.fillRect(...box);
  context.globalAlpha = 1;
  context.strokeStyle = inks.ink;
  context.lineWidth = 0.6;
  for (let x = box[0] - box[3]; x < box[0] + box[2]; x += 6) {
    context.beginPath();
    context.moveTo(x, box[1] + box[3]);
    context.lineTo(x + box[3], box[1]);
    context.stroke();
  }
  context.restore();
  context.strokeStyle = inks.ink;
  context.lineWidth = 1;
  outline(context, box);
}

/** An arrow from a launch to what it launched. */
function drawFlow(sheet: Sheet, from: End, to: End, isOfMany: boolean): void {
  const { context, inks } = sheet;
  const rows = [sheet.rowOf(from.track), sheet.rowOf(to.track)];
  if (rows[0] === undefined || rows[1] === undefined) return;
  const [x1, x2] = [sheet.x(from.at), sheet.x(to.at)];
  const [y1, y2] = (rows as NonNullable<typeof rows[0]>[]).map((row) => topOf(sheet, row) + Math.min(row.height / 2, 12)) as [number, number];
  const bend = Math.max(24, Math.abs(x2 - x1) / 3);
  context.strokeStyle = inks.mark;
  context.fillStyle = inks.mark;
  context.lineWidth = isOfMany ? 0.6 : 1.5;
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  context.stroke();
  if (isOfMany) return;
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 7, y2 - 4);
  context.lineTo(x2 - 7, y2 + 4);
  context.fill();
}
