// Where the page is, kept in the address after `#/`: the view, and its state as parameters.

import { signal } from "@preact/signals";
import { rangesOf, type Selection, selectionIn } from "./selection";

export interface Place { view: string; params: URLSearchParams }

export const place = signal<Place>(read(location.hash));

function read(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path === "" || path.includes("=") ? "overview" : path, params: new URLSearchParams(query) };
}

/** Parameters of what is chosen: they go along to every view. */
const CARRIED = ["a", "b", "tracks", "step", "where"];

/** The address of a view, for links. */
export function link(to: string, params: Record<string, string | number | undefined> = {}): string {
  const kept = new URLSearchParams();
  for (const name of CARRIED) {
    const value = place.value.params.get(name);
    if (value !== null && !(name in params)) kept.set(name, value);
  }
  for (const [name, value] of Object.entries(params)) if (value !== undefined && value !== "") kept.set(name, String(value));
  return addressOf(to, kept);
}

function addressOf(to: string, params: URLSearchParams): string {
  const query = params.toString();
  return `#/${to}${query === "" ? "" : `?${query}`}`;
}

export function go(to: string, params: Record<string, string | number | undefined> = {}): void {
  location.hash = link(to, params);
}

/** How often somebody went somewhere: a view begins anew with each. */
export const arrivals = signal(0);

let waiting: number | undefined;
/** The address as it was last read or written: another one means that somebody goes elsewhere, of which the browser tells later. */
let known = location.hash;

/** Changes parameters of the view that is shown, without a new entry in the history; `undefined` removes one. */
export function keep(changes: Record<string, string | number | undefined>): void {
  const params = new URLSearchParams(place.value.params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") params.delete(name);
    else params.set(name, String(value));
  }
  place.value = { view: place.value.view, params };
  // Browsers refuse more than about 200 changes of the address in half a minute.
  waiting ??= window.setTimeout(write, 250);
}

/** What is chosen; a component that reads it follows it. */
export const selection = (): Selection | undefined => selectionIn(place.value.params);

/** Keeps a selection in the address; `undefined` removes it. */
export function keepSelection(next: Selection | undefined): void {
  keep({ a: next?.from, b: next?.to, tracks: next?.tracks === undefined ? undefined : rangesOf(next.tracks), step: next?.step, where: next?.where });
}

/** The address of what is shown, behind the page's own. */
export const currentPlace = () => addressOf(place.value.view, place.value.params);

function write(): void {
  waiting = undefined;
  if (location.hash !== known) return;
  replace(addressOf(place.value.view, place.value.params));
}

function replace(address: string): void {
  history.replaceState(null, "", address);
  known = location.hash;
}

window.addEventListener("hashchange", () => {
  window.clearTimeout(waiting);
  waiting = undefined;
  known = location.hash;
  place.value = read(known);
  arrivals.value += 1;
});

/** Takes the token out of the address, so that it is in no history and no screenshot. */
export function takeToken(): string {
  const found = /[#&?]token=([^&]+)/.exec(location.hash);
  if (found?.[1] !== undefined) {
    remember("ridgeline-token", found[1]);
    const rest = location.hash.replace(/[&?]?token=[^&]+/, "").replace(/^#?&?/, "#");
    replace(rest === "#" ? location.pathname : rest);
    place.value = read(rest);
  }
  return recall("ridgeline-token") ?? "";
}

/** Goes to where a report opens, unless its address names a place. */
export function openAt(where: string): void {
  if (where === "" || location.hash.length > 2) return;
  replace(`#/${where}`);
  place.value = read(location.hash);
}

/** Moves the address to the path at which the browser's cookie counts. */
export function moveTo(path: string): void {
  replace(`${path}${location.hash}`);
}

export function remember(name: string, value: string): void {
  try {
    sessionStorage.setItem(name, value);
  } catch { /* A page from disk may have no storage. */ }
}

export function recall(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}
