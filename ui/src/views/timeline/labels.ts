// Names in the picture: of events that have room for one, and of rows where a picture is saved.

import { fills, inkOn } from "../../draw/palette";
import { short } from "../../format";
import { type Row, rowsIn } from "./layout";
import { clipped, LABEL, LETTER, RULER, type Sheet, topOf } from "./sheet";
import { longest } from "./tile";
import type { Piece } from "./tiles";

/** What groups of one capture mostly have in common: it goes first where there is no room. */
const COMMON = [/^\/device:/, / \([^()]*\)/, /(\.pt\.trace)?\.json(\.gz)?$|\.xplane\.pb$|\.sqlite$/];

/** The name of a group in so many letters, so that groups can still be told apart. */
export function groupName(name: string, letters: number): string {
  const fitting = COMMON.reduce((left, part) => (left.length > letters ? left.replace(part, "") : left), name);
  return short(fitting, letters);
}

/** Spans narrower than this have no room for a name. */
const LEAST_NAMED = 22;
/** Lanes lower than this have none either. */
export const LEAST_LANE = 12;

export function drawEventNames(sheet: Sheet, pieces: readonly Piece[], row: Row, isFaded: boolean): void {
  const { context, window, size } = sheet;
  const scale = size.width / (window.to - window.from);
  const top = topOf(sheet, row) + 2;
  context.font = LABEL;
  context.textBaseline = "middle";
  const grounds = fills(sheet.isDark);
  const inks = grounds.map(inkOn);
  for (const { tile, from, to } of pieces) {
    const events = tile.events;
    if (events === undefined || tile.most * scale < LEAST_NAMED) continue;
    for (const at of longest(tile)) {
      const duration = events.duration[at] as number;
      if (duration * scale < LEAST_NAMED) break;
      const lane = tile.spans.lane[at] as number;
      // On one line only what is below nothing has room for its name.
      if (row.folded === true && lane > 0) continue;
      const start = events.start[at] as number;
      // An event in two tiles is named in the first that is shown.
      if (start >= to || start + duration <= from || (start < from && from > window.from)) continue;
      const left = Math.max(0, sheet.x(start)) + 3;
      const room = Math.min(size.width, sheet.x(start + duration)) - left - 2;
      const text = clipped(events.names[events.name[at] as number] ?? "", Math.floor(room / LETTER));
      if (text === "") continue;
      const y = top + lane * row.laneHeight + row.laneHeight / 2;
      if (y <= RULER) continue;
      // What runs inside is drawn on the same line: the name stands on its own ground.
      if (row.folded === true && !isFaded) {
        context.globalAlpha = 0.8;
        context.fillStyle = grounds[(tile.spans.color[at] as number) & 15] as string;
        context.fillRect(left - 3, y - row.laneHeight / 2 + 1, Math.min(room, context.measureText(text).width) + 6, row.laneHeight - 2);
        context.globalAlpha = 1;
      }
      context.fillStyle = isFaded ? sheet.inks.quiet : (inks[(tile.spans.color[at] as number) & 15] as string);
      context.fillText(text, left, y, room);
    }
  }
}

/** Names of rows at the left of a picture that is saved; on the page they are elements. */
export function drawRowNames(sheet: Sheet, context: CanvasRenderingContext2D, width: number): void {
  const { height } = sheet.size;
  context.font = LABEL;
  context.textBaseline = "middle";
  for (const row of rowsIn(sheet.order.rows, sheet.scroll, sheet.scroll + height - RULER)) {
    const top = topOf(sheet, row);
    if (top < RULER - 8) continue;
    const isGroup = row.kind === "group";
    context.fillStyle = isGroup ? sheet.inks.ink : sheet.inks.quiet;
    context.fillText(clipped(row.name, Math.floor((width - 14) / LETTER)), isGroup ? 6 : 12, top + 13, width - 10);
    context.fillStyle = sheet.inks.line;
    context.fillRect(0, Math.round(top + row.height) - 1, width, 1);
  }
}
