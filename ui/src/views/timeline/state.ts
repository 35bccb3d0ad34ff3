// What the timeline shows, as signals; the address keeps what a reader would want to send to somebody.

import { batch, signal } from "@preact/signals";
import { keep } from "../../address";
import { ask, lit, read, reason, say } from "../../context";
import type { Details, EventRef, Hit, SearchAnswer, Selection, Timeline, Track } from "../../source/types";
import { count, short, time } from "../../format";
import { around, type Window, within } from "./window";

export interface Chosen { row: number; start: number; end: number; track: number | string; name: string }
export interface Gap { prev: number; next: number; start: number; end: number; track: number | string; cause?: string; details?: Details }
export interface Range { from: number; to: number }

export const shown = signal<Window>({ from: 0, to: 1 });
export const chosen = signal<Chosen | undefined>(undefined);
export const details = signal<Details | undefined>(undefined);
export const gap = signal<Gap | undefined>(undefined);
export const range = signal<Range | undefined>(undefined);
export const statistics = signal<Selection | undefined>(undefined);
export const failed = signal<string | undefined>(undefined);
export const hits = signal<{ text: string; count: number; hits: Hit[]; at: number } | undefined>(undefined);
/** Numbers of the categories that some tile here has. */
export const seen = signal<ReadonlySet<number>>(new Set());
export const folded = signal<ReadonlySet<string>>(new Set());

export function look(window: Window, span: number): void {
  const next = within(window, span);
  shown.value = next;
  keep({ from: Math.round(next.from), to: Math.round(next.to) });
}

export function clear(): void {
  batch(() => {
    chosen.value = undefined;
    details.value = undefined;
    gap.value = undefined;
    range.value = undefined;
    statistics.value = undefined;
    failed.value = undefined;
  });
  keep({ event: undefined, a: undefined, b: undefined });
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

/** A number that may come with its unit. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "object" && value !== null && "value" in value && typeof value.value === "number") return value.value;
  return undefined;
}

export function trackOf(found: Details): number | string | undefined {
  const track = found["track_id"] ?? found["track"];
  if (typeof track === "number" || typeof track === "string") return track;
  if (typeof track === "object" && track !== null && "id" in track) return track.id as number | string;
  return undefined;
}

export async function chooseGap(found: Gap): Promise<void> {
  clear();
  gap.value = found;
  try {
    const answer = await ask<Details>("gap", { prev: found.prev, next: found.next });
    gap.value = { ...found, cause: String(answer["cause"] ?? ""), details: answer };
    read(`idle ${time(found.end - found.start)}: ${String(answer["cause"] ?? "cause unknown")}`);
  } catch (error) {
    failed.value = reason(error).text;
  }
}

export async function chooseRange(from: number, to: number, tracks: readonly Track[]): Promise<void> {
  clear();
  const picked = { from: Math.max(0, Math.round(Math.min(from, to))), to: Math.round(Math.max(from, to)) };
  range.value = picked;
  keep({ a: picked.from, b: picked.to });
  try {
    const names = tracks.map((track) => track.id).join(",");
    const answer = await ask<Selection>("selection", { ...picked, tracks: names });
    if (range.value !== picked) return;
    statistics.value = answer;
    read(`${time(picked.to - picked.from)} chosen, ${count(answer.events)} events, busy ${time(answer.busy_ns)}`);
  } catch (error) {
    failed.value = reason(error).text;
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
export async function nextHit(by: 1 | -1, timeline: Timeline): Promise<void> {
  const now = hits.value;
  if (now === undefined || now.count === 0) return;
  let { hits: list, at } = now;
  at += by;
  if (at >= list.length && list.length < now.count) {
    const after = list.at(-1);
    const more = await ask<SearchAnswer>("search", { q: now.text, after: after?.row }).catch(() => undefined);
    if (more !== undefined && more.hits.length > 0) list = [...list, ...more.hits];
  }
  at = (at + list.length) % list.length;
  hits.value = { ...now, hits: list, at };
  const hit = list[at];
  if (hit !== undefined) show(hit, timeline);
}

/** Brings an event into view and chooses it. */
export function show(hit: Hit, timeline: Timeline): void {
  unfold(hit.track, timeline);
  const window = shown.value;
  const inside = hit.start_ns >= window.from && hit.start_ns + hit.duration_ns <= window.to;
  const wide = hit.duration_ns / (window.to - window.from) > 0.004;
  if (!inside || !wide) look(around(hit.start_ns - hit.duration_ns * 4, hit.start_ns + hit.duration_ns * 5, timeline.span_ns), timeline.span_ns);
  void choose(hit.row, { start: hit.start_ns, end: hit.start_ns + hit.duration_ns, track: hit.track, name: hit.name });
}

export function unfold(track: number | string, timeline: Timeline): void {
  const group = timeline.groups.find((one) => one.tracks.some((other) => other.id === track));
  if (group !== undefined && folded.value.has(`g${group.id}`)) {
    const open = new Set(folded.value);
    open.delete(`g${group.id}`);
    folded.value = open;
  }
}

/** Lights events, and shows the part of time that they are in. */
export function light(title: string, total: number, events: readonly EventRef[], timeline: Timeline): void {
  lit.value = { title, count: total, events };
  if (events.length === 0) return;
  const from = Math.min(...events.map((event) => event[1]));
  const to = Math.max(...events.map((event) => event[1] + event[2]));
  for (const event of events.slice(0, 50)) unfold(event[3], timeline);
  look(around(from, to, timeline.span_ns), timeline.span_ns);
}
