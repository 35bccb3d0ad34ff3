// One table: sorted, filtered, with the columns that the reader wants; the address keeps all that.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { keep, place } from "../../address";
import { reason, source } from "../../context";
import { count, plural, visible } from "../../format";
import { Awaited, Missing } from "../../parts/answer";
import { about, Facts } from "../../parts/facts";
import { Rows } from "../../parts/rows";
import { copy, copyRows, csvOf, save } from "../../parts/save";
import type { Source } from "../../source/source";
import type { Column, Fact, Note, Section } from "../../source/types";
import { Body, isNumber, type Sorted } from "./body";
import "./style.css";

/** `from` has the table where it is no answer of the capture's source. */
export function Grid(props: { topic: string; view: string; about: string; from?: Source }) {
  const params = place.peek().params;
  const [sort, setSort] = useState<Sorted | undefined>(params.has("sort") ? { id: params.get("sort") ?? "", descending: params.get("desc") === "1" } : undefined);
  const [filter, setFilter] = useState(params.get("filter") ?? "");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set((params.get("hidden") ?? "").split(",").filter((id) => id !== "")));
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<unknown>(undefined);
  const rows = useMemo(() => {
    setProblem(undefined);
    const wish = { sort: sort?.id, descending: sort?.descending ?? false, filter };
    return new Rows(props.from ?? source(), `table/${encodeURIComponent(props.topic)}/${encodeURIComponent(props.view)}`, wish, (error) => {
      if (error !== undefined) setProblem(error);
      redraw((n) => n + 1);
    });
  }, [props.topic, props.view, props.from, sort, filter]);
  useEffect(() => keep({ sort: sort?.id, desc: sort?.descending === true ? 1 : undefined, filter, hidden: [...hidden].join(",") }), [sort, filter, hidden]);

  const before = useRef<Rows | undefined>(undefined);
  if (rows.head !== undefined) before.current = rows;
  // The rows before stay until the new ones are there, so that nothing flickers.
  const shown = rows.head === undefined ? before.current : rows;
  if (problem !== undefined) return <Missing {...reason(problem)} />;
  if (shown?.head === undefined) return <Awaited />;
  const head = shown.head;
  const columns = head.columns.map((column, at) => ({ column, at })).filter(({ column }) => !hidden.has(column.id));
  const cells = async () => [columns.map(({ column }) => column.id), ...(await shown.all()).map((row) => columns.map(({ at }) => row[at] ?? null))];
  const csv = async () => csvOf(await cells());
  return (
    <section class="grid" aria-label={head.title}>
      <p class="quiet about-table">{props.about === "" ? head.title : props.about}</p>
      <Notes notes={head.notes ?? []} facts={head.facts ?? []} />
      <div class="tools">
        <input type="search" placeholder="Filter" aria-label="Filter rows" defaultValue={filter} onInput={late((text) => setFilter(text))} />
        <span class="quiet nowrap">{plural(shown.total, "row")}</span>
        <span class="push" />
        <ColumnMenu columns={head.columns} hidden={hidden} set={setHidden} />
        <button type="button" onClick={() => void cells().then((rows) => copyRows(rows, props.view))} title="With tabs, for spreadsheets">Copy</button>
        <button type="button" onClick={() => void csv().then((text) => copy(text, `${props.view}.csv`))}>Copy as CSV</button>
        <button type="button" onClick={() => void csv().then((text) => save(`${props.view}.csv`, text, "text/csv"))}>Save CSV</button>
      </div>
      <Body rows={shown} columns={columns} title={head.title} sort={sort} turn={(column) => setSort(turned(sort, column))} />
    </section>
  );
}

/** Largest numbers first, then the other way, then as it came; texts from A. */
function turned(now: Sorted | undefined, column: Column): Sorted | undefined {
  const first = isNumber(column);
  if (now?.id !== column.id) return { id: column.id, descending: first };
  return now.descending === first ? { id: column.id, descending: !first } : undefined;
}

function ColumnMenu(props: { columns: Column[]; hidden: ReadonlySet<string>; set: (hidden: ReadonlySet<string>) => void }) {
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
