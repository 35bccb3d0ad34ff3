// The program's own file, with what each line did beside it.

import { useEffect, useState } from "preact/hooks";
import { keep, place, selection } from "../../address";
import { capture } from "../../context";
import { count, share, show, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { ChosenPart, sumsOf } from "../../parts/chosen";
import { Ticked } from "../../parts/ticked";
import { CopyTable } from "../../parts/copy-table";
import "./style.css";

interface Line {
  line: number; text: string | null; function: string | null; self_ns: number; inferred_ns: number; share: number; inclusive_ns: number;
  events: number; launches: number; copies: number; idle_ns: number | null; idle: { cause: string; activity: string; ns: number }[];
  flops: number | null; headroom: number | null; bound: string | null; findings: number[];
}
interface File { name: string; text: string | null; self_ns: number; inferred_ns: number; idle_ns: number; lines: Line[]; source?: string[] | null }
interface Annotated { totals: { all_ns: number }; files: File[]; findings: { rule: string; level: string; message: string }[]; footnotes: string[] }
interface Listed { all_ns: number; unknown_ns: number; files: { name: string; device_ns: number; idle_ns: number }[] }

export default function SourceView() {
  if (capture.value?.has["source"] === false) return <None />;
  return <Answer<Listed> path="sources">{(listed) => <Files listed={listed} />}</Answer>;
}

function None() {
  return <div class="missing"><p>This capture doesn't show which source lines its work came from.</p><p class="quiet">`ridgeline record` keeps that; so does PyTorch's profiler with `with_stack=True`.</p></div>;
}

function Files({ listed }: { listed: Listed }) {
  const [name, setName] = useState(place.peek().params.get("file") ?? listed.files[0]?.name);
  if (name === undefined || listed.files.length === 0) return <None />;
  const known = listed.files.some((file) => file.name === name) ? listed.files : [{ name, device_ns: 0, idle_ns: 0 }, ...listed.files];
  return (
    <div class="source">
      <ChosenPart />
      <div class="tools">
        <label>File{" "}
          <select value={name} onChange={(event) => { setName(event.currentTarget.value); keep({ file: event.currentTarget.value, line: undefined }); }}>
            {known.map((file) => <option key={file.name} value={file.name}>{visible(file.name)} — {time(file.device_ns)}</option>)}
          </select>
        </label>
        <span class="quiet">{time(listed.all_ns)} in all, {time(listed.unknown_ns)} ({share(listed.unknown_ns / Math.max(1, listed.all_ns))}) without a line</span>
      </div>
      <Answer<Annotated> path="source" query={{ file: name }}>{(document) => document.files[0] === undefined ? <p class="missing">This file is unknown.</p> : <Lines document={document} file={document.files[0]} />}</Answer>
    </div>
  );
}

const TEXTS: Record<string, string> = { ran: "The source that ran.", changed: "The source that ran; the file has changed since.", today: "The current file, which may differ from what ran." };
const AROUND = 2;
const FEW = 400;

function Lines({ document: said, file }: { document: Annotated; file: File }) {
  const [all, setAll] = useState((file.source?.length ?? 0) <= FEW);
  const selected = useSelected(file.name);
  const wanted = Number(place.peek().params.get("line") ?? 0);
  const known = new Map(file.lines.map((line) => [line.line, line]));
  const total = file.source?.length ?? 0;
  const numbers = total > 0 ? Array.from({ length: total }, (_, at) => at + 1) : [...known.keys()];
  const near = (n: number) => Array.from({ length: 2 * AROUND + 1 }, (_, at) => n - AROUND + at).some((other) => known.has(other) || other === wanted);
  const shown = all ? numbers : numbers.filter(near);
  const hasInferred = file.lines.some((line) => line.inferred_ns > 0);
  const hasIdle = file.lines.some((line) => (line.idle_ns ?? 0) > 0);
  const hasWork = file.lines.some((line) => (line.flops ?? 0) > 0);
  const most = Math.max(...file.lines.map((line) => line.share), 0.0001);
  useEffect(() => {
    const hottest = [...file.lines].sort((one, other) => other.share - one.share)[0]?.line;
    document.getElementById(`line-${wanted > 0 ? wanted : hottest}`)?.scrollIntoView({ block: "center" });
  }, [file.name]);
  let before = 0;
  return (
    <>
      <p class="quiet">{file.text === null ? "The text of this file isn't available; only lines with time are listed." : TEXTS[file.text] ?? ""} {time(file.self_ns)} measured, {time(file.inferred_ns)} inferred.
        {total > FEW && <> <button type="button" onClick={() => setAll(!all)}>{all ? "Only lines with time" : `All ${count(total)} lines`}</button></>}{" "}<CopyTable name="lines" rows={() => [["line", "self_ns", "inclusive_ns", "inferred_ns", "idle_ns", "launches", "flops", "text"], ...file.lines.map((line) => [line.line, line.self_ns, line.inclusive_ns, line.inferred_ns, line.idle_ns ?? 0, line.launches, line.flops ?? null, file.source?.[line.line - 1] ?? line.text ?? null])]} /></p>
      <div class="scroller code" role="region" aria-label={visible(file.name)} tabIndex={0}>
        <table>
          <thead><tr>
            {selected !== undefined && <th class="n"><button type="button" data-about="time of device work within the selection whose innermost line it is">Selected</button></th>}
            <th class="n"><button type="button" data-about="time of work whose innermost line it is, measured">Self</button></th>
            <th class="n wide"><button type="button" data-about="time of work with this line anywhere on its stack, measured">Inclusive</button></th>
            {hasInferred && <th class="n wide"><button type="button" data-about="time attributed to the line from the work around it, inferred">Inferred</button></th>}
            {hasIdle && <th class="n wide"><button type="button" data-about="time in which a device was idle while the host was in that function">Idle</button></th>}
            <th class="n wide"><button type="button" data-about="kernels and operations that ran, without copies">Launches</button></th>
            {hasWork && <th class="n wide"><button type="button" data-about="floating-point operations of the line's own work, counted">Work</button></th>}
            <th class="n">Line</th><th class="t">Text</th>
          </tr></thead>
          <tbody>
            {shown.map((number) => {
              const line = known.get(number);
              const skipped = before > 0 && number > before + 1;
              before = number;
              const heat = line === undefined ? 0 : Math.sqrt(line.share / most);
              return <>
                {skipped && <tr class="cut" aria-hidden="true"><td colSpan={8}>…</td></tr>}
                <tr id={`line-${number}`} class={number === wanted ? "wanted" : ""} style={{ "--heat": heat.toFixed(3) }}>
                  {selected !== undefined && <td class="n">{selected.has(number) ? time(selected.get(number) ?? 0) : ""}</td>}
                  <td class="n">{line !== undefined && line.self_ns > 0 ? time(line.self_ns) : ""}</td>
                  <td class="n quiet wide">{line !== undefined && line.inclusive_ns > 0 ? time(line.inclusive_ns) : ""}</td>
                  {hasInferred && <td class="n quiet wide">{line !== undefined && line.inferred_ns > 0 ? time(line.inferred_ns) : ""}</td>}
                  {hasIdle && <td class="n wide" title={(line?.idle ?? []).map((part) => `${part.cause}, ${part.activity}: ${time(part.ns)}`).join("\n")}>{line !== undefined && (line.idle_ns ?? 0) > 0 ? time(line.idle_ns ?? 0) : ""}</td>}
                  <td class="n quiet wide">{line !== undefined && line.launches > 0 ? count(line.launches) : ""}</td>
                  {hasWork && <td class="n quiet wide">{line !== undefined && (line.flops ?? 0) > 0 ? show(line.flops, "flop") : ""}</td>}
                  <td class="n lineno">{number}</td>
                  <td class="t text">{textOf(file, number, line)}</td>
                </tr>
                {(line?.findings ?? []).map((at) => said.findings[at] === undefined ? null : <tr class="found"><td colSpan={8}>{said.findings[at].level} <code>{said.findings[at].rule}</code>: <Ticked text={said.findings[at].message} /></td></tr>)}
              </>;
            })}
          </tbody>
        </table>
      </div>
      {said.footnotes.map((note) => <p class="quiet">{visible(note)}</p>)}
    </>
  );
}

/** The text of a line; without it, the function that it is in. */
function textOf(file: File, number: number, line: Line | undefined) {
  const text = file.source?.[number - 1] ?? line?.text;
  if (text !== undefined && text !== null) return visibleLine(text);
  return <span class="quiet">{line?.function === undefined || line.function === null || line.function === "" ? "text not available" : `in ${visible(line.function)}; text not available`}</span>;
}

/** Device time within the selection of each line of a file; `undefined` where nothing is chosen. */
function useSelected(file: string): ReadonlyMap<number, number> | undefined {
  const now = selection();
  const [found, setFound] = useState<ReadonlyMap<number, number>>(new Map());
  useEffect(() => {
    if (now === undefined) return;
    void sumsOf(now, 2000).then(({ sides }) => {
      const rows = sides.find((side) => side.side === "device")?.by["line"]?.rows ?? [];
      const places = rows.map((row) => [/^source:(\d+):(.*)$/s.exec(row.subject ?? ""), row.self_ns] as const);
      setFound(new Map(places.filter(([place]) => place?.[2] === file).map(([place, ns]) => [Number(place?.[1]), ns])));
    }).catch(() => setFound(new Map()));
  }, [file, JSON.stringify(now)]);
  return now === undefined ? undefined : found;
}

const visibleLine = (text: string) => visible(text.replaceAll("\t", "    "));
