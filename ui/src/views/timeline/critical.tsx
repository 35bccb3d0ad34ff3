// The critical path: what the capture's duration depended on, in all or of the chosen range; its events are lit.

import { useEffect } from "preact/hooks";
import { lit } from "../../context";
import { count, plural, share, time, visible } from "../../format";
import { Missing, useAnswer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { CopyTable } from "../../parts/copy-table";
import type { EventRef } from "../../source/types";
import { critical, goTo, putOut, range } from "./state";

interface Path { refused: string | null; total_ns: number; kinds: { name: string; ns: number }[]; count: number; events: EventRef[]; names: { name: string; ns: number; events: number; row: number }[]; names_total: number }

const TITLE = "critical path";

export function CriticalPath() {
  const now = range.value;
  const state = useAnswer<Path>("critical", now === undefined ? {} : { from: now.from, to: now.to });
  const found = state.is === "there" && state.value.refused === null ? state.value : undefined;
  useEffect(() => {
    if (found !== undefined) lit.value = { title: TITLE, count: found.events.length, events: found.events };
    return () => { if (lit.peek()?.title === TITLE) putOut(); };
  }, [found]);
  return (
    <section class="hits" aria-label="Critical path">
      <h2>Critical path <button type="button" class="plain" aria-label="Close the critical path" onClick={() => { critical.value = false; }}>×</button></h2>
      {state.is === "awaited" && <p class="awaited" aria-busy="true">Reading …</p>}
      {state.is === "missing" && <Missing text={state.text} hint={state.hint} />}
      {state.is === "there" && state.value.refused !== null && <Missing text={`No critical path: ${visible(state.value.refused)}.`} />}
      {found !== undefined && <Parts of={found} isPart={now !== undefined} />}
    </section>
  );
}

function Parts({ of, isPart }: { of: Path; isPart: boolean }) {
  const part = (ns: number) => ns / Math.max(1, of.total_ns);
  return (
    <>
      <p>{time(of.total_ns)} {isPart ? "of the range are" : "are"} on the path that the capture's duration depended on, by the recorded and inferred dependencies.</p>
      <ul class="busy">{of.kinds.map((kind) => <li key={kind.name}><span class="name">{kind.name}</span><Meter share={part(kind.ns)} /><span class="n">{share(part(kind.ns))}</span></li>)}</ul>
      <p class="quiet">{plural(of.count, "event")} {of.count > of.events.length ? `on it, the ${count(of.events.length)} longest are highlighted` : "on it"} <CopyTable name="critical-path" rows={() => [["name", "ns", "events"], ...of.names.map((row) => [row.name, row.ns, row.events])]} /></p>
      <ol>{of.names.map((row) => <li key={row.name}><button type="button" class="plain" title={visible(row.name)} onClick={() => void goTo(row.row)}><span class="name">{visible(row.name)}</span><span class="n">{time(row.ns)} <span class="quiet">{count(row.events)} ×</span></span></button></li>)}</ol>
      {of.names_total > of.names.length && <p class="quiet">and {count(of.names_total - of.names.length)} more names</p>}
    </>
  );
}
