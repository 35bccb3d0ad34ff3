// What stands out on the timeline: the chosen event, gap or range, lit events, hits of a search, arrows from launches.

import { causeFill } from "../../draw/causes";
import { fill } from "../../draw/palette";
import type { EventRef } from "../../source/types";
import { type Box, boxOf, RULER, type Sheet, topOf, type TrackId } from "./sheet";

export interface End { at: number; track: TrackId }

export interface Marks {
  chosen: { start: number; end: number; track: TrackId } | undefined;
  flows: readonly { from: End; to: End }[];
  gap: { start: number; end: number; track: TrackId; cause?: string } | undefined;
  range: { from: number; to: number } | undefined;
  lit: readonly EventRef[] | undefined;
  hits: readonly { start_ns: number; duration_ns: number; track: TrackId }[] | undefined;
}

export const NO_MARKS: Marks = { chosen: undefined, flows: [], gap: undefined, range: undefined, lit: undefined, hits: undefined };

/** `chosen` is the box of the chosen event on its own lane. */
export function drawMarks(sheet: Sheet, marks: Marks, chosen: Box | undefined): void {
  const { context, inks, size } = sheet;
  context.save();
  context.beginPath();
  context.rect(0, RULER, size.width, size.height);
  context.clip();
  if (marks.lit !== undefined) drawBoxes(sheet, marks.lit.map(([, start, length, track]) => boxOf(sheet, start, start + length, track)), fill(3, sheet.isDark));
  if (marks.hits !== undefined) drawBoxes(sheet, marks.hits.map((hit) => boxOf(sheet, hit.start_ns, hit.start_ns + hit.duration_ns, hit.track)), undefined);
  if (marks.gap !== undefined) drawGap(sheet, marks.gap);
  if (marks.range !== undefined) drawRange(sheet, marks.range);
  marks.flows.forEach(({ from, to }) => drawFlow(sheet, from, to));
  if (chosen !== undefined) {
    context.strokeStyle = inks.ink;
    context.lineWidth = 2;
    context.strokeRect(chosen[0] - 0.5, chosen[1], Math.max(3, chosen[2]) + 1, chosen[3]);
  }
  context.restore();
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

function drawRange(sheet: Sheet, range: { from: number; to: number }): void {
  const { context, inks, size } = sheet;
  const [left, right] = [sheet.x(range.from), sheet.x(range.to)];
  context.globalAlpha = 0.12;
  context.fillStyle = inks.mark;
  context.fillRect(left, RULER, right - left, size.height);
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
function drawFlow(sheet: Sheet, from: End, to: End): void {
  const { context, inks } = sheet;
  const rows = [sheet.rowOf(from.track), sheet.rowOf(to.track)];
  if (rows[0] === undefined || rows[1] === undefined) return;
  const [x1, x2] = [sheet.x(from.at), sheet.x(to.at)];
  const [y1, y2] = (rows as NonNullable<typeof rows[0]>[]).map((row) => topOf(sheet, row) + Math.min(row.height / 2, 12)) as [number, number];
  const bend = Math.max(24, Math.abs(x2 - x1) / 3);
  context.strokeStyle = inks.mark;
  context.fillStyle = inks.mark;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 7, y2 - 4);
  context.lineTo(x2 - 7, y2 + 4);
  context.fill();
}
