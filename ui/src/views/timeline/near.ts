// What is at a place among pieces of tiles: the next event, the gap around a time, the lane of an event.

import type { Piece } from "./tiles";
import type { Tile } from "./tile";

export interface Found { tile: Tile; span: number }

/** The event that begins first after `at`, or last before it. */
export function neighborIn(pieces: readonly Piece[], at: number, by: 1 | -1): Found | undefined {
  let best: Found | undefined;
  let least = Infinity;
  for (const { tile } of pieces) {
    const events = tile.events;
    if (events === undefined) continue;
    for (let span = 0; span < tile.spans.length; span += 1) {
      const apart = ((events.start[span] as number) - at) * by;
      if (apart > 0 && apart < least) [best, least] = [{ tile, span }, apart];
    }
  }
  return best;
}

/** The stretch around `at` in which no lane has anything, and the rows of the events at its ends. */
export function gapIn(pieces: readonly Piece[], at: number): { prev: number; next: number; start: number; end: number } | undefined {
  let [start, end, prev, next] = [-Infinity, Infinity, -1, -1];
  for (const { tile } of pieces) {
    const events = tile.events;
    if (events === undefined) return undefined;
    for (let span = 0; span < tile.spans.length; span += 1) {
      const begin = events.start[span] as number;
      const close = begin + (events.duration[span] as number);
      if (close <= at && close > start) [start, prev] = [close, events.row[span] as number];
      if (begin >= at && begin < end) [end, next] = [begin, events.row[span] as number];
      if (begin < at && close > at) return undefined;
    }
  }
  return prev >= 0 && next >= 0 ? { prev, next, start, end } : undefined;
}

/** The lane of an event, where a piece holds it. */
export function laneIn(pieces: readonly Piece[], event: { start: number; end: number }): number | undefined {
  for (const { tile } of pieces) {
    const events = tile.events;
    if (events === undefined) continue;
    for (let span = 0; span < tile.spans.length; span += 1) {
      const isIt = events.start[span] === event.start && Math.abs((events.duration[span] as number) - (event.end - event.start)) <= 0.5;
      if (isIt) return tile.spans.lane[span] as number;
    }
  }
  return undefined;
}
