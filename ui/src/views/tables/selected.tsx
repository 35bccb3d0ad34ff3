// Tables of what is chosen: its sums in the form of a table, so that they are sorted, filtered and copied as any other.

import { useMemo, useState } from "preact/hooks";
import { ChosenPart, sumsOf } from "../../parts/chosen";
import { rangesOf, type Selection } from "../../selection";
import type { Source } from "../../source/source";
import type { Side, SideName, TableAnswer } from "../../source/types";
import { Grid } from "./grid";

const SIDES: [SideName, string][] = [["device", "devices"], ["host", "host"], ["annotation", "annotations"], ["mark", "marks"]];
const BY: [id: string, title: string][] = [["name", "kernel or name"], ["op", "operation"], ["category", "category"], ["range", "range"], ["track", "track"], ["line", "line"]];

/** Rows of one table: as many as a server answers. */
const ROWS = 2000;

export function SelectedTables({ of }: { of: Selection }) {
  const [side, setSide] = useState<SideName>("device");
  const [by, setBy] = useState("name");
  const key = `${of.from} ${of.to} ${rangesOf(of.tracks ?? [])} ${of.step} ${of.where}`;
  const from = useMemo(() => sourceOf(of, side, by), [key, side, by]);
  return (
    <>
      <ChosenPart />
      <div class="tabs small" role="group" aria-label="What ran">{SIDES.map(([id, title]) => <button key={id} type="button" aria-pressed={id === side} onClick={() => setSide(id)}>{title}</button>)}</div>
      <div class="tabs small" role="group" aria-label="Sums by">{BY.map(([id, title]) => <button key={id} type="button" aria-pressed={id === by} onClick={() => setBy(id)}>{title}</button>)}</div>
      <Grid key={`${key} ${side} ${by}`} topic="selection" view={`${side}-${by}`} about="" from={from} />
    </>
  );
}

/** A source that has one table. */
function sourceOf(of: Selection, side: SideName, by: string): Source {
  const answer = sumsOf(of, ROWS).then(({ sides }) => tableOf(sides.find((one) => one.side === side), by));
  answer.catch(() => undefined);
  return { live: false, leftOut: [], holds: () => true, json: <T,>() => answer as Promise<T>, bytes: () => Promise.reject(new Error("a table has no bytes")) };
}

function tableOf(side: Side | undefined, by: string): TableAnswer {
  const list = side?.by[by];
  const column = (id: string, title: string, unit: string, about: string) => ({ id, title, unit, about, type: unit === "text" ? "text" : unit, basis: unit === "text" ? null : "measured" });
  const rest = list?.rest ?? null;
  return {
    title: "Selection",
    columns: [
      column("name", "Name", "text", ""), column("self_ns", "Self", "ns", "time within the selection, without what ran inside"), column("share", "Share", "share", "part of the self time of this side"),
      column("total_ns", "Total", "ns", "time within the selection, with what ran inside"), column("events", "Events", "count", "events that have a part in the selection"),
    ],
    rows: (list?.rows ?? []).map((row) => [row.name, row.self_ns, row.share, row.total_ns, row.events]),
    subjects: (list?.rows ?? []).map((row) => (row.subject === null ? null : { kind: by, text: row.name, id: row.subject })),
    total: list?.rows.length ?? 0,
    notes: rest === null ? [] : [`${rest.rows} more rows are not listed`],
  };
}
