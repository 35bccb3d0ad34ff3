// Draws the timeline into three canvases, one above the other: steps, spans by the painter, then ruler, names and marks.
//
// It is told what to show and asks for tiles; it decides nothing.

import { causeFill } from "../../draw/causes";
import { fills, NO_CATEGORY } from "../../draw/palette";
import { type Painter, painterOn } from "../../draw/painter";
import type { Source } from "../../source/source";
import type { Timeline, Track } from "../../source/types";
import { Counters } from "./counters";
import { Idle, type IdlePart } from "./idle";
import { drawEventNames, LEAST_LANE } from "./labels";
import { type Layout, type Row, rowAt, rowsIn, SUMMARY_TRACKS } from "./layout";
import { drawMarks, drawNotes, type Marks, NO_MARKS } from "./marks";
import { type Found, gapIn, laneIn, neighborIn } from "./near";
import { drawBands, drawRuler } from "./ruler";
import { type Box, boxOf, type Inks, RULER, type Sheet, topOf, type TrackId } from "./sheet";
import { ANY_LANE, spanAt, type Tile } from "./tile";
import { levelFor, type Piece, Tiles } from "./tiles";
import type { Window } from "./window";

/** Of the strip with the causes of idle time. */
const IDLE_HEIGHT = 10;
/** Above the spans of a row, and of a folded group. */
const [AIR, FOLDED_AIR] = [2, 4];
/** How much of their color spans lose where others are lit. */
const FADED = 0.72;
/** Pictures of more pixels than these cost more than they show. */
const MOST_RATIO = 2;
const MOST_PIXELS = 4e6;

/** What is at a place of the picture; `span` is -1 where nothing is. */
export interface Under { row: Row; at: number; tile?: Tile; span: number }

export class Stage implements Sheet {
  window: Window = { from: 0, to: 1 };
  scroll = 0;
  marks: Marks = NO_MARKS;
  painter: Painter;
  context: CanvasRenderingContext2D;
  size = { width: 1, height: 1, ratio: 1 };
  inks: Inks = { ground: "#ffffff", ink: "#000000", quiet: "#555555", line: "#dddddd", mark: "#b03000", band: "#f4f4f4" };
  isDark = false;
  order: Layout = { rows: [], height: 0 };
  private readonly tiles: Tiles;
  readonly counters: Counters;
  private readonly idle: Idle;
  private places = new Map<TrackId, Row>();
  private planned = 0;
  private closed = false;

  constructor(
    private readonly timeline: Timeline,
    source: Source,
    came: (categories: Uint8Array) => void,
    private readonly below: HTMLCanvasElement,
    private readonly above: HTMLCanvasElement,
    private readonly ground: HTMLCanvasElement,
    want: string | null,
  ) {
    const colors = new Map(timeline.categories.map((category) => [category.id, category.color_index]));
    const draw = () => this.later();
    this.painter = painterOn(below, want);
    this.tiles = new Tiles(source, (category) => colors.get(category) ?? NO_CATEGORY, draw, (spans) => this.painter.forget(spans), came);
    this.idle = new Idle(source, draw);
    this.counters = new Counters(source, draw, timeline.span_ns);
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

  rowOf(track: TrackId): Row | undefined {
    return this.places.get(track);
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

  look(isDark: boolean, inks: Inks): void {
    this.isDark = isDark;
    this.inks = inks;
    this.painter.colors(fills(isDark), inks.ground);
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

  close(): void {
    this.closed = true;
    cancelAnimationFrame(this.planned);
    this.painter.close();
  }

  private draw(ground = this.ground.getContext("2d")): void {
    const begun = performance.now();
    const { width, height, ratio } = this.size;
    this.painter.begin(width, height, ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    if (ground !== null) drawBands(this, ground, this.timeline.steps);
    for (const row of rowsIn(this.order.rows, this.scroll, this.scroll + height - RULER)) this.drawRow(row);
    drawMarks(this, this.marks, this.marks.chosen === undefined ? undefined : this.eventBox(this.marks.chosen));
    drawRuler(this, this.timeline.steps, this.marks.range);
    drawNotes(this, this.marks.markers);
    performance.measure("timeline-draw", { start: begun, end: performance.now() });
  }

  private drawRow(row: Row): void {
    const top = topOf(this, row);
    this.context.fillStyle = this.inks.line;
    this.context.fillRect(0, Math.round(top + row.height) - 1, this.size.width, 1);
    if (row.kind === "counter" && row.counter !== undefined) {
      this.counters.draw(this.context, row.counter, this.window, { top, height: row.height, width: this.size.width }, this.inks);
    } else if (row.kind === "track" && row.track !== undefined) {
      const pieces = this.pieces(row.track);
      this.paint(pieces, row, top + AIR, row.folded === true);
      if (row.laneHeight >= LEAST_LANE) drawEventNames(this, pieces, row, this.marks.lit !== undefined);
    } else if (row.folded === true) {
      // All tracks on one line, a level coarser: what is busy shows, and one look at it costs little.
      for (const track of (row.group?.tracks ?? []).slice(0, SUMMARY_TRACKS)) this.paint(this.pieces(track, 1), row, top + FOLDED_AIR, true);
    } else if (row.kind === "group") {
      this.drawIdle(row, top);
    }
  }

  /** What there is of a track to draw in the window, some levels coarser than it could be. */
  private pieces(track: Track, coarser = 0, from = this.window.from, to = this.window.to): Piece[] {
    return this.tiles.pieces(track, levelFor(1 / this.pixelsPerNs) + coarser, from, to);
  }

  private paint(pieces: readonly Piece[], row: Row, top: number, flat: boolean): void {
    for (const piece of pieces) {
      this.painter.draw(piece.tile.spans, {
        from: this.window.from - piece.tile.start,
        pixelsPerUnit: this.pixelsPerNs,
        top,
        laneHeight: row.laneHeight,
        flat,
        faded: this.marks.lit === undefined ? 0 : FADED,
        clip: [this.x(piece.from), this.x(piece.to)],
        clipRows: [RULER, topOf(this, row) + row.height],
      });
    }
  }

  private drawIdle(row: Row, top: number): void {
    if (row.group === undefined) return;
    for (const part of this.idle.parts(row.group, this.window, this.size.width)) {
      const [left, right] = [Math.max(0, this.x(part.start)), Math.min(this.size.width, this.x(part.end))];
      if (right <= left) continue;
      this.context.fillStyle = causeFill(part.cause, this.isDark);
      this.context.fillRect(left, top + row.height - IDLE_HEIGHT - 2, Math.max(1, right - left), IDLE_HEIGHT);
    }
  }

  /** The box of an event on its own lane, where a tile here tells the lane. */
  private eventBox(event: { start: number; end: number; track: TrackId }): Box | undefined {
    const row = this.rowOf(event.track);
    const box = boxOf(this, event.start, event.end, event.track);
    if (row?.kind !== "track" || row.track === undefined || row.folded === true || box === undefined) return box;
    const lane = laneIn(this.pieces(row.track, 0, event.start, event.start), event);
    return lane === undefined ? box : [box[0], box[1] + 1 + lane * row.laneHeight, box[2], row.laneHeight - 1];
  }

  /** What is at a place of the picture, in CSS pixels. */
  under(x: number, y: number): Under | undefined {
    if (y < RULER) return undefined;
    const row = rowAt(this.order.rows, y - RULER + this.scroll);
    if (row === undefined) return undefined;
    const at = this.timeAt(x);
    if (row.track === undefined || row.kind !== "track") return { row, at, span: -1 };
    const lane = row.folded === true ? ANY_LANE : Math.max(0, Math.min(Math.max(1, row.track.lanes) - 1, Math.floor((y - topOf(this, row) - AIR) / row.laneHeight)));
    const piece = this.pieces(row.track, 0, at, at).find(({ from, to }) => at >= from && at <= to);
    if (piece === undefined) return { row, at, span: -1 };
    return { row, at, tile: piece.tile, span: spanAt(piece.tile, at, lane, 2 / this.pixelsPerNs) };
  }

  /** The idle part at a time in the row of a device. */
  idleIn(row: Row, at: number): IdlePart | undefined {
    if (row.kind !== "group" || row.folded === true || row.group === undefined) return undefined;
    for (const part of this.idle.parts(row.group, this.window, this.size.width)) if (part.start <= at && part.end >= at) return part;
    return undefined;
  }

  /** The event of `track` that begins next after a time or before it, among the tiles that are here. */
  neighbor(track: Track, at: number, by: 1 | -1): Found | undefined {
    return neighborIn(this.pieces(track), at, by);
  }

  /** The gap around `at`: where no lane of the track has anything. */
  gapAt(track: Track, at: number) {
    return gapIn(this.pieces(track), at);
  }

  /** The canvases, the lowest first, drawn anew: a graphics card keeps no picture. */
  layers(): readonly HTMLCanvasElement[] {
    this.draw();
    return [this.ground, this.below, this.above];
  }

  /** Draws what is shown by other means than the page's canvases, one pixel to a unit. */
  drawBy(painter: Painter, context: CanvasRenderingContext2D, ground: CanvasRenderingContext2D): void {
    const own = [this.painter, this.context, this.size] as const;
    painter.colors(fills(this.isDark), this.inks.ground);
    try {
      [this.painter, this.context, this.size] = [painter, context, { ...this.size, ratio: 1 }];
      this.draw(ground);
    } finally {
      [this.painter, this.context, this.size] = own;
    }
  }
}
