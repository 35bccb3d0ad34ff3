// What a compiled program has in memory along its schedule: how much of which class, and what is alive at the cursor.

import { useRef, useState } from "preact/hooks";
import { link } from "../../address";
import { dark } from "../../context";
import { fill } from "../../draw/palette";
import { bytes, count, plural, short, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { drawable, ModuleChoice, type Modules } from "../../parts/module";
import { Meter } from "../../parts/bar";
import { Columns, Keys } from "../../parts/columns";
import { CopyTable } from "../../parts/copy-table";
import { SaveAs } from "../../parts/save-as";

interface Value { name: string; op: string | null; class: number; bytes: number; from: number; to: number; source: { file: string; line: number } | null; scope: string }
interface Schedule {
  basis: string; positions: number; peak_bytes: number; peak_at: { position: number; op: string } | null; width: number;
  classes: string[]; columns: number[][]; values: Value[]; others: number;
}

export function Schedules() {
  return <Answer<Modules> path="hlo/modules">{(all) => (drawable(all).size === 0 ? null : <OfModules all={all} />)}</Answer>;
}

function OfModules({ all }: { all: Modules }) {
  const [module, setModule] = useState(drawable(all).keys().next().value ?? "");
  return (
    <section aria-label="Along the schedule">
      <h2>Along the schedule of <ModuleChoice all={all} module={module} choose={setModule} /></h2>
      <Answer<Schedule> path="chart/schedule" query={{ module }}>{(of) => <Drawn key={module} of={of} module={module} />}</Answer>
    </section>
  );
}

const SHOWN = 40;

function Drawn({ of, module }: { of: Schedule; module: string }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const color = (kind: number) => fill([0, 5, 1, 7, 3, 15][kind] ?? 15, dark.value);
  const sum = (column: readonly number[]) => column.reduce((all, part) => all + part, 0);
  const highest = of.columns.reduce((best, column, n) => (sum(column) > sum(of.columns[best] ?? []) ? n : best), 0);
  const column = at ?? highest;
  const position = at === undefined && of.peak_at !== null ? of.peak_at.position : Math.min(of.positions - 1, column * of.width);
  const alive = of.values.filter((value) => value.from <= position + (at === undefined ? 0 : of.width - 1) && value.to >= position);
  const all = Math.max(1, sum(of.columns[column] ?? []));
  const there = of.classes.map((_, kind) => kind).filter((kind) => of.columns.some((one) => (one[kind] ?? 0) > 0));
  return (
    <>
      <p>Peak {bytes(of.peak_bytes)} <span class="quiet">({of.basis})</span>{of.peak_at !== null && <> at <a href={link("graph", { module, op: of.peak_at.op })}>{visible(of.peak_at.op)}</a>, position {count(of.peak_at.position)} of {count(of.positions)}</>}.</p>
      <figure>
        <Columns
          drawing={drawing} most={Math.max(of.peak_bytes, ...of.columns.map(sum))} show={bytes} point={setAt} edges
          columns={of.columns.map((one, n) => ({ title: `from position ${n * of.width}: ${bytes(sum(one))}`, parts: one.map((value, kind) => ({ value, color: color(kind) })) }))}
          names={[0, 0.25, 0.5, 0.75, 1].map((part) => [part * of.columns.length, count(Math.round(part * of.positions))] as const)}
          label={`Memory of ${module} along its schedule, most ${bytes(of.peak_bytes)}`}
        />
        <figcaption>
          <Keys of={there.map((kind) => ({ name: of.classes[kind] ?? "", color: color(kind), text: bytes(of.columns[column]?.[kind] ?? 0) }))} />
          <p class="said-here">{at === undefined ? <span class="quiet">Point at the schedule to see what is alive there; the list shows the peak.</span> : `Position ${count(position)}: ${bytes(all)} in ${plural(alive.length, "value")} of those named`}</p>
          <SaveAs of={drawing} name="schedule" rows={() => [["position", ...of.classes], ...of.columns.map((one, n) => [n * of.width, ...one])]} />
        </figcaption>
      </figure>
      <div class="list tall" role="region" aria-label="Alive in the program" tabIndex={0}>
        <table>
          <thead><tr><th class="n">Bytes</th><th>Value</th><th>Class</th><th class="n">Positions</th><th>Made at</th></tr></thead>
          <tbody>
            {alive.slice(0, SHOWN).map((value) => (
              <tr>
                <td class="n"><Meter share={value.bytes / all} color={color(value.class)} />{bytes(value.bytes)}</td>
                <td class="name" title={visible(value.scope)}>{value.op === null ? visible(value.name) : <a href={link("graph", { module, op: value.op })}>{visible(short(value.name, 46))}</a>}</td>
                <td>{of.classes[value.class]}</td>
                <td class="n">{count(value.from)} to {count(value.to)}</td>
                <td>{value.source === null ? <span class="quiet">–</span> : <a href={link("source", { file: value.source.file, line: value.source.line })}>{visible(value.source.file.slice(value.source.file.lastIndexOf("/") + 1))}:{value.source.line}</a>}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <CopyTable name="alive-in-program" rows={() => [["bytes", "value", "class", "from_position", "to_position", "made_at"], ...alive.map((one) => [one.bytes, one.name, of.classes[one.class] ?? "", one.from, one.to, one.source === null ? null : `${one.source.file}:${one.source.line}`])]} />
      </div>
      {of.others > 0 && <p class="quiet">{plural(of.others, "smaller value")} are in the drawing and not named.</p>}
    </>
  );
}
