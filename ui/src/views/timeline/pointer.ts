// What a click on the timeline chooses, and what is said of the place that is pointed at.

import { say } from "../../context";
import { plural, share, short, time, visible } from "../../format";
import type { IdlePart } from "./idle";
import { groupKey } from "./layout";
import type { TrackId } from "./sheet";
import type { Stage, Under } from "./stage";
import { choose, chooseGap, chooseIdle, choosePart, chosen, clear, fold, lookAround, outline } from "./state";
import type { Tile } from "./tile";

export function click(stage: Stage, under: Under | undefined, isSecond: boolean): void {
  if (under === undefined) return;
  const { row, at, tile, span } = under;
  if (isSecond && chosen.value !== undefined) return measure(chosen.value, under);
  if (row.kind === "group" && row.group !== undefined) {
    const idle = stage.idleIn(row, at);
    return idle === undefined ? fold(groupKey(row.group)) : void chooseIdle(idle);
  }
  if (row.track === undefined) return;
  if (tile?.events !== undefined && span >= 0) return pick(tile, span, row.track.id);
  if (tile?.columns !== undefined && span >= 0) return lookInto(tile, tile.columns, span);
  const gap = stage.gapAt(row.track, at);
  if (gap !== undefined) void chooseGap({ ...gap, track: row.track.id });
  else clear();
}

/** From the start of the chosen event to the place of another, or to its start: the time between two points. */
function measure(from: { start: number; track: TrackId }, { row, at, tile, span }: Under): void {
  const to = tile?.events !== undefined && span >= 0 ? (tile.events.start[span] as number) : at;
  const tracks = [from.track, ...(row.track === undefined ? [] : [row.track.id])].map(Number);
  void choosePart({ from: Math.min(from.start, to), to: Math.max(from.start, to), tracks });
}

/** Chooses an event of a tile. */
export function pick(tile: Tile, span: number, track: TrackId): void {
  const events = tile.events;
  if (events === undefined) return;
  const start = events.start[span] as number;
  void choose(events.row[span] as number, { start, end: start + (events.duration[span] as number), track, name: events.names[events.name[span] as number] ?? "" });
}

/** Zooms to a column that stands for several events. */
function lookInto(tile: Tile, columns: NonNullable<Tile["columns"]>, span: number): void {
  const from = tile.start + (tile.spans.ends[2 * span] as number);
  lookAround(from - columns.width * 20, from + columns.width * 21);
  say(`${plural(columns.count[span] as number, "event")} in ${time(columns.width)}: zoomed in`);
}

/** What is pointed at, in a line; nothing where nothing is. */
export function wordsOf(stage: Stage, under: Under | undefined): string | undefined {
  if (under === undefined) return undefined;
  const { counter } = under.row;
  if (counter !== undefined) {
    const value = stage.counters.at(counter, under.at, stage.window, stage.size.width);
    return value === undefined ? undefined : `${visible(counter.name)}: ${value} at ${time(under.at)}`;
  }
  const idle = stage.idleIn(under.row, under.at);
  return idle === undefined ? spanWords(under) : idleWords(idle);
}

function spanWords({ tile, span }: Under): string | undefined {
  if (tile === undefined || span < 0) return undefined;
  const category = outline.value.categories.find((one) => one.id === tile.category[span])?.name;
  const { events, columns } = tile;
  if (events !== undefined) {
    const name = visible(short(events.names[events.name[span] as number] ?? "", 56));
    return `${name} · ${time(events.duration[span] as number)}${category === undefined ? "" : `, ${visible(category)}`}`;
  }
  if (columns === undefined) return undefined;
  const n = columns.count[span] as number;
  const what = n === 0 ? "part of an event" : plural(n, "event");
  return `${what}, busy ${share(columns.share[span] as number)} of ${time(columns.width)}${category === undefined ? "" : `, mostly ${visible(category)}`}`;
}

const idleWords = (part: IdlePart) => `Idle ${time(part.end - part.start)}: ${part.cause}. ${part.about}`;
