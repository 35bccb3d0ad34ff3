// The timeline by keyboard alone: zoom, pan, and from event to event.

import { say } from "../../context";
import type { Track } from "../../source/types";
import { groupKey } from "./layout";
import { pick } from "./pointer";
import type { Stage } from "./stage";
import { choosePart, chosen, clear, folded, lookAround, lookAtAll, mark, nextHit, outline, pan, putOut, shown, zoom } from "./state";

const ZOOM = 0.7;
const PAN = 0.15;
const [LINE, PAGE] = [40, 400];

export function keys(event: KeyboardEvent, stage: Stage | undefined, scroll: (by: number) => void): void {
  if (stage === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const now = chosen.value;
  const window = shown.value;
  const middle = now === undefined ? (window.from + window.to) / 2 : Math.min(window.to, Math.max(window.from, now.start));
  const [closer, wider] = [() => zoom(ZOOM, middle), () => zoom(1 / ZOOM, middle)];
  const acts: Record<string, () => void> = {
    w: closer, "+": closer, s: wider, "-": wider, a: () => pan(-PAN), d: () => pan(PAN), "0": lookAtAll, Home: lookAtAll,
    f: () => now !== undefined && lookAround(now.start, now.end),
    m: () => now !== undefined && void choosePart({ from: now.start, to: now.end }),
    b: () => mark(Math.round(now?.start ?? middle), ""),
    n: () => void nextHit(1),
    N: () => void nextHit(-1),
    Escape: () => { clear(); putOut(); },
    ArrowLeft: () => alongTrack(stage, -1),
    ArrowRight: () => alongTrack(stage, 1),
    ArrowUp: () => (now === undefined ? scroll(-LINE) : toOtherTrack(stage, -1)),
    ArrowDown: () => (now === undefined ? scroll(LINE) : toOtherTrack(stage, 1)),
    PageUp: () => scroll(-PAGE),
    PageDown: () => scroll(PAGE),
    Enter: () => now === undefined && alongTrack(stage, 1),
    "/": () => document.getElementById("tl-find")?.focus(),
  };
  const act = acts[event.key] ?? acts[event.key.toLowerCase()];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

const openTracks = (): Track[] => outline.value.groups.filter((group) => !folded.value.has(groupKey(group))).flatMap((group) => group.tracks);

/** To the next event on the track of the chosen one, or to the first that is shown. */
function alongTrack(stage: Stage, by: 1 | -1): void {
  const now = chosen.value;
  const tracks = openTracks();
  const own = tracks.find((one) => one.id === now?.track);
  const first = (track: Track) => ({ track, found: stage.neighbor(track, shown.value.from - 1, 1) });
  const next = now !== undefined && own !== undefined ? { track: own, found: stage.neighbor(own, now.start, by) } : tracks.map(first).find(({ found }) => found !== undefined);
  if (next?.found === undefined) {
    if (now === undefined) say("Zoom in until single events are drawn.");
    pan(by * PAN);
    return;
  }
  pick(next.found.tile, next.found.span, next.track.id);
  const start = next.found.tile.events?.start[next.found.span] ?? 0;
  if (start < shown.value.from || start > shown.value.to) pan(by * 0.5);
}

/** To the track above or below, to what runs there at the same time or next. */
function toOtherTrack(stage: Stage, by: 1 | -1): void {
  const now = chosen.value;
  if (now === undefined) return;
  const tracks = openTracks();
  for (let at = tracks.findIndex((one) => one.id === now.track) + by; at >= 0 && at < tracks.length; at += by) {
    const track = tracks[at] as Track;
    const found = stage.neighbor(track, now.start - 1, 1) ?? stage.neighbor(track, now.start, -1);
    if (found !== undefined) return pick(found.tile, found.span, track.id);
  }
}
