// One tile as the server cuts it, decoded: spans to draw, and the events where it holds them.
//
// The layout is that of docs/web-api.md. A tile of columns has one entry per lane and column that is not empty; nothing is dropped.

import type { Spans } from "../../draw/painter";
import { NO_CATEGORY } from "../../draw/palette";

const MAGIC = 0x31544c52; // "RLT1", little-endian
const COLUMNS = 1024;

export interface Tile {
  start: number;
  spans: Spans;
  /** Numbers of categories, one per span. */
  category: Uint8Array;
  /** The longest of its spans. */
  most: number;
  /** What single spans stand for: events, or columns that hold several. */
  events?: { row: Uint32Array; start: Float64Array; duration: Float64Array; name: Uint32Array; names: string[] };
  columns?: { count: Uint32Array; share: Float32Array; width: number };
  /** Spans by duration, longest first; made when labels first need it. */
  longest?: Uint32Array;
}

export const tileWidth = (level: number) => COLUMNS * 2 ** level;

/** Decodes a tile of `level`; `colorOf` is the color's number of a category. */
export function decode(bytes: ArrayBuffer, level: number, colorOf: (category: number) => number): Tile {
  const from = new Reader(bytes);
  if (from.u32() !== MAGIC) throw new Error("a tile begins with other bytes than expected");
  const mode = from.u8();
  from.skip(3);
  const start = from.i64();
  const length = from.u32();
  return mode === 1 ? events(from, start, length, colorOf) : columns(from, start, length, level, colorOf);
}

function columns(from: Reader, start: number, length: number, level: number, colorOf: (category: number) => number): Tile {
  const column = from.u16s(length);
  const lane = from.u16s(length);
  const category = from.u8s(length);
  from.align(4);
  const share = from.f32s(length);
  const count = from.u32s(length);
  const width = 2 ** level;
  const ends = new Float32Array(2 * length);
  const height = new Uint8Array(length);
  const color = new Uint8Array(length);
  for (let at = 0; at < length; at += 1) {
    ends[2 * at] = (column[at] as number) * width;
    ends[2 * at + 1] = ((column[at] as number) + 1) * width;
    height[at] = Math.max(1, Math.round(Math.min(1, share[at] as number) * 255));
    color[at] = paint(colorOf(category[at] as number), 8);
  }
  return { start, spans: { length, ends, lane, color, height }, category, most: width, columns: { count, share, width } };
}

function events(from: Reader, start: number, length: number, colorOf: (category: number) => number): Tile {
  const row = from.u32s(length);
  const relative = from.f64s(length);
  const duration = from.f64s(length);
  const lane = from.u16s(length);
  const category = from.u8s(length);
  from.align(4);
  const name = from.u32s(length);
  const names = from.json<string[]>();
  const shades = names.map(shade);
  const ends = new Float32Array(2 * length);
  const color = new Uint8Array(length);
  const starts = new Float64Array(length);
  for (let at = 0; at < length; at += 1) {
    ends[2 * at] = relative[at] as number;
    ends[2 * at + 1] = (relative[at] as number) + (duration[at] as number);
    starts[at] = start + (relative[at] as number);
    color[at] = paint(colorOf(category[at] as number), shades[name[at] as number] ?? 8);
  }
  const height = new Uint8Array(length).fill(255);
  return { start, spans: { length, ends, lane, color, height }, category, most: duration.reduce((most, one) => Math.max(most, one), 0), events: { row, start: starts, duration, name, names } };
}

const paint = (color: number, shade: number) => (color < 0 || color > NO_CATEGORY ? NO_CATEGORY : color) | (shade << 4);

/** Neighbors of one category differ a little, by name; the same name is the same in every tile. */
function shade(name: string): number {
  let sum = 0;
  for (let at = 0; at < name.length; at += 1) sum = (Math.imul(sum, 31) + name.charCodeAt(at)) | 0;
  return 3 + ((Math.imul(sum, 0x9e3779b1) >>> 16) % 11);
}

export const ANY_LANE = -1;

/** The span of events or columns that covers `at` on `lane`; among several the shortest. */
export function spanAt(tile: Tile, at: number, lane: number, slack: number): number {
  const [offset, { ends, length }] = [at - tile.start, tile.spans];
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < length; i += 1) {
    if (lane !== ANY_LANE && tile.spans.lane[i] !== lane) continue;
    const [left, right] = [ends[2 * i] as number, ends[2 * i + 1] as number];
    if (offset < left - slack || offset > right + slack) continue;
    const apart = offset < left ? left - offset : offset > right ? offset - right : 0;
    const cost = apart * 1e6 + (right - left);
    if (cost < least) [best, least] = [i, cost];
  }
  return best;
}

/** Spans by duration, longest first. */
export function longest(tile: Tile): Uint32Array {
  if (tile.longest === undefined) {
    const { ends, length } = tile.spans;
    const order = Uint32Array.from({ length }, (_, at) => at);
    const of = (at: number) => (ends[2 * at + 1] as number) - (ends[2 * at] as number);
    tile.longest = order.sort((one, other) => of(other) - of(one));
  }
  return tile.longest;
}

/** Splits the answer for several tiles: each with its length before it, length 0 where there is none. */
export function split(bytes: ArrayBuffer): (ArrayBuffer | null)[] {
  const view = new DataView(bytes);
  const parts: (ArrayBuffer | null)[] = [];
  for (let at = 0; at + 4 <= bytes.byteLength;) {
    const length = view.getUint32(at, true);
    at += 4;
    if (at + length > bytes.byteLength) throw new Error("the answer ends within a tile");
    parts.push(length === 0 ? null : bytes.slice(at, at + length));
    at += length;
  }
  return parts;
}

class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly bytes: ArrayBuffer) {
    this.view = new DataView(bytes);
  }

  u8() { return this.view.getUint8(this.move(1)); }
  u32() { return this.view.getUint32(this.move(4), true); }
  i64() { return Number(this.view.getBigInt64(this.move(8), true)); }
  skip(count: number) { this.move(count); }
  align(to: number) { this.at = Math.ceil(this.at / to) * to; }
  u8s(n: number) { return new Uint8Array(this.part(n)); }
  u16s(n: number) { return new Uint16Array(this.part(2 * n)); }
  u32s(n: number) { return new Uint32Array(this.part(4 * n)); }
  f32s(n: number) { return new Float32Array(this.part(4 * n)); }
  f64s(n: number) { return new Float64Array(this.part(8 * n)); }

  json<T>(): T {
    const length = this.u32();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(this.part(length)))) as T;
  }

  private part(length: number): ArrayBuffer {
    const from = this.move(length);
    return this.bytes.slice(from, from + length);
  }

  private move(by: number): number {
    const from = this.at;
    if (from + by > this.bytes.byteLength) throw new Error(`the tile ends at byte ${this.bytes.byteLength}, expected ${from + by}`);
    this.at += by;
    return from;
  }
}
