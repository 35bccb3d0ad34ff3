// Draws the timeline into three canvases, one above the other: steps, spans by the painter, then ruler, names and marks.
//
// It is told what to show and asks for tiles; it decides nothing.

import { fill, fills, LABEL_INK } from "../../draw/palette";
import { type Painter, painterOn } from "../../draw/painter";
import { causeFill } from "../../draw/causes";
import { time } from "../../format";
import type { EventRef, Timeline, Track } from "../../source/types";
import { SvgContext, SvgPainter } from "../../draw/svg";
import { type Layout, type Row, rowAt, rowsIn, SUMMARY_TRACKS } from "./layout";
import { longest, spanAt, type Tile } from "./tile";
import { levelFor, type Piece, Tiles } from "./tiles";
import { ticks, type Window } from "./window";
import type { Source } from "../../source/source";
import { Counters } from "./counters";
import { Idle } from "./idle";

export const RULER = 30;
const LABEL = "11px system-ui, sans-serif";
const LETTER = 6.1;
/** Of the strip with the causes of idle time. */
const IDLE_HEIGHT = 10;
/** Spans narrower than this have no room for a name. */
const LEAST_NAMED = 22;
/** Work of pictures beyond this many pixels to one costs more than it shows. */
const MOST_RATIO = 2;
const MOST_PIXELS = 4e6;

export interface Marks {
  chosen: { start: number; end: number; track: number | string } | undefined;
  launch: { from: { at: number; track: number | string }; to: { at: number; track: number | string } }[];
  gap: { start: number; end: number; track: number | string; cause?: string } | undefined;
  range: { from: number; to: number } | undefined;
  lit: readonly EventRef[] | undefined;
  hits: readonly { start_ns: number; duration_ns: number; track: number | string }[] | undefined;
}

export interface Under {
  row: Row;
  at: number;
  tile?: Tile;
  span: number;
  lane: number;
}

export interface Inks { ground: string; ink: string; quiet: string; line: string; mark: string; band: string }

export class Stage {
  window: Window = { from: 0, to: 1 };
  scroll = 0;
  marks: Marks = { chosen: undefined, launch: [], gap: undefined, range: undefined, lit: undefined, hits: undefined };
  painter: Painter;
  private readonly tiles: Tiles;
  private readonly counters: Counters;
  private readonly idle: Idle;
  private context: CanvasRenderingContext2D;
  private readonly colors = new Map<number, number>();
  private planned = 0;
  private closed = false;
  private places = new Map<number | string, Row>();
  private size = { width: 1, height: 1, ratio: 1 };
  private inks: Inks = { ground: "#ffffff", ink: "#000000", quiet: "#555555", line: "#dddddd", mark: "#b03000", band: "#f4f4f4" };
  private dark = false;
  private order: Layout = { rows: [], height: 0 };

  constructor(
    private readonly timeline: Timeline,
    source: Source,
    came: (categories: Uint8Array) => void,
    private readonly below: HTMLCanvasElement,
    private readonly above: HTMLCanvasElement,
    private readonly ground: HTMLCanvasElement,
    want: string | null,
  ) {
    for (const category of timeline.categories) this.colors.set(category.id, category.color_index);
    const draw = () => this.later();
    this.painter = painterOn(below, want);
    this.tiles = new Tiles(source, (category) => this.colors.get(category) ?? 15, draw, (spans) => this.painter.forget(spans), came);
    this.idle = new Idle(source, draw);
    this.counters = new Counters(source, draw);
    this.context = above.getContext("2d") as CanvasRenderingContext2D;
  }

  set layout(layout: Layout) {
    this.order = layout;
    this.places = new Map();
    for (const row of layout.rows) {
      if (row.kind === "track" && row.track !== undefined) this.places.set(row.track.id, row);
      if (row.kind === "group" && row.folded === true) for (const track of row.group?.tracks ?? []) this.places.set(track.id, row);
    }
    this.later();
  }

  look(dark: boolean, inks: Inks): void {
    this.dark = dark;
    this.inks = inks;
    this.painter.colors(fills(dark), inks.ground);
    this.later();
  }

  resize(width: number, height: number): void {
    const wanted = Math.min(MOST_RATIO, window.devicePixelRatio || 1);
    const ratio = Math.max(1, Math.min(wanted, Math.sqrt(MOST_PIXELS / Math.max(1, width * height))));
    this.size = { width: Math.max(1, width), height: Math.max(1, height), ratio };
    const [wide, high] = [Math.round(this.size.width * ratio), Math.round(this.size.height * ratio)];
    for (const canvas of [this.above, this.ground]) {
      if (canvas.width === wide && canvas.height === high) continue;
      canvas.width = wide;
      canvas.height = high;
    }
    // At once: the canvases are empty now, and would be seen so.
    if (!this.closed) this.draw();
  }

  /** Draws before the next frame, once. */
  later(): void {
    if (this.planned !== 0 || this.closed) return;
    this.planned = requestAnimationFrame(() => {
      this.planned = 0;
      if (!this.closed) this.draw();
    });
  }

  /** What is shown, with the names of rows at its left; drawn anew, because a graphics card keeps no picture. */
  picture(names: number): HTMLCanvasElement {
    const { width, height, ratio } = this.size;
    const canvas = document.createElement("canvas");
    canvas.width = Math.round((width + names) * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    if (context === null) return canvas;
    context.scale(ratio, ratio);
    context.fillStyle = this.inks.ground;
    context.fillRect(0, 0, width + names, height);
    this.draw();
    for (const layer of [this.ground, this.below, this.above]) context.drawImage(layer, names, 0, width, height);
    this.rowNames(context, names);
    return canvas;
  }

  /** The same as SVG: drawn once more by the same rules, into text. */
  svg(names: number): string {
    const { width, height } = this.size;
    const [beside, ground, below, above] = [new SvgContext(), new SvgContext(), new SvgContext(), new SvgContext()];
    const [painter, context, size] = [this.painter, this.context, this.size];
    try {
      this.painter = new SvgPainter(below);
      this.painter.colors(fills(this.dark), this.inks.ground);
      this.context = above as unknown as CanvasRenderingContext2D;
      this.size = { ...size, ratio: 1 };
      this.draw(ground as unknown as CanvasRenderingContext2D);
    } finally {
      [this.painter, this.context, this.size] = [painter, context, size];
    }
    this.rowNames(beside as unknown as CanvasRenderingContext2D, names);
    const layers = [ground, below, above].map((layer) => layer.group(names)).join("");
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + names}" height="${height}" viewBox="0 0 ${width + names} ${height}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${this.inks.ground}"/>${layers}${beside.group(0)}</svg>`;
  }

  private rowNames(context: CanvasRenderingContext2D, width: number): void {
    const height = this.size.height;
    context.font = LABEL;
    context.textBaseline = "middle";
    for (const row of rowsIn(this.order.rows, this.scroll, this.scroll + height - RULER)) {
      const top = RULER + row.top - this.scroll;
      if (top < RULER - 8) continue;
      context.fillStyle = row.kind === "group" ? this.inks.ink : this.inks.quiet;
      context.fillText(short(row.name, Math.floor((width - 14) / LETTER)), row.kind === "group" ? 6 : 12, top + 13, width - 10);
      context.fillStyle = this.inks.line;
      context.fillRect(0, Math.round(top + row.height) - 1, width, 1);
    }
  }

  close(): void {
    this.closed = true;
    cancelAnimationFrame(this.planned);
    this.painter.close();
  }

  get pixelsPerNs(): number {
    return this.size.width / (this.window.to - this.window.from);
  }

  x(at: number): number {
    return (at - this.window.from) * this.pixelsPerNs;
  }

  timeAt(x: number): number {
    return this.window.from + x / this.pixelsPerNs;
  }

  private draw(ground = this.ground.getContext("2d")): void {
    const begun = performance.now();
    const { width, height, ratio } = this.size;
    this.painter.begin(width, height, ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.steps(ground);
    const level = levelFor(1 / this.pixelsPerNs);
    for (const row of rowsIn(this.order.rows, this.scroll, this.scroll + height - RULER)) this.row(row, level);
    this.drawMarks();
    this.ruler();
    performance.measure("timeline-draw", { start: begun, end: performance.now() });
  }

  private row(row: Row, level: number): void {
    const top = RULER + row.top - this.scroll;
    const context = this.context;
    context.fillStyle = this.inks.line;
    context.fillRect(0, Math.round(top + row.height) - 1, this.size.width, 1);
    if (row.kind === "counter" && row.counter !== undefined) {
      this.counters.draw(context, row.counter, this.window, { top, height: row.height, width: this.size.width }, this.inks);
      return;
    }
    if (row.kind === "track" && row.track !== undefined) {
      const pieces = this.tiles.pieces(row.track, level, this.window.from, this.window.to);
      this.paint(pieces, row, top + 2, false);
      if (row.laneHeight >= 12) this.names(pieces, row, top + 2);
    } else if (row.kind === "group" && row.folded !== true) {
      this.idleParts(row, top);
    } else if (row.folded === true) {
      // All tracks on one line, a level coarser: what is busy shows, and one look at it costs little.
      for (const track of (row.group?.tracks ?? []).slice(0, SUMMARY_TRACKS)) {
        this.paint(this.tiles.pieces(track, level + 1, this.window.from, this.window.to), row, top + 4, true);
      }
    }
  }

  private idleParts(row: Row, top: number): void {
    if (row.group === undefined) return;
    for (const part of this.idle.parts(row.group, this.window, this.size.width)) {
      const [left, right] = [Math.max(0, this.x(part.start)), Math.min(this.size.width, this.x(part.end))];
      if (right <= left) continue;
      this.context.fillStyle = causeFill(part.cause, this.dark);
      this.context.fillRect(left, top + row.height - IDLE_HEIGHT - 2, Math.max(1, right - left), IDLE_HEIGHT);
    }
  }

  /** The idle part at a time in the row of a device. */
  idleIn(row: Row, at: number): { start: number; end: number; cause: string; about: string } | undefined {
    if (row.kind !== "group" || row.folded === true || row.group === undefined) return undefined;
    for (const part of this.idle.parts(row.group, this.window, this.size.width)) if (part.start <= at && part.end >= at) return part;
    return undefined;
  }

  idleAt(x: number, y: number) {
    const under = this.under(x, y);
    return under === undefined ? undefined : this.idleIn(under.row, under.at);
  }

  private paint(pieces: readonly Piece[], row: Row, top: number, flat: boolean): void {
    const faded = this.marks.lit === undefined ? 0 : 0.72;
    for (const piece of pieces) {
      this.painter.draw(piece.tile.spans, {
        from: this.window.from - piece.tile.start,
        pixelsPerUnit: this.pixelsPerNs,
        top,
        laneHeight: row.laneHeight,
        flat,
        faded,
        clip: [this.x(piece.from), this.x(piece.to)],
        clipRows: [RULER, RULER + row.top - this.scroll + row.height],
      });
    }
  }

  private names(pieces: readonly Piece[], row: Row, top: number): void {
    const context = this.context;
    const scale = this.pixelsPerNs;
    context.font = LABEL;
    context.textBaseline = "middle";
    context.fillStyle = this.marks.lit === undefined ? LABEL_INK : this.inks.quiet;
    for (const { tile, from, to } of pieces) {
      const events = tile.events;
      if (events === undefined || tile.most * scale < LEAST_NAMED) continue;
      for (const at of longest(tile)) {
        const duration = events.duration[at] as number;
        if (duration * scale < LEAST_NAMED) break;
        const start = events.start[at] as number;
        // An event in two tiles is named in the first that is shown.
        if (start >= to || start + duration <= from || (start < from && from > this.window.from)) continue;
        const left = Math.max(0, this.x(start)) + 3;
        const room = Math.min(this.size.width, this.x(start + duration)) - left - 2;
        const letters = Math.floor(room / LETTER);
        if (letters < 3) continue;
        const name = events.names[events.name[at] as number] ?? "";
        const text = name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
        const y = top + (tile.spans.lane[at] as number) * row.laneHeight + row.laneHeight / 2;
        if (y > RULER) context.fillText(text, left, y, room);
      }
    }
  }

  private steps(context: CanvasRenderingContext2D | null): void {
    if (context === null || this.timeline.steps.length === 0) return;
    context.setTransform(this.size.ratio, 0, 0, this.size.ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    this.timeline.steps.forEach(([start, end], at) => {
      const [left, right] = [this.x(start), this.x(end)];
      if (right < 0 || left > this.size.width || right - left < 2) return;
      if (at % 2 === 1) {
        context.fillStyle = this.inks.band;
        context.fillRect(left, RULER, right - left, this.size.height - RULER);
      }
      context.fillStyle = this.inks.line;
      context.fillRect(left, RULER, 1, this.size.height);
    });
  }

  private ruler(): void {
    const { context, size, inks } = this;
    context.fillStyle = inks.ground;
    context.fillRect(0, 0, size.width, RULER);
    context.fillStyle = inks.line;
    context.fillRect(0, RULER - 1, size.width, 1);
    context.font = LABEL;
    context.textBaseline = "middle";
    const { at, step } = ticks(this.window, size.width, 110);
    for (const tick of at) {
      const x = Math.round(this.x(tick));
      context.fillStyle = inks.line;
      context.fillRect(x, RULER - 8, 1, 8);
      context.fillStyle = inks.quiet;
      context.fillText(clock(tick, step), x + 4, 20);
    }
    let free = 0;
    for (const [start, end, name] of this.timeline.steps) {
      const [left, right] = [Math.max(0, this.x(start)), Math.min(size.width, this.x(end))];
      const text = short(name, Math.floor((right - left - 6) / LETTER));
      if (right - left < 30 || left < free || text === "") continue;
      context.fillStyle = inks.band;
      context.fillRect(left, 1, right - left - 1, 12);
      context.fillStyle = inks.ink;
      context.fillText(text, left + 4, 7, right - left - 6);
      free = right;
    }
    const edge = this.marks.range;
    if (edge !== undefined) {
      const text = time(edge.to - edge.from);
      const middle = (this.x(edge.from) + this.x(edge.to)) / 2;
      const wide = text.length * LETTER + 10;
      context.fillStyle = inks.mark;
      context.fillRect(middle - wide / 2, 13, wide, 15);
      context.fillStyle = inks.ground;
      context.fillText(text, middle - wide / 2 + 5, 21);
    }
  }

  private box(start: number, end: number, track: number | string): [number, number, number, number] | undefined {
    const row = this.places.get(track);
    if (row === undefined) return undefined;
    const left = Math.max(-4, this.x(start));
    const right = Math.min(this.size.width + 4, Math.max(this.x(end), left + 2));
    if (right < -2 || left > this.size.width + 2) return undefined;
    const top = RULER + row.top - this.scroll;
    return [left, top + 1, right - left, row.height - 3];
  }

  private drawMarks(): void {
    const { context, inks, marks } = this;
    context.save();
    context.beginPath();
    context.rect(0, RULER, this.size.width, this.size.height);
    context.clip();
    if (marks.lit !== undefined) this.boxes(marks.lit.map(([, start, length, track]) => this.box(start, start + length, track)), fill(3, this.dark), inks.mark);
    if (marks.hits !== undefined) this.boxes(marks.hits.map((hit) => this.box(hit.start_ns, hit.start_ns + hit.duration_ns, hit.track)), undefined, inks.mark);
    if (marks.gap !== undefined) this.hatch(marks.gap);
    if (marks.range !== undefined) {
      const [left, right] = [this.x(marks.range.from), this.x(marks.range.to)];
      context.globalAlpha = 0.12;
      context.fillStyle = inks.mark;
      context.fillRect(left, RULER, right - left, this.size.height);
      context.globalAlpha = 1;
      context.fillRect(left, RULER, 1, this.size.height);
      context.fillRect(right, RULER, 1, this.size.height);
    }
    this.flows();
    const picked = marks.chosen;
    if (picked !== undefined) {
      const box = this.spanBox(picked);
      if (box !== undefined) {
        context.strokeStyle = inks.ink;
        context.lineWidth = 2;
        context.strokeRect(box[0] - 0.5, box[1], Math.max(3, box[2]) + 1, box[3]);
      }
    }
    context.restore();
  }

  /** The box of an event on its own lane, where a tile here tells the lane. */
  private spanBox(event: { start: number; end: number; track: number | string }): [number, number, number, number] | undefined {
    const row = this.places.get(event.track);
    const box = this.box(event.start, event.end, event.track);
    if (row?.kind !== "track" || row.track === undefined || box === undefined) return box;
    for (const { tile } of this.tiles.pieces(row.track, levelFor(1 / this.pixelsPerNs), event.start, event.start)) {
      const events = tile.events;
      if (events === undefined) continue;
      for (let at = 0; at < tile.spans.length; at += 1) {
        if (events.start[at] !== event.start || Math.abs((events.duration[at] as number) - (event.end - event.start)) > 0.5) continue;
        return [box[0], box[1] + 1 + (tile.spans.lane[at] as number) * row.laneHeight, box[2], row.laneHeight - 1];
      }
    }
    return box;
  }

  private boxes(boxes: readonly ([number, number, number, number] | undefined)[], inside: string | undefined, edge: string): void {
    const context = this.context;
    context.lineWidth = 1;
    context.strokeStyle = edge;
    for (const box of boxes) {
      if (box === undefined) continue;
      if (inside !== undefined) {
        context.fillStyle = inside;
        context.fillRect(...box);
      }
      if (inside === undefined || box[2] > 4) context.strokeRect(box[0] + 0.5, box[1] + 0.5, box[2] - 1, box[3] - 1);
    }
  }

  private hatch(gap: { start: number; end: number; track: number | string; cause?: string }): void {
    const box = this.box(gap.start, gap.end, gap.track);
    if (box === undefined) return;
    const { context, inks } = this;
    context.save();
    context.beginPath();
    context.rect(...box);
    context.clip();
    context.fillStyle = causeFill(gap.cause, this.dark);
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
    context.strokeRect(box[0] + 0.5, box[1] + 0.5, box[2] - 1, box[3] - 1);
  }

  private flows(): void {
    const { context, inks } = this;
    context.strokeStyle = inks.mark;
    context.fillStyle = inks.mark;
    context.lineWidth = 1.5;
    for (const { from, to } of this.marks.launch) {
      const [one, other] = [this.places.get(from.track), this.places.get(to.track)];
      if (one === undefined || other === undefined) continue;
      const [x1, x2] = [this.x(from.at), this.x(to.at)];
      const [y1, y2] = [one, other].map((row) => RULER + row.top - this.scroll + Math.min(row.height / 2, 12)) as [number, number];
      const bend = Math.max(24, Math.abs(x2 - x1) / 3);
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
  }

  /** What is at a place of the picture, in CSS pixels. */
  under(x: number, y: number): Under | undefined {
    if (y < RULER) return undefined;
    const row = rowAt(this.order.rows, y - RULER + this.scroll);
    if (row === undefined) return undefined;
    const at = this.timeAt(x);
    if (row.track === undefined || row.kind !== "track") return { row, at, span: -1, lane: 0 };
    const lane = Math.max(0, Math.min(Math.max(1, row.track.lanes) - 1, Math.floor((y - RULER + this.scroll - row.top - 2) / row.laneHeight)));
    const slack = 2 / this.pixelsPerNs;
    for (const { tile, from, to } of this.tiles.pieces(row.track, levelFor(1 / this.pixelsPerNs), at, at)) {
      if (at < from || at > to) continue;
      return { row, at, tile, span: spanAt(tile, at, lane, slack), lane };
    }
    return { row, at, span: -1, lane };
  }

  /** The event of `track` before or after one that starts at `at`, among the tiles that are here. */
  neighbor(track: Track, at: number, lane: number, by: 1 | -1): { tile: Tile; span: number } | undefined {
    let best: { tile: Tile; span: number } | undefined;
    let least = Infinity;
    for (const { tile } of this.tiles.pieces(track, levelFor(1 / this.pixelsPerNs), this.window.from, this.window.to)) {
      const events = tile.events;
      if (events === undefined) continue;
      for (let span = 0; span < tile.spans.length; span += 1) {
        if (lane >= 0 && tile.spans.lane[span] !== lane) continue;
        const apart = ((events.start[span] as number) - at) * by;
        if (apart > 0 && apart < least) [best, least] = [{ tile, span }, apart];
      }
    }
    return best;
  }

  /** The gap around `at`: where no lane of the track has anything. */
  gapAt(track: Track, at: number): { prev: number; next: number; start: number; end: number } | undefined {
    let [start, end, prev, next] = [-Infinity, Infinity, -1, -1];
    for (const { tile } of this.tiles.pieces(track, levelFor(1 / this.pixelsPerNs), this.window.from, this.window.to)) {
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
}

/** A time on the ruler, with as many digits as its neighbors need. */
export function clock(at: number, step: number): string {
  const [unit, size] = step >= 1e9 ? ["s", 1e9] : step >= 1e6 ? ["ms", 1e6] : step >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const [larger, by] = Math.abs(at) >= 1e9 ? ["s", 1e9] : [unit, size];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / (by as number)))));
  return `${(at / (by as number)).toFixed(decimals).replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, "\u202f")} ${larger}`;
}

const short = (name: string, letters: number) => (letters < 3 ? "" : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`);
