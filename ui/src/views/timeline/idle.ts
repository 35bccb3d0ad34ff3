// Why a device was idle, as a thin strip in the row of its group: each gap in the color of its cause.

import type { Query, Source } from "../../source/source";
import type { Group } from "../../source/types";
import { tileWidth } from "./tile";
import { levelFor } from "./tiles";
import type { Window } from "./window";

export interface IdlePart { device: number; start: number; end: number; cause: string; about: string; row?: number }

/** Start, duration, number of the cause, row of the event that explains it. */
type Part = [number, number, number, number | null];
interface Answer { causes: { name: string; about: string }[]; parts: Part[] }

const KEPT = 64;
const NOTHING: Answer = { causes: [], parts: [] };

export class Idle {
  private readonly held = new Map<string, Answer>();

  constructor(private readonly source: Source, private readonly changed: () => void) {}

  /** The idle parts of `group` in `window` that are at least about a pixel wide. */
  *parts(group: Group, window: Window, width: number): Generator<IdlePart> {
    if (group.kind !== "device" || typeof group.row !== "number") return;
    // A report holds one answer for each device: its longest parts.
    if (!this.source.live) return yield* partsOf(group.row, this.ask(String(group.row), { device: group.row }));
    const level = levelFor((window.to - window.from) / width) + 1;
    const wide = tileWidth(level);
    for (let index = Math.max(0, Math.floor(window.from / wide)); index <= Math.floor(window.to / wide); index += 1) {
      const from = index * wide;
      yield* partsOf(group.row, this.ask(`${group.row}/${level}/${from}`, { device: group.row, from, to: from + wide, least: 2 ** level }));
    }
  }

  private ask(key: string, query: Query): Answer {
    const known = this.held.get(key);
    if (known !== undefined) return known;
    this.held.set(key, NOTHING);
    for (const old of this.held.keys()) if (this.held.size > KEPT) this.held.delete(old);
    this.source
      .json<Answer>("idle", query)
      .then((answer) => {
        this.held.set(key, answer);
        this.changed();
      })
      .catch(() => undefined);
    return NOTHING;
  }
}

function* partsOf(device: number, { causes, parts }: Answer): Generator<IdlePart> {
  for (const [start, duration, cause, row] of parts) {
    const said = causes[cause];
    if (said !== undefined) yield { device, start, end: start + duration, cause: said.name, about: said.about, ...(row !== null && { row }) };
  }
}
