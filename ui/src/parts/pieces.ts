// Two stretches of time as docs/web-api.md has them: where their pieces stand on one axis, and which belong to each other.

/** Lane, start, duration, category, name, how many of that name began before, events, time that is covered, row. */
export type Piece = [lane: number, start: number, duration: number, category: number, name: number, nth: number, count: number, busy: number, row: number];

export interface HalfTrack { name: string; pieces: Piece[] }
export interface Half { title: string; row: number | null; start_ns: number; long_ns: number; deeper_left_out: number; tracks: HalfTrack[] }

export type Row = [name: string, one_ns: number, other_ns: number, one_events: number, other_events: number];
export interface Differences { totals: [name: string, one_ns: number, other_ns: number][]; lists: { side: string; rows: Row[]; rest: { rows: number; delta_ns: number } | null }[] }

export interface BesideAnswer {
  long_ns: number; from_ns: number; to_ns: number;
  names: string[];
  categories: { name: string; color_index: number }[];
  tracks_left_out: number;
  halves: [Half, Half];
  differences?: Differences;
}

const [LANE, GAP, TRACK_GAP] = [14, 5, 12];
export const HEAD = 24;

/** A track of one half: its top edge and its lanes. */
interface Strip { top: number; lanes: number }
export interface Placed { track: number; name: string; top: number; strips: [Strip, Strip]; height: number }

/** Both halves of each track one below the other, from top to bottom. */
export function placed(of: BesideAnswer): { rows: Placed[]; height: number } {
  let top = HEAD;
  const lanes = (track: HalfTrack | undefined) => 1 + (track?.pieces ?? []).reduce((most, piece) => Math.max(most, piece[0]), 0);
  const rows = of.halves[0].tracks.map(({ name }, track) => {
    const [one, other] = of.halves.map((half) => lanes(half.tracks[track])) as [number, number];
    const strips: [Strip, Strip] = [{ top: top + 14, lanes: one }, { top: top + 14 + one * LANE + GAP, lanes: other }];
    const row = { track, name, top, strips, height: 14 + (one + other) * LANE + GAP + TRACK_GAP };
    top += row.height;
    return row;
  });
  return { rows, height: top + 4 };
}

export interface Box { half: 0 | 1; track: number; piece: Piece; x: number; y: number; width: number; height: number }

/** Every piece as a box; one of several events is as high as it is busy. */
export function boxesOf(of: BesideAnswer, rows: readonly Placed[], left: number, width: number): Box[] {
  const scale = width / Math.max(1, of.to_ns - of.from_ns);
  return rows.flatMap(({ track, strips }) => ([0, 1] as const).flatMap((half) => (of.halves[half].tracks[track]?.pieces ?? []).map((piece): Box => {
    const [lane, start, duration, , , , count, busy] = piece;
    const high = (LANE - 2) * (count > 1 ? Math.max(0.2, Math.min(1, busy / Math.max(1, duration))) : 1);
    const strip = strips[half];
    return { half, track, piece, x: left + (start - of.from_ns) * scale, y: strip.top + lane * LANE + (LANE - 2 - high), width: Math.max(0.75, duration * scale), height: high };
  })));
}

const keyOf = ({ track, piece }: Box) => `${track} ${piece[4]} ${piece[5]}`;

/** The pairs of single events that belong to each other: the n-th of a name on a track, and the n-th there in the other half. */
export function pairs(boxes: readonly Box[]): Map<Box, Box> {
  const first = new Map(boxes.filter((box) => box.half === 0 && box.piece[6] === 1).map((box) => [keyOf(box), box]));
  const found = new Map<Box, Box>();
  for (const box of boxes) {
    const match = box.half === 1 && box.piece[6] === 1 ? first.get(keyOf(box)) : undefined;
    if (match === undefined) continue;
    found.set(match, box);
    found.set(box, match);
  }
  return found;
}

/** The boxes of each color as one path: thousands of rectangles are too many for a page. */
export function paths(boxes: readonly Box[], color: (box: Box) => string): [color: string, path: string][] {
  const of = new Map<string, string[]>();
  const round = (value: number) => Math.round(value * 100) / 100;
  for (const box of boxes) {
    const key = color(box);
    const parts = of.get(key) ?? [];
    if (parts.length === 0) of.set(key, parts);
    parts.push(`M${round(box.x)} ${round(box.y)}h${round(box.width)}v${round(box.height)}h${round(-box.width)}z`);
  }
  return [...of].map(([key, parts]) => [key, parts.join("")]);
}

/** What is at a place; the narrowest of several, and what is up to 2 pixels away. */
export function boxAt(boxes: readonly Box[], x: number, y: number): Box | undefined {
  let found: Box | undefined;
  for (const box of boxes) {
    const isThere = x >= box.x - 2 && x <= box.x + box.width + 2 && y >= box.y - 1 && y <= box.y + box.height + 1;
    if (isThere && (found === undefined || box.width < found.width)) found = box;
  }
  return found;
}

/** From the right edge of one to that of the other: what belongs together, as a band. */
export function band(one: Box, other: Box): string {
  const [above, below] = one.y <= other.y ? [one, other] : [other, one];
  return `M${above.x} ${above.y + above.height}L${above.x + above.width} ${above.y + above.height}L${below.x + below.width} ${below.y}L${below.x} ${below.y}z`;
}

/** Round times from 0 that stand apart on so many pixels. */
export function ticks(from: number, to: number, width: number): number[] {
  const least = ((to - from) / width) * 90;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= least) ?? power * 10;
  const found: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && found.length < 100; at += step) found.push(at);
  return found;
}
