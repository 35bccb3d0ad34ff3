// Beside the timeline: what is chosen there, an event, a gap or a range.

import { link } from "../../address";
import { dark, lit } from "../../context";
import { count, share, show, time, visible } from "../../format";
import { copy } from "../../parts/save";
import { Meter } from "../../parts/bar";
import type { Details, Part, Timeline } from "../../source/types";
import { causeFill } from "../../draw/causes";
import { choose, chosen, clear, details, failed, gap, look, numberOf, range, statistics } from "./state";
import { around } from "./window";

export function Panel(props: { timeline: Timeline }) {
  const nothing = chosen.value === undefined && gap.value === undefined && range.value === undefined && lit.value === undefined;
  if (nothing) return null;
  return (
    <aside class="panel" aria-label="What is chosen">
      <button type="button" class="plain close" onClick={() => { clear(); lit.value = undefined; }} aria-label="Close">×</button>
      {lit.value !== undefined && <LitNow />}
      {failed.value !== undefined && <p class="missing">{failed.value}</p>}
      {chosen.value !== undefined && <EventDetails timeline={props.timeline} />}
      {gap.value !== undefined && <GapDetails />}
      {range.value !== undefined && <RangeDetails timeline={props.timeline} />}
    </aside>
  );
}

function LitNow() {
  const now = lit.value;
  if (now === undefined) return null;
  const listed = now.events.length < now.count ? `, the first ${count(now.events.length)} are lit` : "";
  return (
    <p class="lit-now">
      <b>{visible(now.title)}</b>: {count(now.count)} {now.count === 1 ? "event" : "events"}{listed}{" "}
      <button type="button" onClick={() => (lit.value = undefined)}>Put out</button>
    </p>
  );
}

function EventDetails(props: { timeline: Timeline }) {
  const now = chosen.value;
  if (now === undefined) return null;
  const found = details.value;
  return (
    <>
      <h2 class="name clamped" title={visible(now.name)}>{visible(now.name)}</h2>
      <p class="big">{time(now.end - now.start)} <span class="quiet">at {time(now.start)}</span></p>
      <div class="actions">
        <button type="button" onClick={() => look(around(now.start, now.end, props.timeline.span_ns), props.timeline.span_ns)}>Zoom to it</button>
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

function RangeDetails(props: { timeline: Timeline }) {
  const now = range.value;
  if (now === undefined) return null;
  const found = statistics.value;
  const wide = now.to - now.from;
  return (
    <>
      <h2>Range</h2>
      <p class="big">{time(wide)} <span class="quiet">from {time(now.from)}</span></p>
      <div class="actions">
        <button type="button" onClick={() => look(around(now.from, now.to, props.timeline.span_ns), props.timeline.span_ns)}>Zoom to it</button>
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

const TITLES: Record<string, string> = {
  row: "Row", track: "Track", track_name: "Track", operation: "Operation", module: "Module", source: "Line", scope: "Scope", launch: "Launch", shape: "Shape",
  flops: "Work", bytes: "Traffic", headroom: "Headroom", duration_ns: "Duration", start_ns: "Start", thread: "Thread", grid: "Grid",
  block: "Block", registers: "Registers", shared: "Shared memory", occupancy: "Occupancy", category: "Category", launched: "Launched",
  self_ns: "Self", prev_row: "Before", next_row: "After", details: "More",
};

const title = (key: string) => TITLES[key] ?? sentence(key.replace(/_ns$/, "").replaceAll("_", " "));
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const unitOf = (key: string) => (key.endsWith("_ns") ? "ns" : key.endsWith("bytes") ? "bytes" : key.endsWith("share") ? "share" : "");

/** What is known of something, in the order in which it came. */
export function Pairs(props: { found: Details; skip?: readonly string[] }) {
  const entries = Object.entries(props.found).filter(([key, value]) => value !== null && value !== undefined && !(props.skip ?? []).includes(key) && !(Array.isArray(value) && value.length === 0));
  return (
    <dl class="pairs">
      {entries.map(([key, value]) => (
        <div key={key}><dt>{title(key)}</dt><dd><Value name={key} value={value} /></dd></div>
      ))}
    </dl>
  );
}

function Value(props: { name: string; value: unknown }) {
  const { name, value } = props;
  if (Array.isArray(value)) return <ul>{value.slice(0, 50).map((one) => <li><Value name={name} value={one} /></li>)}{value.length > 50 && <li class="quiet">and {count(value.length - 50)} more</li>}</ul>;
  if (typeof value !== "object" || value === null) {
    if ((name === "prev_row" || name === "next_row") && typeof value === "number") return <button type="button" onClick={() => void choose(value)}>go there</button>;
    return <>{show(value, unitOf(name))}</>;
  }
  const fields = value as Record<string, unknown>;
  if ("value" in fields && "unit" in fields) {
    return <>{show(fields["value"], String(fields["unit"] ?? ""))}{typeof fields["basis"] === "string" && <span class="quiet"> {fields["basis"]}</span>}</>;
  }
  if (typeof fields["id"] === "string" && typeof fields["name"] === "string") {
    return <>{visible(fields["name"])} <a class="chip" href={link("timeline", { subject: fields["id"], title: fields["name"] })}>All its events</a></>;
  }
  if (typeof fields["file"] === "string") {
    const line = fields["line"] as number | undefined;
    return <a href={link("source", { file: fields["file"], line })}>{visible(fields["file"])}{line === undefined || line === null ? "" : `:${line}`}</a>;
  }
  if (typeof fields["row"] === "number") {
    const row = fields["row"];
    const at = numberOf(fields["start_ns"]);
    const rest = [fields["name"] ?? fields["thread"], numberOf(fields["duration_ns"]) === undefined ? undefined : time(numberOf(fields["duration_ns"]) ?? 0)].filter((part) => part !== undefined && part !== null);
    return <><button type="button" onClick={() => void choose(row)}>{rest.length === 0 ? `event ${row}` : visible(String(rest.join(", ")))}</button>{at !== undefined && <span class="quiet"> at {time(at)}</span>}</>;
  }
  return <Pairs found={fields} />;
}
