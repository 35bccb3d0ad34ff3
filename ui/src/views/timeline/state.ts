// What the timeline shows, as signals; the address keeps what a reader would want to send to somebody.

import { batch, signal } from "@preact/signals";
import { keep, keepSelection } from "../../address";
import { ask, lit, read, reason, say } from "../../context";
import { count, short, time } from "../../format";
import { queryOf, rangesOf, type Selection } from "../../selection";
import type { Details, EventRef, Hit, SearchAnswer, SelectionAnswer, Timeline } from "../../source/types";
import { numberOf, trackOf } from "./details";
import type { IdlePart } from "./idle";
import { type Arrangement, AS_IT_CAME, groupKey } from "./layout";
import type { TrackId } from "./sheet";
import { type Marker, writtenMarkers } from "./markers";
import { around, moved, type Window, within, zoomed } from "./window";

export interface Chosen { row: number; start: number; end: number; track: TrackId; name: string }
/** Between two events, by their rows; idle time of a device is between no two of one track. */
export interface Gap { prev?: number; next?: number; start: number; end: number; track: TrackId; cause?: string; details?: Details; device?: number }

export const shown = signal<Window>({ from: 0, to: 1 });
export const chosen = signal<Chosen | undefined>(undefined);
export const details = signal<Details | undefined>(undefined);
export const gap = signal<Gap | undefined>(undefined);
/** What is being drawn, or is chosen. */
export const range = signal<Selection | undefined>(undefined);
export const statistics = signal<SelectionAnswer | undefined>(undefined);
export const failed = signal<string | undefined>(undefined);
export const hits = signal<{ text: string; count: number; hits: Hit[]; at: number } | undefined>(undefined);
/** Numbers of the categories that some tile here has. */
export const seen = signal<ReadonlySet<number>>(new Set());
export const folded = signal<ReadonlySet<string>>(new Set());

/** Whether exposed collectives are listed. */
export const listed = signal(false);

/** Whether the critical path is shown. */
export const critical = signal(false);
/** Launches of the chosen range, where they are drawn. */
export const launches = signal<Launches | undefined>(undefined);

export interface Launches { count: number; each: number; flows: [number, TrackId, number, TrackId][] }

/** Which tracks are seen, and in which order. */
export const arrangement = signal<Arrangement>(AS_IT_CAME);
/** Times with a note each, in order. */
export const markers = signal<readonly Marker[]>([]);

/** What there is to show. */
export const outline = signal<Timeline>({ span_ns: 1, groups: [], categories: [], steps: [], counters: [] });
const span = () => outline.peek().span_ns;

/** Shows a part of time, as much of it as there is. */
export function look(window: Window): void {
  const next = within(window, span());
  shown.value = next;
  keep({ from: Math.round(next.from), to: Math.round(next.to) });
}

export const lookAtAll = () => look({ from: 0, to: span() });
/** Shows a stretch with air around. */
export const lookAround = (from: number, to: number) => look(around(from, to, span()));
/** Zooms by `factor`, below 1 to see less, and keeps `at` where it is; the middle unless given. */
export const zoom = (factor: number, at = (shown.value.from + shown.value.to) / 2) => look(zoomed(shown.value, factor, at, span()));
/** Moves by a part of what is shown. */
export const pan = (part: number) => look(moved(shown.value, part, span()));

export function clear(): void {
  batch(() => {
    chosen.value = undefined;
    details.value = undefined;
    gap.value = undefined;
    range.value = undefined;
    statistics.value = undefined;
    failed.value = undefined;
  });
  keep({ event: undefined, gap: undefined });
  keepSelection(undefined);
}

/** Shows what is known of an event. */
export async function choose(row: number, known?: Partial<Chosen>): Promise<void> {
  clear();
  keep({ event: row });
  if (known?.start !== undefined) chosen.value = { row, start: known.start, end: known.end ?? known.start, track: known.track ?? "", name: known.name ?? "" };
  try {
    const found = await ask<Details>(`event/${row}`);
    const start = numberOf(found["start_ns"]) ?? known?.start ?? 0;
    const name = String(found["name"] ?? known?.name ?? "");
    const end = start + (numberOf(found["duration_ns"]) ?? 0);
    batch(() => {
      chosen.value = { row, start, end, track: trackOf(found) ?? known?.track ?? "", name };
      details.value = found;
    });
    read(`${short(name, 80)}, ${time(end - start)}, at ${time(start)}`);
  } catch (error) {
    failed.value = reason(error).text;
  }
}

/** Shows why nothing ran between two events of a track. */
export async function chooseGap(found: Gap & { prev: number; next: number }): Promise<void> {
  clear();
  gap.value = found;
  keep({ gap: `${found.prev}-${found.next}` });
  try {
    const answer = await ask<Details>("gap", { prev: found.prev, next: found.next });
    gap.value = { ...found, cause: String(answer["cause"] ?? ""), details: answer };
    read(`idle ${time(found.end - found.start)}: ${String(answer["cause"] ?? "cause unknown")}`);
  } catch (error) {
    failed.value = reason(error).text;
  }
}

/** Shows why a device was idle, which its strip says already, and asks what was before and behind it. */
export async function chooseIdle(part: IdlePart): Promise<void> {
  clear();
  const picked: Gap = { start: part.start, end: part.end, track: "", cause: part.cause, device: part.device, details: { about: part.about } };
  gap.value = picked;
  const said = { about: part.about, ...(part.row !== undefined && { event: { row: part.row } }) };
  try {
    const { prev, next, parts } = await ask<Details>("gap", { device: part.device, at: Math.round((part.start + part.end) / 2) });
    const named = Array.isArray(parts) ? (parts as Details[]).find((one) => numberOf(one["start_ns"]) === part.start) : undefined;
    if (gap.value === picked) gap.value = { ...picked, details: { ...said, ...(typeof named?.["activity"] === "string" && { host: [named["activity"], named["name"]].filter((word) => typeof word === "string").join(": ") }), prev_row: prev, next_row: next } };
  } catch {
    if (gap.value === picked) gap.value = { ...picked, details: said };
  }
}

/** The numbers of all tracks. */
export const allTracks = (): number[] => outline.value.groups.flatMap((group) => group.tracks).map((track) => Number(track.id));

/** Rows of a list of sums. */
const ROWS = 200;

/** Chooses a part of time on some tracks, all where none are named, and asks what is in it. */
export async function choosePart(wanted: Selection): Promise<void> {
  clear();
  const [from, to] = [Math.min(wanted.from, wanted.to), Math.max(wanted.from, wanted.to)];
  const picked: Selection = { ...wanted, from: Math.max(0, Math.round(from)), to: Math.round(to) };
  if (picked.tracks !== undefined && (picked.tracks.length === 0 || picked.tracks.length >= allTracks().length)) delete picked.tracks;
  range.value = picked;
  keepSelection(picked);
  try {
    const answer = await ask<SelectionAnswer>("selection", { ...queryOf(picked, allTracks()), rows: ROWS, lines: 1 });
    if (range.value !== picked) return;
    statistics.value = answer;
    const device = answer.sides.find((side) => side.side === "device");
    read(`${time(picked.to - picked.from)} chosen, ${count(answer.events)} events${device === undefined ? "" : `, devices busy ${time(device.busy_ns)}`}`);
  } catch (error) {
    if (range.value === picked) failed.value = reason(error).text;
  }
}

export async function find(text: string): Promise<void> {
  keep({ find: text });
  if (text === "") {
    hits.value = undefined;
    return;
  }
  try {
    const answer = await ask<SearchAnswer>("search", { q: text });
    hits.value = { text, count: answer.count, hits: answer.hits, at: -1 };
    read(answer.count === 0 ? `nothing is named like “${text}”` : `${count(answer.count)} events are named like “${text}”`);
  } catch (error) {
    say(reason(error).text);
  }
}

/** Goes to the next hit, or the one before; asks for more where the first ones are used up. */
export async function nextHit(by: 1 | -1): Promise<void> {
  const now = hits.value;
  if (now === undefined || now.count === 0) return;
  let { hits: list, at } = now;
  at += by;
  if (at >= list.length && list.length < now.count) {
    const after = list.at(-1);
    const more = await ask<SearchAnswer>("search", { q: now.text, after: after?.row }).catch(() => undefined);
    if (more !== undefined && more.hits.length > 0) list = [...list, ...more.hits];
  }
  hits.value = { ...now, hits: list };
  return goToHit((at + list.length) % list.length);
}

/** Goes to one of the hits that are here. */
export async function goToHit(at: number): Promise<void> {
  const now = hits.value;
  const hit = now?.hits[at];
  if (now === undefined || hit === undefined) return;
  hits.value = { ...now, at };
  const event = { start: hit.start_ns, end: hit.start_ns + hit.duration_ns, track: hit.track, name: hit.name };
  bringIntoView(event);
  void choose(hit.row, event);
}

/** Chooses an event that may be anywhere, and goes there. */
export async function goTo(row: number): Promise<void> {
  await choose(row);
  if (chosen.value?.row === row) bringIntoView(chosen.value);
}

/** Shows an event unless it is seen already. */
function bringIntoView({ start, end, track }: { start: number; end: number; track: TrackId }): void {
  unfold(track);
  const { from, to } = shown.value;
  const length = end - start;
  const isSeen = start >= from && end <= to && length / (to - from) > 0.004;
  if (!isSeen) lookAround(start - length * 4, start + length * 5);
}

/** Folds a group, or opens it. */
export function fold(key: string): void {
  const next = new Set(folded.value);
  if (!next.delete(key)) next.add(key);
  setFolded(next);
}

export const unfoldAll = () => setFolded(new Set());

function unfold(track: TrackId): void {
  const group = outline.value.groups.find((one) => one.tracks.some((other) => other.id === track));
  if (group !== undefined && folded.value.has(groupKey(group))) fold(groupKey(group));
}

/** In the address for no group folded, where an empty text would be no text. */
export const NONE_FOLDED = "none";

function setFolded(next: ReadonlySet<string>): void {
  folded.value = next;
  keep({ fold: next.size === 0 ? NONE_FOLDED : [...next].join(",") });
}

/** Lights events, and shows the part of time that they are in. */
export function light(title: string, total: number, events: readonly EventRef[]): void {
  lit.value = { title, count: total, events };
  if (events.length === 0) return;
  const from = Math.min(...events.map((event) => event[1]));
  const to = Math.max(...events.map((event) => event[1] + event[2]));
  for (const event of events.slice(0, 50)) unfold(event[3]);
  lookAround(from, to);
}

export function putOut(): void {
  lit.value = undefined;
  keep({ subject: undefined, title: undefined });
}

/** Arranges the tracks otherwise, and keeps that in the address. */
export function arrange(changes: Partial<Arrangement>): void {
  const next = { ...arrangement.value, ...changes };
  arrangement.value = next;
  keep({ only: next.only, pin: next.pinned.join(","), hide: rangesOf([...next.hidden].map(Number)) });
}

export const pinTrack = (track: TrackId) => arrange({ pinned: [...arrangement.value.pinned, track] });
export const unpinTrack = (track: TrackId) => arrange({ pinned: arrangement.value.pinned.filter((one) => one !== track) });
export const hideTrack = (track: TrackId) => arrange({ hidden: new Set([...arrangement.value.hidden, track]) });

/** Moves a pinned track one place up; the first goes to the end. */
export function raiseTrack(track: TrackId): void {
  const pinned = [...arrangement.value.pinned];
  const at = pinned.indexOf(track);
  if (at < 0) return;
  pinned.splice(at, 1);
  pinned.splice(at === 0 ? pinned.length : at - 1, 0, track);
  arrange({ pinned });
}

/** Sets a marker, moves its note, or takes it away; the address keeps all. */
export function mark(at: number, note: string | undefined): void {
  const others = markers.value.filter((one) => one.at !== at);
  setMarkers(note === undefined ? others : [...others, { at, note }]);
}

function setMarkers(next: readonly Marker[]): void {
  markers.value = [...next].sort((one, other) => one.at - other.at);
  keep({ marks: writtenMarkers(markers.value) });
}
