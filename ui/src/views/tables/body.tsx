// The rows of a table: only those in view are in the page, however many there are; the keyboard goes through all.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go } from "../../address";
import { say } from "../../context";
import { show, visible } from "../../format";
import { Meter } from "../../parts/bar";
import { about } from "../../parts/facts";
import { useRowsInView } from "../../parts/in-view";
import type { Rows } from "../../parts/rows";
import type { Cell, Column, Subject } from "../../source/types";

const ROW = 26;
const SPARE = 12;
/** Rows that the table's head and a bar to scroll hide. */
const HIDDEN = 2;

export interface Sorted { id: string; descending: boolean }
/** A column, and where it is in a row. */
export interface Placed { column: Column; at: number }

export function Body(props: { rows: Rows; columns: Placed[]; title: string; sort: Sorted | undefined; turn: (column: Column) => void }) {
  const { rows, columns } = props;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const { first, last, height } = useRowsInView(box, rows.total, ROW, SPARE);
  useEffect(() => {
    setActive(0);
    if (box.current !== null) box.current.scrollTop = 0;
  }, [rows]);
  const hasLinks = rows.head?.subjects?.some(hasEvents) ?? false;
  const reach = useMemo(() => greatest(rows), [rows.head]);

  const to = (at: number) => {
    const on = box.current;
    const next = Math.max(0, Math.min(rows.total - 1, at));
    setActive(next);
    if (on === null) return;
    const [top, bottom] = [next * ROW, (next + 1 + HIDDEN) * ROW];
    if (top < on.scrollTop) on.scrollTop = top;
    if (bottom > on.scrollTop + on.clientHeight) on.scrollTop = bottom - on.clientHeight;
    // The row is in the page only after it was scrolled to and drawn.
    requestAnimationFrame(() => requestAnimationFrame(() => on.querySelector<HTMLElement>(`tr[data-row="${next}"]`)?.focus({ preventScroll: true })));
  };
  const keys = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLTableRowElement)) return;
    const page = Math.max(1, Math.floor(height / ROW) - HIDDEN);
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.total - 1 };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      to(next);
    }
    if (event.key === "Enter") light(rows.row(active)?.subject);
  };
  return (
    <div class="scroller" ref={box} onKeyDown={keys}>
      <table aria-rowcount={rows.total + 1} aria-label={props.title}>
        <Head columns={columns} sort={props.sort} turn={props.turn} hasLinks={hasLinks} />
        <tbody>
          <Unseen rows={first} columns={columns.length} />
          {Array.from({ length: Math.max(0, last - first) }, (_, n) => first + n).map((at) => {
            const row = rows.row(at);
            return (
              <tr key={at} data-row={at} tabIndex={at === active ? 0 : -1} aria-rowindex={at + 2} onFocus={(event) => event.target === event.currentTarget && setActive(at)}>
                {columns.map(({ column, at: place }) => <CellShown key={column.id} value={row?.cells[place]} column={column} most={reach.get(place)} />)}
                {hasLinks && <td class="go">{hasEvents(row?.subject) && <button type="button" tabIndex={at === active ? 0 : -1} onClick={() => light(row?.subject)} aria-label={`Show ${visible(row?.subject?.text ?? "it")} in the timeline`}>⇥</button>}</td>}
              </tr>
            );
          })}
          <Unseen rows={rows.total - last} columns={columns.length} />
        </tbody>
      </table>
      {rows.total === 0 && <p class="quiet empty">{rows.wish.filter === "" ? "No rows in this capture." : "No matching rows."}</p>}
    </div>
  );
}

function Head(props: { columns: Placed[]; sort: Sorted | undefined; turn: (column: Column) => void; hasLinks: boolean }) {
  const { sort } = props;
  return (
    <thead>
      <tr aria-rowindex={1}>
        {props.columns.map(({ column }) => (
          <th key={column.id} scope="col" class={isNumber(column) ? "n" : "t"} aria-sort={sort?.id !== column.id ? "none" : sort.descending ? "descending" : "ascending"}>
            <button type="button" data-about={about(column.about, column.basis)} onClick={() => props.turn(column)}>
              {column.title}<span aria-hidden="true">{sort?.id !== column.id ? "" : sort.descending ? " ▾" : " ▴"}</span>
            </button>
          </th>
        ))}
        {props.hasLinks && <th scope="col"><span class="sr">Timeline</span></th>}
      </tr>
    </thead>
  );
}

/** Room for rows that are not in the page. */
function Unseen({ rows, columns }: { rows: number; columns: number }) {
  return rows <= 0 ? null : <tr aria-hidden="true" style={{ height: `${rows * ROW}px` }}><td colSpan={columns} /></tr>;
}

function CellShown(props: { value: Cell | undefined; column: Column; most: number | undefined }) {
  const { value, column } = props;
  if (value === undefined) return <td class="quiet">…</td>;
  const number = isNumber(column);
  // Copies and the like have no arithmetic, which is no rate of zero.
  const hasNone = value === 0 && (column.unit === "flop/s" || column.unit === "flop/byte") && column.basis === "counted";
  const text = hasNone ? "–" : show(value, column.unit);
  const bar = column.unit === "share" && typeof value === "number" && column.id.includes("share");
  return <td class={number ? "n" : "t"} title={number ? undefined : text}>{bar && <Meter share={value / Math.max(1e-12, props.most ?? 1)} />}{text}</td>;
}

const NUMBERS = ["ns", "bytes", "share", "count", "number", "flop", "flop/s", "ops/s", "bytes/s", "flop/byte", "ratio"];
export const isNumber = (column: Column) => NUMBERS.includes(column.unit) || (column.type !== undefined && column.type !== "text" && column.unit !== "text" && column.unit !== "flag");

function greatest(rows: Rows): Map<number, number> {
  const most = new Map<number, number>();
  for (const row of rows.head?.rows ?? []) row.forEach((cell, at) => typeof cell === "number" && most.set(at, Math.max(most.get(at) ?? 0, cell)));
  return most;
}

const hasEvents = (subject: Subject | null | undefined): subject is Subject & { id: string } => typeof subject?.id === "string";

function light(subject: Subject | null | undefined): void {
  if (!hasEvents(subject)) return say("This row has no events of its own.");
  go("timeline", { subject: subject.id, title: subject.text ?? subject.kind });
}
