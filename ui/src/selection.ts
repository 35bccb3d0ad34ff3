// What is chosen: a part of time, tracks, a step, a filter. One object, kept in the address; every view that sums takes it.

import type { Query } from "./source/source";

export interface Selection {
  /** Nanoseconds from the capture's start. */
  from: number;
  to: number;
  /** Numbers of tracks; all where there are none. */
  tracks?: readonly number[];
  /** Number of a step: what it caused. */
  step?: number;
  /** Terms that an event must meet, as `dur>1ms name~flash`. */
  where?: string;
}

/** The selection that an address has. */
export function selectionIn(params: URLSearchParams): Selection | undefined {
  const number = (name: string) => (params.get(name) === null || params.get(name) === "" ? undefined : Number(params.get(name)));
  const [from, to, step] = [number("a"), number("b"), number("step")];
  if (from === undefined || to === undefined || !(to >= from)) return undefined;
  const tracks = numbersIn(params.get("tracks") ?? "");
  const where = params.get("where") ?? "";
  return { from, to, ...(tracks.length > 0 && { tracks }), ...(step !== undefined && Number.isInteger(step) && { step }), ...(where !== "" && { where }) };
}

/** As the server takes it; `all` are the tracks meant where none are named. */
export function queryOf(of: Selection, all: readonly number[]): Query {
  return { from: of.from, to: of.to, tracks: rangesOf(of.tracks ?? all), step: of.step, where: of.where };
}

/** `1,4-7` of numbers. */
export function rangesOf(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((one, other) => one - other);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let last = at;
    while (last + 1 < sorted.length && sorted[last + 1] === (sorted[last] as number) + 1) last += 1;
    parts.push(last === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[last]}`);
    at = last + 1;
  }
  return parts.join(",");
}

const MOST_TRACKS = 100_000;

/** Numbers of `1,4-7`; what is no number is passed over. */
export function numbersIn(text: string): number[] {
  const found: number[] = [];
  for (const part of text.split(",")) {
    const [, first, last] = (/^(\d+)(?:-(\d+))?$/.exec(part) ?? []).map(Number);
    if (first === undefined) continue;
    const end = last === undefined || Number.isNaN(last) ? first : Math.min(last, first + MOST_TRACKS);
    for (let at = first; at <= end && found.length < MOST_TRACKS; at += 1) found.push(at);
  }
  return found;
}
