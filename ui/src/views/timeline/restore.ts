// Takes from the address what somebody looked at: the part of time, what is chosen, searched for, lit.

import { place } from "../../address";
import { ask, lit, reason, say } from "../../context";
import { time } from "../../format";
import type { Details, EventRef, Timeline } from "../../source/types";
import { numbersIn, selectionIn } from "../../selection";
import { numberOf, trackOf } from "./details";
import { foldedAtFirst } from "./layout";
import { readMarkers } from "./markers";
import { namesWidth } from "./names";
import type { TrackId } from "./sheet";
import { arrangement, choose, chooseGap, choosePart, chosen, clear, find, folded, hits, light, lookAround, markers, NONE_FOLDED, outline, seen, shown } from "./state";
import { around, type Window, within } from "./window";

/** Once for a capture, and again whenever somebody comes to the view by a link. */
export function restore(timeline: Timeline): void {
  const params = place.peek().params;
  const span = timeline.span_ns;
  const number = (name: string) => (params.has(name) ? Number(params.get(name)) : undefined);
  const [from, to] = [number("from"), number("to")];
  const isPlaced = from !== undefined && to !== undefined && to > from;
  const [row, picked] = [number("event"), selectionIn(params)];
  const [subject, text, fold, gap] = [params.get("subject"), params.get("find"), params.get("fold"), params.get("gap")];
  outline.value = timeline;
  namesWidth.value = number("names");
  const idOf = (at: number): TrackId => timeline.groups.flatMap((group) => group.tracks).find((track) => Number(track.id) === at)?.id ?? at;
  arrangement.value = { only: params.get("only") ?? "", pinned: (params.get("pin") ?? "").split(",").filter((part) => part !== "").map((part) => idOf(Number(part))), hidden: new Set(numbersIn(params.get("hide") ?? "").map(idOf)) };
  markers.value = readMarkers(params.get("marks") ?? "");
  clear();
  lit.value = undefined;
  hits.value = undefined;
  seen.value = new Set();
  folded.value = fold === null ? foldedAtFirst(timeline) : new Set(fold === NONE_FOLDED ? [] : fold.split(","));
  const isChosen = [picked, row, subject, gap].some((one) => one !== undefined && one !== null);
  shown.value = isPlaced ? within({ from, to }, span) : isChosen ? within({ from: 0, to: span }, span) : firstLook(timeline);
  if (picked !== undefined) void choosePart(picked);
  if (row !== undefined) void choose(row).then(() => {
    const event = chosen.value;
    if (event !== undefined && !isPlaced) lookAround(event.start, event.end);
  });
  if (gap !== null) void restoreGap(gap);
  if (text !== null && text !== "") void find(text);
  if (subject !== null) void lightSubject(subject, params.get("title"));
}

/** Where devices worked for a small part of the time, that is looked at first: on the whole it would not be seen. */
const SMALL = 1 / 8;

/** What is shown first: the whole, else where devices worked. */
function firstLook({ span_ns: span, work }: Timeline): Window {
  const [start, end] = work ?? [0, span];
  if (end - start >= span * SMALL) return within({ from: 0, to: span }, span);
  say(`Shown is where devices worked, ${time(end - start)} of ${time(span)}; “All” shows the rest.`);
  return around(start, end, span);
}

/** A gap is kept as the rows of the events at its ends. */
async function restoreGap(between: string): Promise<void> {
  const [prev, next] = between.split("-").map(Number);
  if (prev === undefined || next === undefined) return;
  try {
    const [before, after] = await Promise.all([prev, next].map((row) => ask<Details>(`event/${row}`)));
    const start = (numberOf(before?.["start_ns"]) ?? 0) + (numberOf(before?.["duration_ns"]) ?? 0);
    void chooseGap({ prev, next, start, end: numberOf(after?.["start_ns"]) ?? start, track: trackOf(before ?? {}) ?? "" });
  } catch (error) {
    say(reason(error).text);
  }
}

async function lightSubject(subject: string, title: string | null): Promise<void> {
  try {
    const { count, events } = await ask<{ count: number; events: EventRef[] }>("events", { subject });
    light(title ?? subject.slice(subject.indexOf(":") + 1), count, events);
  } catch (error) {
    say(reason(error).text);
  }
}
