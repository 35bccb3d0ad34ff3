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

/** Said aloud by assistive technology, and shown for a moment at the foot of the page. */
export const said = signal("");

let quiet: number | undefined;

export function say(text: string): void {
  said.value = text;
  window.clearTimeout(quiet);
  quiet = window.setTimeout(() => (said.value = ""), 6000);
}

export const ask = <T>(path: string, query?: Query) => source().json<T>(path, query);

export function reason(error: unknown): { text: string; hint?: string } {
  if (error instanceof NoAnswer) return error.hint === undefined ? { text: error.message } : { text: error.message, hint: error.hint };
  return { text: error instanceof Error ? error.message : String(error) };
}

/** Events that the timeline lights, and whose they are. */
export interface Lit { title: string; count: number; events: readonly EventRef[] }

export const lit = signal<Lit | undefined>(undefined);
