// The overview of a capture of a hardware profiler: its kernels, what bounds each, and what the profiler says of it.

import { link } from "../../address";
import { capture } from "../../context";
import { show, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { CopyTable } from "../../parts/copy-table";
import type { Cell, Column, TableAnswer } from "../../source/types";

const SHOWN = 40;
/** Letters of advice that are shown whole. */
const BRIEF = 140;
/** Columns of the table that stand beside the verdict, each a part of a peak. */
const SHARES = ["compute_share", "memory_share", "dram_share", "occupancy"];

export function Profiles() {
  return (
    <Answer<TableAnswer> path="table/stats/profile">
      {(table) => (
        <section aria-label="Profiled kernels">
          <h2>Profiled kernels <CopyTable name="profiled-kernels" rows={() => [table.columns.map((column) => column.id), ...table.rows]} /></h2>
          <p class="quiet">Counted by the hardware, launch by launch; longest first. <a href={link("tables", { topic: "stats", view: "profile" })}>All numbers</a>{capture.value?.has["roofline"] !== false && <>, <a href={link("roofline")}>roofline</a></>}</p>
          <Kernels table={table} />
        </section>
      )}
    </Answer>
  );
}

/** The profiler's own marks for links, `@url:WORDS:ADDRESS@` and `@section:ID:WORDS@`, as their words. */
const plain = (text: string) => text.replace(/@url:([^@]*?):https?:[^@]*@/g, "$1").replace(/@\w+:\w*:([^@]*)@/g, "$1");

/** Long advice has its first sentence, and the rest where it is asked for. */
function Advice({ text }: { text: string }) {
  const end = text.search(/\.\s/) + 1;
  if (text.length <= BRIEF || end === 0) return <>{text}</>;
  return <details><summary>{text.slice(0, end)}</summary>{text.slice(end).trim()}</details>;
}

function Kernels({ table }: { table: TableAnswer }) {
  const at = (id: string) => table.columns.findIndex((column) => column.id === id);
  const cell = (row: Cell[], id: string): Cell => row[at(id)] ?? null;
  const shares = SHARES.map((id) => table.columns[at(id)]).filter((column): column is Column => column !== undefined && table.rows.some((row) => cell(row, column.id) !== null));
  return (
    <div class="list plain" role="region" aria-label="Profiled kernels" tabIndex={0}>
      <table>
        <thead><tr><th>Kernel</th><th class="n">Duration</th><th>Bound by</th>{shares.map((column) => <th key={column.id} class="n"><button type="button" class="about" data-about={column.about}>{column.title}</button></th>)}<th>The profiler's advice</th></tr></thead>
        <tbody>
          {table.rows.slice(0, SHOWN).map((row, n) => (
            <tr key={n}>
              <td class="kernel">{visible(String(cell(row, "kernel") ?? ""))} <span class="quiet">{show(cell(row, "grid"), "text")} × {show(cell(row, "block"), "text")}</span></td>
              <td class="n">{show(cell(row, "duration_ns"), "ns")}</td>
              <td><b>{show(cell(row, "bound"), "text")}</b></td>
              {shares.map((column) => { const value = cell(row, column.id); return <td key={column.id} class="n share">{typeof value === "number" && <Meter share={value} />}{show(value, "share")}</td>; })}
              <td class="advice">{cell(row, "rule") === null ? <span class="quiet">none</span> : <Advice text={plain(visible(String(cell(row, "rule"))))} />}{typeof cell(row, "speedup_pct") === "number" && <span class="quiet"> (up to {show(cell(row, "speedup_pct"), "number")}% by its estimate)</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {table.total > SHOWN && <p class="quiet">and {show(table.total - SHOWN, "count")} more in <a href={link("tables", { topic: "stats", view: "profile" })}>Tables</a></p>}
    </div>
  );
}
