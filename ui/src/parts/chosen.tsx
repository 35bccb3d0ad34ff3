// What is chosen, above a view whose sums are of it, with the ways back.

import { useEffect, useState } from "preact/hooks";
import { keepSelection, link, selection } from "../address";
import { ask } from "../context";
import { plural, time, visible } from "../format";
import { queryOf, type Selection } from "../selection";
import type { Query } from "../source/source";
import type { SelectionAnswer, Timeline } from "../source/types";

/** Says that the sums below are of the selection; nothing where there is none. */
export function ChosenPart() {
  const now = selection();
  if (now === undefined) return null;
  return (
    <p class="chosen-part" role="note">
      <b>Only the selection</b>: {wordsOf(now)}{" "}
      <a class="chip" href={link("timeline")}>In the timeline</a>{" "}
      <button type="button" onClick={() => keepSelection(undefined)}>Whole capture</button>
    </p>
  );
}

export function wordsOf(of: Selection): string {
  return [
    `${time(of.to - of.from)} from ${time(of.from)}`,
    of.tracks === undefined ? undefined : plural(of.tracks.length, "track"),
    of.step === undefined ? undefined : `step ${of.step}`,
    of.where === undefined ? undefined : `only ${visible(of.where)}`,
  ].filter((part) => part !== undefined).join(", ");
}

/** The selection as the server takes it, once its tracks are known; `undefined` while they are asked for. */
export function useQuery(): Query | undefined {
  const now = selection();
  const [all, setAll] = useState<readonly number[] | undefined>(undefined);
  const isAsked = now !== undefined && now.tracks === undefined;
  useEffect(() => {
    if (isAsked) void tracksOfCapture().then(setAll, () => setAll([]));
  }, [isAsked]);
  if (now === undefined) return {};
  if (now.tracks === undefined && all === undefined) return undefined;
  return queryOf(now, all ?? []);
}

/** The numbers of all tracks of the capture. */
export async function tracksOfCapture(): Promise<number[]> {
  const { groups } = await ask<Timeline>("timeline");
  return groups.flatMap((group) => group.tracks).map((track) => Number(track.id));
}

/** Sums of a selection, `rows` of each list. */
export async function sumsOf(of: Selection, rows: number): Promise<SelectionAnswer> {
  return ask<SelectionAnswer>("selection", { ...queryOf(of, await tracksOfCapture()), rows, lines: 1 });
}
