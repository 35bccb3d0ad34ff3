// One table: only the rows in view are in the page, however many there are.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go, keep, place } from "../../address";
import { reason, say, source } from "../../context";
import { count, plural, show, visible } from "../../format";
import { Awaited, Missing } from "../../parts/answer";
import { about, Facts } from "../../parts/facts";
import { Meter } from "../../parts/bar";
import { Rows } from "../../parts/rows";
import { copy, csvOf, save } from "../../parts/save";
import type { Cell, Column, Fact, Note, Section, Subject } from "../../source/types";

const ROW = 26;
const SPARE = 12;

export function Grid(props: { topic: string; view: string; about: string }) {
  const params = place.peek().params;
  const [sort, setSort] = useState<{ id: string; descending: boolean } | undefined>(params.has("sort") ? { id: params.get("sort") ?? "", descending: params.get("desc") === "1" } : undefined);
  const [filter, setFilter] = useState(params.get("filter") ?? "");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set((params.get("hidden") ?? "").split(",").filter((id) => id !== "")));
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<unknown>(undefined);
  const rows = useMemo(() => {
    setProblem(undefined);
    const wish = { sort: sort?.id, descending: sort?.descending ?? false, filter };
    return new Rows(source(), `table/${encodeURIComponent(props.topic)}/${encodeURIComponent(props.view)}`, wish, (error) => {
      if (error !== undefined) setProblem(error);
      redraw((n) => n + 1);
    });
  }, [props.topic, props.view, sort, filter]);
  useEffect(() => keep({ sort: sort?.id, desc: sort?.descending === true ? 1 : undefined, filter, hidden: [...hidden].join(",") }), [sort, filter, hidden]);

  const before = useRef<Rows | undefined>(undefined);
  if (rows.head !== undefined) before.current = rows;
  const shown = rows.head === undefined ? before.current : rows;
  if (problem !== undefined) return <Missing {...reason(problem)} />;
  if (shown?.head === undefined) return <Awaited />;
  const head = shown.head;
  const columns = head.columns.map((column, at) => ({ column, at })).filter(({ column }) => !hidden.has(column.id));
  const turn = (column: Column) => setSort((now) => (now?.id !== column.id ? { id: column.id, descending: isNumber(column) } : now.descending === isNumber(column) ? { id: column.id, descending: !isNumber(column) } : undefined));
  const csv = async () => {
    const all = await shown.all();
    return csvOf([columns.map(({ column }) => column.id), ...all.map((row) => columns.map(({ at }) => row[at] ?? null))]);
  };
  return (
    <section class="grid" aria-label={head.title}>
      <p class="quiet about-table">{props.about === "" ? head.title : props.about}</p>
      <Notes notes={head.notes ?? []} facts={head.facts ?? []} />
      <div class="tools">
        <input type="search" placeholder="Filter" aria-label="Filter rows" defaultValue={filter} onInput={late((text) => setFilter(text))} />
        <span class="quiet nowrap">{plural(shown.total, "row")}</span>
        <span class="push" />
        <Columns columns={head.columns} hidden={hidden} set={setHidden} />
        <button type="button" onClick={() => void csv().then((text) => copy(text, `${props.view}.csv`))}>Copy as CSV</button>
        <button type="button" onClick={() => void csv().then((text) => save(`${props.view}.csv`, text, "text/csv"))}>Save CSV</button>
      </div>
      <Body rows={shown} columns={columns} title={head.title} sort={sort} turn={turn} />
    </section>
  );
}

interface Placed { column: Column; at: number }

function Body(props: { rows: Rows; columns: Placed[]; title: string; sort: { id: string; descending: boolean } | undefined; turn: (column: Column) => void }) {
  const { rows, columns } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(0);
  useEffect(() => {
    const on = box.current;
    if (on === null) return;
    const see = () => setView({ top: on.scrollTop, height: on.clientHeight });
    const watch = new ResizeObserver(see);
    watch.observe(on);
    on.addEventListener("scroll", see, { passive: true });
    return () => {
      watch.disconnect();
      on.removeEventListener("scroll", see);
    };
  }, []);
  useEffect(() => {
    setActive(0);
    if (box.current !== null) box.current.scrollTop = 0;
  }, [rows]);
  const first = Math.max(0, Math.floor(view.top / ROW) - SPARE);
  const last = Math.min(rows.total, Math.ceil((view.top + view.height) / ROW) + SPARE);
  const hasLinks = rows.head?.subjects?.some((subject) => subject !== null) ?? false;
  const reach = useMemo(() => greatest(rows), [rows.head]);

  const to = (at: number) => {
    const on = box.current;
    const next = Math.max(0, Math.min(rows.total - 1, at));
    setActive(next);
    if (on === null) return;
    const top = next * ROW;
    if (top < on.scrollTop) on.scrollTop = top;
    if (top + ROW * 3 > on.scrollTop + on.clientHeight) on.scrollTop = top + ROW * 3 - on.clientHeight;
    requestAnimationFrame(() => requestAnimationFrame(() => on.querySelector<HTMLElement>(`tr[data-row="${next}"]`)?.focus({ preventScroll: true })));
  };
  const keys = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLTableRowElement)) return;
    const page = Math.max(1, Math.floor(view.height / ROW) - 2);
    const moves: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.total - 1 };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      to(next);
    }
    if (event.key === "Enter") light(rows.row(active)?.subject ?? null);
  };
  return (
    <div class="scroller" ref={box} onKeyDown={keys}>
      <table aria-rowcount={rows.total + 1} aria-label={props.title}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ column }) => (
              <th key={column.id} scope="col" class={isNumber(column) ? "n" : "t"} aria-sort={props.sort?.id !== column.id ? "none" : props.sort.descending ? "descending" : "ascending"}>
                <button type="button" data-about={about(column.about, column.basis)} onClick={() => props.turn(column)}>
                  {column.title}<span aria-hidden="true">{props.sort?.id !== column.id ? "" : props.sort.descending ? " ▾" : " ▴"}</span>
                </button>
              </th>
            ))}
            {hasLinks && <th scope="col"><span class="sr">Timeline</span></th>}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * ROW}px` }}><td colSpan={columns.length} /></tr>}
          {Array.from({ length: Math.max(0, last - first) }, (_, n) => first + n).map((at) => {
            const row = rows.row(at);
            return (
              <tr key={at} data-row={at} tabIndex={at === active ? 0 : -1} aria-rowindex={at + 2} onFocus={(event) => event.target === event.currentTarget && setActive(at)}>
                {columns.map(({ column, at: place }) => <CellShown key={column.id} value={row?.cells[place]} column={column} most={reach.get(place)} />)}
                {hasLinks && <td class="go">{row?.subject !== null && row?.subject !== undefined && <button type="button" tabIndex={at === active ? 0 : -1} onClick={() => light(row.subject)} aria-label={`Show ${visible(row.subject.text ?? "it")} in the timeline`}>⇥</button>}</td>}
              </tr>
            );
          })}
          {last < rows.total && <tr aria-hidden="true" style={{ height: `${(rows.total - last) * ROW}px` }}><td colSpan={columns.length} /></tr>}
        </tbody>
      </table>
      {rows.total === 0 && <p class="quiet empty">{rows.wish.filter === "" ? "This capture has none." : "No row has this text."}</p>}
    </div>
  );
}

function CellShown(props: { value: Cell | undefined; column: Column; most: number | undefined }) {
  const { value, column } = props;
  if (value === undefined) return <td class="quiet">…</td>;
  const number = isNumber(column);
  const zero = value === 0 && (column.unit === "flop/s" || column.unit === "flop/byte") && column.basis === "counted";
  const text = zero ? "–" : show(value, column.unit);
  const bar = column.unit === "share" && typeof value === "number" && column.id.includes("share");
  return <td class={number ? "n" : "t"} title={number ? undefined : text}>{bar && <Meter share={value / Math.max(1e-12, props.most ?? 1)} />}{text}</td>;
}

const NUMBERS = ["ns", "bytes", "share", "count", "number", "flop", "flop/s", "ops/s", "bytes/s", "flop/byte", "ratio"];
const isNumber = (column: Column) => NUMBERS.includes(column.unit) || (column.type !== undefined && column.type !== "text" && column.unit !== "text" && column.unit !== "flag");

function greatest(rows: Rows): Map<number, number> {
  const most = new Map<number, number>();
  for (const row of rows.head?.rows ?? []) row.forEach((cell, at) => typeof cell === "number" && most.set(at, Math.max(most.get(at) ?? 0, cell)));
  return most;
}

function light(subject: Subject | null): void {
  if (subject === null) return say("This row has no events of its own.");
  go("timeline", { subject: subject.id, title: subject.text ?? subject.kind });
}

function Columns(props: { columns: Column[]; hidden: ReadonlySet<string>; set: (hidden: ReadonlySet<string>) => void }) {
  const flip = (id: string) => {
    const next = new Set(props.hidden);
    if (!next.delete(id)) next.add(id);
    props.set(next);
  };
  return (
    <details class="menu" onKeyDown={(event) => { if (event.key === "Escape") { event.currentTarget.open = false; event.currentTarget.querySelector("summary")?.focus(); } }}>
      <summary>Columns{props.hidden.size > 0 ? ` (${count(props.columns.length - props.hidden.size)} of ${count(props.columns.length)})` : ""}</summary>
      <div class="sheet">
        {props.columns.map((column) => (
          <label key={column.id} data-about={about(column.about, column.basis)}>
            <input type="checkbox" checked={!props.hidden.has(column.id)} onChange={() => flip(column.id)} /> {column.title}
          </label>
        ))}
      </div>
    </details>
  );
}

function Notes(props: { notes: readonly (Note | string)[]; facts: readonly (Fact | Section)[] }) {
  const sections = props.facts.filter((one): one is Section => "facts" in one);
  const facts = props.facts.filter((one): one is Fact => !("facts" in one));
  const texts = props.notes.map((note) => (typeof note === "string" ? note : note.text));
  if (texts.length === 0 && props.facts.length === 0) return null;
  return (
    <details class="notes">
      <summary>{[texts.length > 0 ? plural(texts.length, "note") : "", props.facts.length > 0 ? "totals" : ""].filter((part) => part !== "").join(", ")}</summary>
      {texts.length > 0 && <ul>{texts.map((text) => <li>{visible(text)}</li>)}</ul>}
      {facts.length > 0 && <Facts facts={facts} />}
      {sections.map((section) => <div key={section.title}><h3>{section.title}</h3><Facts facts={section.facts} /></div>)}
    </details>
  );
}

/** Waits until the typing pauses. */
function late(then: (text: string) => void) {
  let waiting: number | undefined;
  return (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => then(text), 180);
  };
}
