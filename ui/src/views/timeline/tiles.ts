// Tiles that were fetched, and fetching of those that a picture lacks; meanwhile a coarser one stands in.

import { decode, split, tileWidth, type Tile } from "./tile";
import type { Source } from "../../source/source";
import type { Track } from "../../source/types";
import type { Spans } from "../../draw/painter";

const KEPT = 900;
const AT_ONCE = 32;
const CALLS = 4;

export interface Piece {
  tile: Tile;
  /** The part of time that it stands for here. */
  from: number;
  to: number;
  /** True where a coarser tile stands in for one that is not here yet. */
  standIn: boolean;
}

type Held = Tile | "asked" | "none";

export class Tiles {
  private readonly held = new Map<string, Held>();
  private wanted: string[] = [];
  private calls = 0;
  private planned = false;

  constructor(
    private readonly source: Source,
    private readonly colorOf: (category: number) => number,
    private readonly changed: () => void,
    private readonly dropped: (spans: Spans) => void,
    private readonly came: (categories: Uint8Array) => void = () => undefined,
  ) {}

  /** What to draw of `track` from `from` to `to` at `level`, and asks for what is missing. */
  pieces(track: Track, wantedLevel: number, from: number, to: number): Piece[] {
    const level = Math.min(track.levels[1], Math.max(track.levels[0], wantedLevel));
    const width = tileWidth(level);
    const pieces: Piece[] = [];
    const last = Math.floor(to / width);
    for (let index = Math.max(0, Math.floor(from / width)); index <= last; index += 1) {
      const found = this.best(track, level, index);
      if (found === undefined) continue;
      const piece = { tile: found, from: index * width, to: (index + 1) * width, standIn: this.held.get(key(track.id, level, index)) !== found };
      pieces.push(piece);
    }
    return pieces;
  }

  private best(track: Track, level: number, index: number): Tile | undefined {
    let asked = false;
    for (let coarser = level; coarser <= track.levels[1]; coarser += 1) {
      const at = Math.floor(index / 2 ** (coarser - level));
      const known = this.touch(key(track.id, coarser, at));
      if (typeof known === "object") return known;
      // A level that is not in a report is looked for one level up.
      if (known === undefined && !asked) {
        this.ask(key(track.id, coarser, at));
        asked = true;
      }
      asked ||= known === "asked";
    }
    return undefined;
  }

  private touch(name: string): Held | undefined {
    const known = this.held.get(name);
    if (known !== undefined) {
      this.held.delete(name);
      this.held.set(name, known);
    }
    return known;
  }

  private ask(name: string): void {
    this.held.set(name, "asked");
    this.wanted.push(name);
    if (!this.planned) {
      this.planned = true;
      queueMicrotask(() => {
        this.planned = false;
        this.fetch();
      });
    }
  }

  private fetch(): void {
    while (this.wanted.length > 0 && this.calls < CALLS) {
      // What was asked for last is what is looked at now.
      const names = this.wanted.splice(-AT_ONCE);
      this.calls += 1;
      void this.load(names).finally(() => {
        this.calls -= 1;
        this.fetch();
        this.changed();
      });
    }
  }

  private async load(names: string[]): Promise<void> {
    try {
      if (this.source.live) {
        const parts = split(await this.source.bytes("tiles", { want: names.join(",") }));
        names.forEach((name, at) => this.take(name, parts[at] ?? null));
      } else {
        await Promise.all(names.map(async (name) => this.take(name, await this.source.bytes(`tile/${name}`).catch(() => null))));
      }
    } catch {
      for (const name of names) this.held.set(name, "none");
    }
    this.trim();
  }

  private take(name: string, bytes: ArrayBuffer | null): void {
    const level = Number(name.split("/").at(-2));
    const tile = bytes === null ? "none" : decode(bytes, level, this.colorOf);
    if (tile !== "none") this.came(tile.category);
    this.held.set(name, tile);
  }

  private trim(): void {
    for (const [name, held] of this.held) {
      if (this.held.size <= KEPT) return;
      if (held === "asked") continue;
      if (typeof held === "object") this.dropped(held.spans);
      this.held.delete(name);
    }
  }
}

const key = (track: number | string, level: number, index: number) => `${track}/${level}/${index}`;

/** The level whose columns are at most one pixel wide. */
export function levelFor(nanosPerPixel: number): number {
  return Math.max(0, Math.floor(Math.log2(Math.max(1, nanosPerPixel))));
}
