// A table that came within an answer: short enough to stand there whole, with what each column means.

import { link } from "../address";
import { show, visible } from "../format";
import type { Cell, Column, Subject } from "../source/types";
import { about } from "./facts";
import { CopyTable } from "./copy-table";
import { csvOf, save } from "./save";

export interface Listed { name: string; title: string; columns: Column[]; rows: Cell[][]; subjects: (Subject | null)[]; total: number; notes: string[] }

const SHOWN = 300;

export function Listing({ of }: { of: Listed }) {
  const columns = of.columns.map((column, at) => ({ column, at })).filter(({ column }) => column.rank !== "detail");
  return (
    <section class="listing" aria-label={of.title}>
      <h2>{visible(of.title)} <CopyTable name={of.name} rows={() => [of.columns.map((column) => column.id), ...of.rows]} /><button type="button" onClick={() => save(`${of.name}.csv`, csvOf([of.columns.map((column) => column.id), ...of.rows]), "text/csv")}>Save CSV</button></h2>
      <div class="list tall" role="region" aria-label={of.title} tabIndex={0}>
        <table>
          <thead><tr>{columns.map(({ column }) => <th key={column.id} scope="col" class={column.unit === "text" ? "" : "n"}><button type="button" class="about" data-about={about(column.about, column.basis)}>{column.title}</button></th>)}</tr></thead>
          <tbody>
            {of.rows.slice(0, SHOWN).map((row, n) => {
              const subject = of.subjects[n];
              return <tr key={n}>{columns.map(({ column, at }, place) => {
                const text = show(row[at] ?? null, column.unit);
                const id = place === 0 ? subject?.id : undefined;
                return <td key={column.id} class={column.unit === "text" ? "name" : "n"} title={column.unit === "text" ? text : undefined}>{typeof id === "string" ? <a href={link("timeline", { subject: id, title: subject?.text ?? text })}>{text}</a> : text}</td>;
              })}</tr>;
            })}
          </tbody>
        </table>
      </div>
      {of.rows.length === 0 && <p class="quiet">None.</p>}
      {of.notes.map((note) => <p class="quiet">{visible(note)}</p>)}
    </section>
  );
}
