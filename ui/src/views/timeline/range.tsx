// What is in the chosen range: devices, the host, annotations and marks apart, each by what one asks for.

import { useEffect, useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { ask, reason, say, source } from "../../context";
import { queryOf } from "../../selection";
import { count, plural, share, time, visible } from "../../format";
import { Meter } from "../../parts/bar";
import { Histogram } from "../../parts/histogram";
import { CopyTable } from "../../parts/copy-table";
import type { Cell, Side, SideName, SumRow } from "../../source/types";
import { allTracks, choosePart, failed, launches, type Launches, lookAround, outline, range, statistics } from "./state";

const SIDES: Record<SideName, { title: string; about: string; owner: string }> = {
  device: { title: "Devices", about: "Kernels, copies and operations of devices", owner: "device" },
  host: { title: "Host", about: "Calls of host threads", owner: "thread" },
  annotation: { title: "Annotations", about: "Steps and ranges that the program named, on threads and as they appear on devices; no work of their own", owner: "track" },
  mark: { title: "Marks", about: "Waits, allocations and profiler overhead on devices; no work", owner: "device" },
};

const BY: [id: string, title: string][] = [["name", "Kernel"], ["op", "Operation"], ["category", "Category"], ["range", "Range"], ["track", "Track"], ["line", "Line"]];

type Per = "total" | "second" | "step";

export function RangeDetails() {
  const now = range.value;
  if (now === undefined) return null;
  const found = statistics.value;
  const some = now.tracks;
  return (
    <>
      <h2>Range</h2>
      <p class="big">{time(now.to - now.from)} <span class="quiet">from {time(now.from)}</span></p>
      <p>{some === undefined ? "All tracks" : `${plural(some.length, "track")} of ${count(allTracks().length)}`}
        {some !== undefined && <> <button type="button" class="plain" onClick={() => { const { tracks: _, ...all } = now; void choosePart(all); }}>Use all tracks</button></>}</p>
      <div class="actions">
        <button type="button" onClick={() => lookAround(now.from, now.to)}>Zoom to it</button>
        <a class="chip" href={link("tables", { topic: "selection" })}>As tables</a>
        {source().live && <Launched />}
      </div>
      <Narrow />
      {found === undefined ? failed.value === undefined && <p class="awaited" aria-busy="true">Reading …</p> : found.sides.length === 0 ? <p class="quiet">Nothing ran there.</p> : <Sides key={`${now.from} ${now.to}`} />}
    </>
  );
}

/** Arrows from the calls to all that they launched, of the range. */
function Launched() {
  const now = range.value;
  const drawn = launches.value;
  useEffect(() => { launches.value = undefined; }, [now]);
  if (now === undefined) return null;
  const draw = () => ask<Launches>("flows", queryOf(now, allTracks())).then((found) => { if (range.value === now) launches.value = found; }).catch((error: unknown) => say(reason(error).text));
  return (
    <>
      <button type="button" aria-pressed={drawn !== undefined} onClick={() => { if (drawn === undefined) void draw(); else launches.value = undefined; }}>Launches</button>
      {drawn !== undefined && <span class="quiet">{drawn.count === 0 ? "none is known" : drawn.each === 1 ? plural(drawn.count, "launch", "launches") : `one in ${count(drawn.each)} of ${count(drawn.count)}`}</span>}
    </>
  );
}

/** The step and the filter. */
function Narrow() {
  const now = range.value;
  if (now === undefined) return null;
  const numbers = [...new Set(outline.value.steps.map(([, , name]) => Number(/\d+$/.exec(name)?.[0] ?? NaN)))].filter((number) => !Number.isNaN(number));
  const change = (changes: { step?: number | undefined; where?: string | undefined }) => {
    const { step, where, ...rest } = { ...now, ...changes };
    void choosePart({ ...rest, ...(step !== undefined && { step }), ...(where !== undefined && where !== "" && { where }) });
  };
  return (
    <form class="narrow" onSubmit={(event) => {
      event.preventDefault();
      change({ where: (event.currentTarget.elements.namedItem("where") as HTMLInputElement).value.trim() });
    }}>
      <input name="where" type="search" defaultValue={now.where ?? ""} placeholder="Only: dur>1ms name~gemm" aria-label="Only events that match" onInput={(event) => event.currentTarget.value === "" && now.where !== undefined && change({ where: undefined })} />
      {numbers.length > 0 && (
        <select aria-label="Step" value={now.step ?? ""} onChange={(event) => change({ step: event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value) })}>
          <option value="">all steps</option>
          {numbers.slice(0, 2000).map((number) => <option key={number} value={number}>step {number}</option>)}
        </select>
      )}
    </form>
  );
}

function Sides() {
  const found = statistics.value;
  const params = place.peek().params;
  const [chosen, setChosen] = useState<string | null>(params.get("side"));
  const [by, setBy] = useState(params.get("by") ?? "name");
  const [per, setPer] = useState<Per>("total");
  useEffect(() => keep({ side: chosen ?? undefined, by: by === "name" ? undefined : by }), [chosen, by]);
  const side = found?.sides.find((one) => one.side === chosen) ?? found?.sides[0];
  const wide = (range.value?.to ?? 0) - (range.value?.from ?? 0);
  if (found === undefined || side === undefined) return null;
  const list = side.by[by] ?? side.by["name"];
  const title = (id: string, name: string) => (id === "name" && side.side !== "device" ? "Name" : name);
  const steps = found.steps;
  const by_ns = per === "second" ? wide / 1e9 : per === "step" ? steps : 1;
  const shown = (ns: number) => (per === "second" ? `${time(ns / Math.max(1e-12, by_ns))}/s` : time(ns / Math.max(1, by_ns)));
  const rows = list?.rows ?? [];
  return (
    <section class="sides" aria-label="Sums of the range">
      <div class="tabs small" role="group" aria-label="What ran">
        {found.sides.map((one) => <button key={one.side} type="button" aria-pressed={one === side} onClick={() => setChosen(one.side)} title={SIDES[one.side].about}>{SIDES[one.side].title} <span class="quiet">{count(one.events)}</span></button>)}
      </div>
      <Busy side={side} />
      <Lengths side={side} />
      <div class="tabs small" role="group" aria-label="Sums by">
        {BY.filter(([id]) => (side.by[id]?.rows.length ?? 0) > 0).map(([id, name]) => <button key={id} type="button" aria-pressed={side.by[id] === list} onClick={() => setBy(id)}>{title(id, name)}</button>)}
      </div>
      <div class="tools">
        <label>Time <select value={per} onChange={(event) => setPer(event.currentTarget.value as Per)} aria-label="Time in all, per second or per step">
          <option value="total">in all</option><option value="second">per second</option>{steps > 0 && <option value="step">per step</option>}
        </select></label>
        <span class="push" />
        <CopyTable name="selection" rows={() => cellsOf(rows)} />
      </div>
      <table class="parts">
        <colgroup><col /><col class="times" /><col class="sum" /></colgroup>
        <thead class="sr"><tr><th>Name</th><th>Events</th><th>Time</th></tr></thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              <td class="name" title={visible(row.name)}>{row.subject === null ? visible(row.name) : <a href={link("timeline", { subject: row.subject, title: row.name })}>{visible(row.name)}</a>}<Meter share={row.self_ns / Math.max(1, rows[0]?.self_ns ?? 1)} /></td>
              <td class="n quiet">{count(row.events)} ×</td>
              <td class="n" title={`${time(row.self_ns)} of its own, ${time(row.total_ns)} with what ran inside`}>{shown(row.self_ns)}<br /><span class="quiet">{share(row.share)}</span></td>
            </tr>
          ))}
          {list?.rest !== null && list?.rest !== undefined && <tr><td class="name quiet">{count(list.rest.rows)} more</td><td class="n quiet">{count(list.rest.events)} ×</td><td class="n quiet">{shown(list.rest.self_ns)}</td></tr>}
        </tbody>
      </table>
    </section>
  );
}

/** How much of the range each device, or thread, was busy. */
function Busy({ side }: { side: Side }) {
  const { owner } = SIDES[side.side];
  const most = 8;
  return (
    <>
      <p>{owner === "device" && side.side === "device" ? "Busy" : "In all"} <b>{time(side.busy_ns)}</b> <span class="quiet">{side.busy.length === 1 ? `(${share(side.busy[0]?.share ?? 0)} of the range)` : `on ${plural(side.busy.length, owner)}, overlaps of one ${owner} once`}</span>, {plural(side.events, "event")}.</p>
      {side.busy.length > 1 && <CopyTable name="busy" title="Copy busy times" rows={() => [["name", "busy_ns", "share"], ...side.busy.map((one) => [one.name, one.busy_ns, one.share])]} />}
      {side.busy.length > 1 && (
        <ul class="busy">
          {[...side.busy].sort((one, other) => other.busy_ns - one.busy_ns).slice(0, most).map((one, at) => <li key={at}><span class="name" title={visible(one.name)}>{visible(one.name)}</span><Meter share={one.share} /><span class="n">{share(one.share)}</span></li>)}
          {side.busy.length > most && <li class="quiet">and {count(side.busy.length - most)} more</li>}
        </ul>
      )}
    </>
  );
}

function Lengths({ side }: { side: Side }) {
  const { durations: of } = side;
  if (side.events < 2) return null;
  return (
    <div class="lengths">
      <p class="quiet">Each {time(of.p50_ns)} (median), {time(of.p90_ns)} (p90), {time(of.most_ns)} (longest)</p>
      <Histogram buckets={of.buckets} label="Events by duration" />
    </div>
  );
}

const cellsOf = (rows: readonly SumRow[]): Cell[][] => [["name", "self_ns", "total_ns", "events", "share"], ...rows.map((row) => [row.name, row.self_ns, row.total_ns, row.events, row.share])];
