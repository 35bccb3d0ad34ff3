// Beside the timeline: what is chosen there, an event, a gap or a range.

import { link } from "../../address";
import { dark, lit } from "../../context";
import { count, plural, time, visible } from "../../format";
import { copy } from "../../parts/save";
import { causeFill } from "../../draw/causes";
import { ExposedCollectives } from "./collectives";
import { CriticalPath } from "./critical";
import { EventsLike } from "./like";
import { fieldsOf, Pairs } from "./pairs";
import { chosen, clear, critical, details, failed, find, gap, goTo, goToHit, hits, listed, lookAround, mark, markers, putOut, range } from "./state";
import { CopyTable } from "../../parts/copy-table";
import type { Details } from "../../source/types";
import { RangeDetails } from "./range";

export function Panel() {
  const nothing = chosen.value === undefined && gap.value === undefined && range.value === undefined && lit.value === undefined && (hits.value?.count ?? 0) === 0 && markers.value.length === 0 && !listed.value && !critical.value;
  if (nothing) return null;
  return (
    <aside class="panel" aria-label="What is chosen">
      <button type="button" class="plain close" onClick={() => { clear(); putOut(); listed.value = false; critical.value = false; void find(""); }} aria-label="Close">×</button>
      {lit.value !== undefined && <LitNow />}
      {failed.value !== undefined && <p class="missing">{failed.value}</p>}
      {chosen.value !== undefined && <EventDetails />}
      {gap.value !== undefined && <GapDetails />}
      {range.value !== undefined && <RangeDetails />}
      {listed.value && <ExposedCollectives />}
      {critical.value && <CriticalPath />}
      <MarkerList />
      <HitList />
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
        {found !== undefined && <CopyTable name="event" title="Copy all" rows={() => fieldsOf(found)} />}
      </div>
      {found === undefined ? <p class="awaited">Reading …</p> : <Pairs found={withLine(found)} skip={["name", "start_ns", "duration_ns", "row", "track_id", ...("track_name" in found ? ["track"] : [])]} />}
      {found !== undefined && <EventsLike key={now.row} row={now.row} ns={now.end - now.start} />}
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
      <div class="actions">
        <button type="button" onClick={() => lookAround(now.start, now.end)}>Zoom to it</button>
        {now.prev !== undefined && <button type="button" onClick={() => void goTo(now.prev as number)}>Work before</button>}
        {now.next !== undefined && <button type="button" onClick={() => void goTo(now.next as number)}>Work behind</button>}
        <a class="chip" href={link("idle", { device: now.device, a: Math.floor(now.start), b: Math.ceil(now.end), tracks: undefined, step: undefined, where: undefined })}>Idle time there</a>
        <a class="chip" href={link("idle", { device: now.device })}>All idle time</a>
        {now.details !== undefined && <CopyTable name="idle" title="Copy all" rows={() => [["start_ns", now.start], ["end_ns", now.end], ["cause", now.cause ?? null], ...fieldsOf(now.details ?? {})]} />}
      </div>
      {now.details !== undefined && <Pairs found={now.details} skip={["cause", "prev", "next", "start_ns", "end_ns", "duration_ns"]} />}
    </>
  );
}

/** Work of a device whose line nothing tells says why. */
function withLine(found: Details): Details {
  if ("source" in found || !WORK.has(String(found["kind"]))) return found;
  return { ...found, source: "Not known: the capture has neither the Python functions around its launch nor its line in a compiled program" };
}

const WORK = new Set(["kernel", "device operation"]);

/** What a search found, each a click away. */
function HitList() {
  const now = hits.value;
  if (now === undefined || now.count === 0) return null;
  return (
    <details class="hits" open>
      <summary>{plural(now.count, "match", "matches")}{now.hits.length < now.count && <span class="quiet">, the first {count(now.hits.length)} listed</span>}</summary>
      <CopyTable name="matches" rows={() => [["name", "start_ns", "duration_ns", "track"], ...now.hits.map((hit) => [hit.name, hit.start_ns, hit.duration_ns, Number(hit.track)])]} />
      <ol>
        {now.hits.map((hit, at) => <li key={hit.row}><button type="button" class="plain" aria-current={at === now.at ? "true" : undefined} title={visible(hit.name)} onClick={() => void goToHit(at)}><span class="name">{visible(hit.name)}</span><span class="n">{time(hit.duration_ns)}</span></button></li>)}
      </ol>
    </details>
  );
}

function MarkerList() {
  const all = markers.value;
  if (all.length === 0) return null;
  return (
    <section class="markers" aria-label="Markers">
      <h2>Markers <CopyTable name="markers" rows={() => [["at_ns", "note"], ...all.map(({ at, note }) => [at, note])]} /></h2>
      <ul>
        {all.map(({ at, note }, n) => (
          <li key={at}>
            <button type="button" class="plain" onClick={() => lookAround(at, at + 1)} title="Go there">{time(at)}</button>
            <input value={note} aria-label={`Note at ${time(at)}`} placeholder="note" onChange={(event) => mark(at, event.currentTarget.value)} />
            <span class="quiet n">{n > 0 && `+${time(at - (all[n - 1]?.at ?? 0))}`}</span>
            <button type="button" class="plain" aria-label={`Remove the marker at ${time(at)}`} onClick={() => mark(at, undefined)}>×</button>
          </li>
        ))}
      </ul>
    </section>
  );
}
