// Why devices were idle: when, for which cause, in gaps of which length.

import { useRef, useState } from "preact/hooks";
import { go, keep, link, place, selection } from "../../address";
import { dark } from "../../context";
import { causeFill } from "../../draw/causes";
import { count, plural, share, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Stacked } from "../../parts/bar";
import { ChosenPart } from "../../parts/chosen";
import { Columns } from "../../parts/columns";
import { SaveAs } from "../../parts/save-as";
import type { Query } from "../../source/source";
import { answered, TableAmong } from "../tables/among";

interface Cause { name: string; about: string }
interface Course { start_ns: number; column_ns: number; columns: number; cells: [column: number, cause: number, ns: number][] }
interface Gaps { from_ns: number; below_ns: number; count: number; ns: number; causes: [cause: number, ns: number][] }
interface Device { row: number; name: string; capture_ns: number; causes: { name: string; about: string; ns: number; share: number }[]; over_time: Course | null; gaps: Gaps[] | null }

export default function Idle() {
  const now = selection();
  // Idle time is of devices: of a selection its time counts, not its tracks.
  const query = now === undefined ? {} : { from: now.from, to: now.to };
  return (
    <>
      <ChosenPart />
      <All query={query} />
    </>
  );
}

function All({ query }: { query: Query }) {
  return (
    <Answer<{ causes: Cause[]; devices: Device[] }> path="chart/idle" query={query}>
      {(answer) => answer.devices.length === 0
        ? <div class="missing"><p>This capture has no device work, so there is no idle time.</p></div>
        : <Devices causes={answer.causes} devices={answer.devices} />}
    </Answer>
  );
}

function Devices(props: { causes: Cause[]; devices: Device[] }) {
  const [row, setRow] = useState(Number(place.peek().params.get("device") ?? props.devices[0]?.row));
  const device = props.devices.find((one) => one.row === row) ?? props.devices[0];
  if (device === undefined) return null;
  return (
    <>
      {props.devices.length > 1 && (
        <div class="tools"><label>Device{" "}
          <select value={device.row} onChange={(event) => { const next = Number(event.currentTarget.value); setRow(next); keep({ device: next }); }}>
            {props.devices.map((one) => <option key={one.row} value={one.row}>{visible(one.name)} — idle {time(idleOf(one))}</option>)}
          </select>
        </label></div>
      )}
      <OneDevice key={device.row} causes={props.causes} of={device} />
      {selection() === undefined && <TableAmong topic="idle" views={answered("idle")} first="host" />}
    </>
  );
}

const idleOf = (device: Device) => device.causes.reduce((all, cause) => all + cause.ns, 0);

function OneDevice({ causes, of }: { causes: Cause[]; of: Device }) {
  const color = (name: string) => causeFill(name, dark.value);
  const idle = idleOf(of);
  const parts = [
    { name: "busy", value: Math.max(0, of.capture_ns - idle), text: `${time(Math.max(0, of.capture_ns - idle))}`, color: "var(--edge)" },
    ...of.causes.map((cause) => ({ name: cause.name, value: cause.ns, text: `${time(cause.ns)} (${share(cause.share)})`, color: color(cause.name) })),
  ];
  return (
    <>
      <section aria-label="By cause">
        <h2>{visible(of.name)}: idle {share(of.capture_ns > 0 ? idle / of.capture_ns : 0)} of {time(of.capture_ns)}</h2>
        <Stacked parts={parts} whole={of.capture_ns} label="Busy, and idle by cause" />
      </section>
      {of.over_time !== null && idle > 0 && <OverTime causes={causes} of={of.over_time} color={color} />}
      {of.gaps !== null && of.gaps.length > 0 && <Lengths causes={causes} gaps={of.gaps} color={color} />}
    </>
  );
}

function OverTime({ causes, of, color }: { causes: Cause[]; of: Course; color: (name: string) => string }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const name = (cause: number) => causes[cause]?.name ?? "unknown";
  const columns = Array.from({ length: of.columns }, () => [] as { value: number; color: string; cause: number }[]);
  for (const [column, cause, ns] of of.cells) columns[column]?.push({ value: ns, color: color(name(cause)), cause });
  const start = (column: number) => of.start_ns + column * of.column_ns;
  const words = (column: number) => `${time(start(column))}: ${columns[column]?.length === 0 ? "busy throughout" : columns[column]?.map((part) => `${name(part.cause)} ${time(part.value)}`).join(", ")}`;
  return (
    <section aria-label="Over time">
      <h2>Over time <span class="quiet">idle share of every {time(of.column_ns)}</span></h2>
      <figure>
        <Columns
          drawing={drawing} columns={columns.map((parts, column) => ({ title: words(column), parts }))} most={of.column_ns} show={(ns) => share(ns / of.column_ns)}
          names={[0, 0.25, 0.5, 0.75, 1].map((part) => [part * of.columns, time(start(Math.round(part * of.columns)))] as const)} edges
          label={`Idle time over time by cause, ${of.columns} stretches`} point={setAt}
          go={(column) => go("timeline", { from: Math.round(start(column) - of.column_ns), to: Math.round(start(column) + 2 * of.column_ns) })}
        />
        <figcaption>
          <p class="said-here">{at === undefined ? <span class="quiet">Click to open the timeline there.</span> : words(at)}</p>
          <SaveAs of={drawing} name="idle" rows={() => [["start_ns", "cause", "idle_ns"], ...of.cells.map(([column, cause, ns]) => [start(column), name(cause), ns])]} />
        </figcaption>
      </figure>
    </section>
  );
}

function Lengths({ causes, gaps, color }: { causes: Cause[]; gaps: Gaps[]; color: (name: string) => string }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [by, setBy] = useState<"time" | "number">("time");
  const name = (cause: number) => causes[cause]?.name ?? "unknown";
  const first = Math.log2(gaps[0]?.from_ns ?? 1);
  const last = Math.log2(gaps.at(-1)?.from_ns ?? 1);
  const of = new Map(gaps.map((one) => [Math.round(Math.log2(one.from_ns)), one]));
  const powers = Array.from({ length: Math.round(last - first) + 1 }, (_, n) => Math.round(first) + n);
  const all = gaps.reduce((sum, one) => sum + one.count, 0);
  const whole = gaps.reduce((sum, one) => sum + one.ns, 0);
  const words = (one: Gaps | undefined, power: number) => one === undefined ? `none of ${time(2 ** power)} to ${time(2 ** (power + 1))}` : `${plural(one.count, "gap")} of ${time(one.from_ns)} to ${time(one.below_ns)}: ${time(one.ns)}`;
  const columns = powers.map((power) => {
    const one = of.get(power);
    const scale = by === "time" ? 1 : (one?.count ?? 0) / Math.max(1, one?.ns ?? 1);
    return { title: words(one, power), parts: (one?.causes ?? []).map(([cause, ns]) => ({ value: ns * scale, color: color(name(cause)) })) };
  });
  const every = Math.max(1, Math.ceil(powers.length / 9));
  return (
    <section aria-label="By length">
      <h2>By length <span class="quiet">{plural(all, "gap")}, {time(whole)}</span></h2>
      <div class="tabs small" role="group" aria-label="Height">
        <button type="button" aria-pressed={by === "time"} onClick={() => setBy("time")}>Time</button>
        <button type="button" aria-pressed={by === "number"} onClick={() => setBy("number")}>Number</button>
      </div>
      <figure>
        <Columns
          drawing={drawing} columns={columns} show={(value) => (by === "time" ? time(value) : count(value))} gap={3} edges
          names={powers.flatMap((power, n) => (n % every === 0 ? [[n, time(2 ** power)] as const] : []))}
          label={`Gaps by length: ${gaps.map((one) => words(one, 0)).join("; ")}`}
        />
        <figcaption>
          {by === "number" && <p class="quiet">Colors are shares of the time.</p>}
          <SaveAs of={drawing} name="gaps" rows={() => [["from_ns", "below_ns", "gaps", "idle_ns"], ...gaps.map((one) => [one.from_ns, one.below_ns, one.count, one.ns])]} />
          {" "}<a href={link("tables", { topic: "idle", view: "gap" })}>All gaps</a>
        </figcaption>
      </figure>
    </section>
  );
}
