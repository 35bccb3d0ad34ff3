// Where each group and track stands, from top to bottom, in CSS pixels.

import type { Counter, Group, Timeline, Track } from "../../source/types";

type TrackId = Track["id"];

export const GROUP_HEIGHT = 26;
const PADDING = 5;
const COUNTER_HEIGHT = 40;
/** Of a counter of one track, which stands right below it. */
const BELOW_HEIGHT = 28;
/** Tracks of a folded group that its summary shows. */
export const SUMMARY_TRACKS = 24;

export interface Row {
  key: string;
  kind: "group" | "track" | "counter";
  name: string;
  top: number;
  height: number;
  laneHeight: number;
  group?: Group;
  track?: Track;
  counter?: Counter;
  /** Of a counter: that it belongs to the track above. */
  isBelow?: boolean;
  folded?: boolean;
}

export interface Layout { rows: Row[]; height: number }

/** Lanes are lower where there are many. */
export function laneHeight(lanes: number): number {
  return lanes <= 1 ? 20 : lanes <= 4 ? 16 : lanes <= 12 ? 13 : 9;
}

export const groupKey = (group: Group) => `g${group.id}`;
const trackKey = (track: Track) => `t${track.id}`;

/** How somebody arranged the tracks. */
export interface Arrangement {
  /** A text, or a regular expression, that a track's name or its group's must have. */
  only: string;
  /** Tracks above all others, in this order. */
  pinned: readonly TrackId[];
  hidden: ReadonlySet<TrackId>;
}

export const AS_IT_CAME: Arrangement = { only: "", pinned: [], hidden: new Set() };

export function layout(timeline: Timeline, folded: ReadonlySet<string>, how = AS_IT_CAME): Layout {
  const rows: Row[] = [];
  const ofTracks = new Map(timeline.counters.filter((counter) => counter.track != null).map((counter) => [counter.track, counter]));
  let top = 0;
  const put = (row: Omit<Row, "top">) => {
    rows.push({ ...row, top });
    top += row.height;
  };
  const putTracks = (group: Group) => {
    for (const track of group.tracks) {
      const key = trackKey(track);
      // A folded track has all its lanes on one.
      const lanes = folded.has(key) ? 1 : Math.max(1, track.lanes);
      const lane = laneHeight(lanes);
      put({ key, kind: "track", name: track.name, height: lanes * lane + PADDING, laneHeight: lane, group, track, folded: folded.has(key) });
      const below = ofTracks.get(track.id);
      if (below !== undefined) put({ key: `c${below.id}`, kind: "counter", name: below.name, height: BELOW_HEIGHT, laneHeight: BELOW_HEIGHT, counter: below, isBelow: true });
    }
  };
  const putCounter = (counter: Counter, name: string) => put({ key: `c${counter.id}`, kind: "counter", name, height: COUNTER_HEIGHT, laneHeight: COUNTER_HEIGHT, counter });
  const groups = arranged(timeline.groups, how);
  const isShown = matcher(how.only);
  for (const group of groups) {
    const key = groupKey(group);
    const shut = folded.has(key);
    put({ key, kind: "group", name: group.name, height: GROUP_HEIGHT, laneHeight: 18, group, folded: shut });
    if (shut) continue;
    putTracks(group);
    const own = timeline.counters.filter((counter) => isOf(counter, group) && counter.track == null);
    own.filter((counter) => isShown(counter.name) || isShown(group.name)).forEach((counter) => putCounter(counter, counter.name));
  }
  // Of no device that is here: memory, the host.
  const others = timeline.counters.filter((counter) => !timeline.groups.some((group) => isOf(counter, group)));
  const named = others.map((counter) => [counter, counter.of === undefined ? counter.name : `${counter.of}: ${counter.name}`] as const);
  named.filter(([, name]) => isShown(name)).forEach(([counter, name]) => putCounter(counter, name));
  return { rows, height: top };
}

/** The groups with the tracks that are to be seen; those that are pinned are a group of their own. */
function arranged(groups: readonly Group[], { only, pinned, hidden }: Arrangement): Group[] {
  const matches = matcher(only);
  const above = new Set(pinned);
  const isSeen = (group: Group, track: Track) => !above.has(track.id) && !hidden.has(track.id) && (matches(track.name) || matches(group.name));
  const others = groups.map((group) => ({ ...group, tracks: group.tracks.filter((track) => isSeen(group, track)) })).filter((group, at) => group.tracks.length > 0 || (only === "" && groups[at]?.tracks.length === 0));
  const all = groups.flatMap((group) => group.tracks.map((track) => ({ ...track, name: `${track.name} · ${group.name}` })));
  const tracks = pinned.map((id) => all.find((track) => track.id === id)).filter((track) => track !== undefined);
  return tracks.length === 0 ? others : [{ id: PINNED, name: "Pinned", kind: "pinned", tracks }, ...others];
}

export const PINNED = "pinned";

/** Whether a name has a text, or meets a regular expression where the text is one. */
export function matcher(text: string): (name: string) => boolean {
  if (text === "") return () => true;
  const part = text.toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(part);
  try {
    const pattern = new RegExp(text, "i");
    return (name) => has(name) || pattern.test(name);
  } catch {
    return has;
  }
}

const isOf = (counter: Counter, group: Group) => group.kind === "device" && counter.device !== undefined && counter.device !== null && counter.device === group.row;

/** About the height of a screen, without what is around the rows. */
const SCREEN = 560;

/** What begins folded beside a device, so that a screen holds the rest: threads of hosts, else hosts. */
export function foldedAtFirst(timeline: Timeline): Set<string> {
  const hosts = timeline.groups.filter((group) => group.kind !== "device");
  const fits = (folded: Set<string>) => layout(timeline, folded).height <= SCREEN;
  const threads = new Set(hosts.flatMap((group) => group.tracks).filter((track) => track.lanes > 1).map(trackKey));
  if (hosts.length === timeline.groups.length || fits(new Set())) return new Set();
  return fits(threads) ? threads : new Set(hosts.map(groupKey));
}

/** The row at height `y`. */
export function rowAt(rows: readonly Row[], y: number): Row | undefined {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle] as Row;
    if (row.top + row.height <= y) low = middle + 1;
    else high = middle;
  }
  const row = rows[low];
  return row !== undefined && y >= row.top ? row : undefined;
}

/** The rows that some part of `from` to `to` shows. */
export function rowsIn(rows: readonly Row[], from: number, to: number): Row[] {
  return rows.filter((row) => row.top < to && row.top + row.height > from);
}

/** The tracks that a drag from one height to another means: those that it touches; a folded group is all of its tracks. */
export function tracksUnder(rows: readonly Row[], one: number, other: number): TrackId[] {
  const touched = rowsIn(rows, Math.min(one, other), Math.max(one, other) + 1);
  const tracks = touched.filter((row) => row.kind === "track").map((row) => row.track?.id);
  const folded = touched.filter((row) => row.kind === "group" && row.folded === true);
  const heads = tracks.length + folded.length > 0 ? folded : touched.filter((row) => row.kind === "group");
  return [...tracks, ...heads.flatMap((row) => row.group?.tracks ?? []).map((track) => track.id)].filter((id) => id !== undefined);
}
