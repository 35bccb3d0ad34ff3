// What every view needs: the source, the capture, and whether the page is dark.

import { signal } from "@preact/signals";
import { NoAnswer, type Query, type Source } from "./source/source";
import type { Capture, EventRef } from "./source/types";

let kept: Source | undefined;

export function useSource(source: Source): void {
  kept = source;
}

export function source(): Source {
  if (kept === undefined) throw new Error("the source is not there yet");
  return kept;
}

export const capture = signal<Capture | undefined>(undefined);
export const dark = signal(false);

/** What assistive technology says; shown for a moment at the foot of the page unless it is seen elsewhere. */
export const said = signal<{ text: string; shown: boolean }>({ text: "", shown: false });

let quiet: number | undefined;

function put(text: string, shown: boolean): void {
  said.value = { text, shown };
  window.clearTimeout(quiet);
  quiet = window.setTimeout(() => (said.value = { text: "", shown: false }), 6000);
}

export const say = (text: string) => put(text, true);

/** Says what the page shows already. */
export const read = (text: string) => put(text, false);

export const ask = <T>(path: string, query?: Query) => source().json<T>(path, query);

export function reason(error: unknown): { text: string; hint?: string } {
  if (error instanceof NoAnswer) return error.hint === undefined ? { text: error.message } : { text: error.message, hint: error.hint };
  return { text: error instanceof Error ? error.message : String(error) };
}

/** Events that the timeline lights, and whose they are. */
interface Lit { title: string; count: number; events: readonly EventRef[] }

export const lit = signal<Lit | undefined>(undefined);
