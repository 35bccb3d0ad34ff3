// Rows of a table, fetched block by block as they come into view; in a report sorted and filtered here, from all there is.

import type { Source } from "../source/source";
import type { Cell, Subject, TableAnswer } from "../source/types";

const BLOCK = 200;

interface Wish { sort: string | undefined; descending: boolean; filter: string }

export class Rows {
  head: TableAnswer | undefined;
  private readonly blocks = new Map<number, TableAnswer | "asked">();
  private ordered: { rows: Cell[][]; subjects: (Subject | null)[] } | undefined;

  constructor(private readonly source: Source, readonly path: string, readonly wish: Wish, private readonly changed: (error?: unknown) => void) {
    void this.load(0);
  }

  get total(): number {
    return this.ordered?.rows.length ?? this.head?.total ?? 0;
  }

  row(at: number): { cells: Cell[]; subject: Subject | null } | undefined {
    if (this.ordered !== undefined) {
      const cells = this.ordered.rows[at];
      return cells === undefined ? undefined : { cells, subject: this.ordered.subjects[at] ?? null };
    }
    const block = Math.floor(at / BLOCK);
    const held = this.blocks.get(block);
    if (held === undefined) void this.load(block);
    if (held === undefined || held === "asked") return undefined;
    const cells = held.rows[at - block * BLOCK];
    return cells === undefined ? undefined : { cells, subject: held.subjects?.[at - block * BLOCK] ?? null };
  }

  /** All rows in this order, for copying. */
  async all(): Promise<Cell[][]> {
    if (this.ordered !== undefined) return this.ordered.rows;
    const rows: Cell[][] = [];
    while (rows.length < this.total) {
      const part = await this.source.json<TableAnswer>(this.path, { ...this.query(), offset: rows.length, limit: 5000 });
      if (part.rows.length === 0) break;
      rows.push(...part.rows);
    }
    return rows;
  }

  private query() {
    const { sort, descending, filter } = this.wish;
    return { sort, desc: sort !== undefined && descending ? 1 : undefined, filter };
  }

  private async load(block: number): Promise<void> {
    this.blocks.set(block, "asked");
    try {
      const live = this.source.live;
      const answer = await this.source.json<TableAnswer>(this.path, live ? { ...this.query(), offset: block * BLOCK, limit: BLOCK } : {});
      this.head ??= answer;
      if (live) this.blocks.set(block, answer);
      else this.ordered = arranged(answer, this.wish);
      this.changed();
    } catch (error) {
      this.changed(error);
    }
  }
}

/** What a server would do: rows with the text in any cell, by one column; unknown values last. */
export function arranged(answer: TableAnswer, wish: Wish): { rows: Cell[][]; subjects: (Subject | null)[] } {
  const needle = wish.filter.toLowerCase();
  const column = answer.columns.findIndex((one) => one.id === wish.sort);
  const order = answer.rows
    .map((_, at) => at)
    .filter((at) => needle === "" || (answer.rows[at] ?? []).some((cell) => typeof cell === "string" && cell.toLowerCase().includes(needle)));
  if (column >= 0) {
    const turn = wish.descending ? -1 : 1;
    order.sort((one, other) => {
      const [a, b] = [answer.rows[one]?.[column] ?? null, answer.rows[other]?.[column] ?? null];
      if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
      return turn * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    });
  }
  return { rows: order.map((at) => answer.rows[at] as Cell[]), subjects: order.map((at) => answer.subjects?.[at] ?? null) };
}
