// Reads what the server says of an event: numbers that may come with their unit, tracks, and the launch it belongs to.

import type { Details } from "../../source/types";
import type { End } from "./marks";
import type { TrackId } from "./sheet";

/** A number that may come with its unit. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "object" && value !== null && "value" in value && typeof value.value === "number") return value.value;
  return undefined;
}

export function trackOf(found: Details): TrackId | undefined {
  const track = found["track_id"] ?? found["track"];
  if (typeof track === "number" || typeof track === "string") return track;
  if (typeof track === "object" && track !== null && "id" in track) return track.id as TrackId;
  return undefined;
}

/** Arrows from the launch to the event, or from it to what it launched. */
export function flowsOf(found: Details | undefined, event: { start: number; track: TrackId } | undefined): { from: End; to: End }[] {
  if (found === undefined || event === undefined) return [];
  const here = { at: event.start, track: event.track };
  const launched = found["launched"] as { events?: unknown[] } | undefined;
  const ends = (Array.isArray(launched?.events) ? launched.events : []).map(endOf).filter((end) => end !== undefined);
  const launch = endOf(found["launch"]);
  return [...(launch === undefined ? [] : [{ from: launch, to: here }]), ...ends.map((to) => ({ from: here, to }))];
}

function endOf(value: unknown): End | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found = value as Details;
  const [at, track] = [numberOf(found["start_ns"]), trackOf(found)];
  return at === undefined || track === undefined ? undefined : { at, track };
}
