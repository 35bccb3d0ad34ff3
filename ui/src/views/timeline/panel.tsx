// Beside the timeline: what is chosen there, an event, a gap or a range.

import { dark, lit } from "../../context";
import { count, share, time, visible } from "../../format";
import { copy } from "../../parts/save";
import { Meter } from "../../parts/bar";
import type { Part } from "../../source/types";
import { causeFill } from "../../draw/causes";
import { Pairs } from "./pairs";
import { chosen, clear, details, failed, gap, lookAround, putOut, range, statistics } from "./state";

export function Panel() {
  const nothing = chosen.value === undefined && gap.value === undefined && range.value === undefined && lit.value === undefined;
  if (nothing) return null;
  return (
    <aside class="panel" aria-label="What is chosen">
      <button type="button" class="plain close" onClick={() => { clear(); putOut(); }} aria-label="Close">×</button>
      {lit.value !== undefined && <LitNow />}
      {failed.value !== undefined && <p class="missing">{failed.value}</p>}
      {chosen.value !== undefined && <EventDetails />}
      {gap.value !== undefined && <GapDetails />}
      {range.value !== undefined && <RangeDetails />}
    </aside>
  );
}

function LitNow() {
  const now = lit.value;
  if (now === undefined) return null;
  const listed = now.events.length < now.count ? `, the first ${count(now.events.length)} are highlighted` : "";
  return (
    <p class="lit-now">
      <b>{visible(now.title)}</b>: {count(now.count)} {now.count === 1 ? "event" : "events"}{listed}{" "}
      <button type="button" onClick={putOut}>Clear highlight</button>
    </p>
  );
}

function EventDetails() {
  const now = chosen.value;
  if (now === undefined) return null;
  const found = details.value;
  return (
    <>
      <h2 class="name clamped" title={visible(now.name)}>{visible(now.name)}</h2>
      <p class="big">{time(now.end - now.start)} <span class="quiet">at {time(now.start)}</span></p>
      <div class="actions">
        <button type="button" onClick={() => lookAround(now.start, now.end)}>Zoom to it</button>
        <button type="button" onClick={() => void copy(now.name, "name.txt")}>Copy its name</button>
      </div>
      {found === undefined ? <p class="awaited">Reading …</p> : <Pairs found={found} skip={["name", "start_ns", "duration_ns", "row", "track_id", ...("track_name" in found ? ["track"] : [])]} />}
    </>
  );
}

function GapDetails() {
  const now = gap.value;
  if (now === undefined) return null;
  return (
    <>
      <h2>Idle</h2>
      <p class="big">{time(now.end - now.start)} <span class="quiet">at {time(now.start)}</span></p>
      {now.cause !== undefined && now.cause !== "" && (
        <p class="cause"><i class="swatch" style={{ background: causeFill(now.cause, dark.value) }} />{now.cause}</p>
      )}
      {now.details !== undefined && <Pairs found={now.details} skip={["cause", "prev", "next", "start_ns", "end_ns", "duration_ns"]} />}
    </>
  );
}

function RangeDetails() {
  const now = range.value;
  if (now === undefined) return null;
  const found = statistics.value;
  const wide = now.to - now.from;
  return (
    <>
      <h2>Range</h2>
      <p class="big">{time(wide)} <span class="quiet">from {time(now.from)}</span></p>
      <div class="actions">
        <button type="button" onClick={() => lookAround(now.from, now.to)}>Zoom to it</button>
      </div>
      {found === undefined ? failed.value === undefined && <p class="awaited">Reading …</p> : (
        <>
          <p>Busy {time(found.busy_ns)} <span class="quiet">({share(found.busy_ns / Math.max(1, wide))})</span>, {count(found.events)} events.</p>
          <Parts title="By category" parts={found.by_category} />
          <Parts title="By operation" parts={found.by_op} />
          <Parts title="By kernel" parts={found.by_kernel} />
        </>
      )}
    </>
  );
}

function Parts(props: { title: string; parts: readonly Part[] | undefined }) {
  const parts = props.parts ?? [];
  if (parts.length === 0) return null;
  const most = Math.max(1, ...parts.map((part) => part.ns));
  return (
    <table class="parts">
      <caption>{props.title}</caption>
      <thead class="sr"><tr><th>Name</th><th>Events</th><th>Time</th></tr></thead>
      <tbody>
        {parts.map((part) => (
          <tr key={part.name}>
            <td class="name" title={visible(part.name)}>{visible(part.name)}<Meter share={part.ns / most} /></td>
            <td class="n quiet">{part.events === undefined ? "" : `${count(part.events)} ×`}</td>
            <td class="n">{time(part.ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
