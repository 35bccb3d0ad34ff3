// Which parts other hardware would speed up: a verdict for each region, and predicted times with their intervals.

import { useRef, useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { source } from "../../context";
import { bytes, count, plural, share, threeDigits, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { drawingWidth } from "../../parts/save";
import { SaveAs } from "../../parts/save-as";
import { decades, part, span } from "../../parts/scale";
import { Ticked } from "../../parts/ticked";
import { CopyTable } from "../../parts/copy-table";
import "./style.css";

interface Times { p10_ns: number; p50_ns: number; p90_ns: number }
interface Factors { p10: number; p50: number; p90: number }
interface Board extends Times {
  id: string; name: string; speedup: Factors; program_speedup: number; resident: Times | null; break_even_calls: number | null; bound: string | null;
  parts: Record<string, number> | null; energy: { ratio: Factors; basis: string } | null; unverified: string[];
}
interface Region {
  name: string; location: { file: string; line: number; inferred: boolean } | null; module: string | null; share: number; self_ns: number; calls: number;
  verdict: string; why: string; class: string | null; call: Times | null; headroom: number | null; fix: { name: string; text: string } | null; launches: number;
  bytes: { input: number; output: number; compulsory: number } | null; operations: { name: string; self_ns: number; executions: number }[]; boards: Board[];
  swings: { what: string; from_ns: number; to_ns: number }[];
}
interface Offload {
  headline: string; baseline: { device: string; times: string; design_watts: number | null }; regions: Region[];
  others: { regions: number; share: number }; assumptions: string[]; notes: { severity: string; message: string }[];
}

const ASKED = ["as", "board", "to", "what_if"] as const;

export default function OffloadView() {
  const params = place.peek().params;
  const [query, setQuery] = useState<Record<string, string>>(Object.fromEntries(ASKED.flatMap((key) => (params.has(key) ? [[key, params.get(key) ?? ""]] : []))));
  const ask = (event: Event & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const next: Record<string, string> = {};
    for (const key of ASKED) {
      const text = (event.currentTarget.elements.namedItem(key) as HTMLInputElement).value.trim();
      if (text !== "") next[key] = text;
    }
    setQuery(next);
    keep(Object.fromEntries(ASKED.map((key) => [key, next[key]])));
  };
  return (
    <>
      {source().live && (
        <form class="tools" aria-label="Options" onSubmit={ask}>
          <label>Target GPU <input name="as" defaultValue={query["as"] ?? ""} placeholder="h100" size={8} /></label>
          <label>Boards <input name="board" defaultValue={query["board"] ?? ""} placeholder="all" size={10} /></label>
          <label>Other GPU <input name="to" defaultValue={query["to"] ?? ""} placeholder="none" size={8} /></label>
          <label>What if <input name="what_if" defaultValue={query["what_if"] ?? ""} placeholder="clock=250MHz,resident=100" size={26} /></label>
          <button type="submit">Estimate</button>
        </form>
      )}
      <Answer<Offload> path="offload" query={query}>{(answer) => <Shown answer={answer} />}</Answer>
    </>
  );
}

function Shown({ answer }: { answer: Offload }) {
  return (
    <>
      <p class="headline">{visible(answer.headline)}</p>
      <p class="quiet">Compared with {visible(answer.baseline.device)}, times {answer.baseline.times}. Every time on a board is predicted: dots are medians, lines go from the 10th to the 90th percentile.</p>
      <div class="causes">{answer.regions.map((region, at) => <OneRegion key={at} region={region} device={answer.baseline.device} />)}</div>
      {answer.others.regions > 0 && <p class="quiet">{count(answer.others.regions)} smaller regions hold {share(answer.others.share)}.</p>}
      {answer.regions.length === 0 && <p>No region of this program is large enough to analyze.</p>}
      <h2>Assumptions</h2>
      <ul class="rules">{answer.assumptions.map((line) => <li><Ticked text={line} /></li>)}</ul>
      {answer.notes.map((note) => <p class="quiet">{note.severity}: {visible(note.message)}</p>)}
    </>
  );
}

/** Words of verdicts whose name in JSON is another. */
const WORDS: Record<string, string> = { "GPU first": "fix first" };
const GRAVE: Record<string, string> = { candidate: "good", undecided: "warning" };

function OneRegion({ region, device }: { region: Region; device: string }) {
  return (
    <article class={`cause ${GRAVE[region.verdict] ?? ""}`}>
      <h3>{visible(region.name)} <span class="tag">{WORDS[region.verdict] ?? region.verdict}</span></h3>
      <p class="where">
        <Meter share={region.share} /> {share(region.share)} of the device time
        {region.call !== null && <span class="holds">{time(region.call.p50_ns)} per call</span>}
        {region.location !== null && <span class="holds"><a href={link("source", { file: region.location.file, line: region.location.line })}>{visible(region.location.file)}:{region.location.line}</a>{region.location.inferred ? " (inferred)" : ""}</span>}
      </p>
      <p><Ticked text={region.why} /></p>
      {region.fix !== null && <p><b>Fix first:</b> <Ticked text={region.fix.text} /></p>}
      {region.boards.length > 0 && <Boards region={region} device={device} />}
      <details>
        <summary>{region.class === null ? "" : `${region.class}, `}{plural(region.operations.length, "operation")}, {threeDigits(region.calls)} {region.calls === 1 ? "call" : "calls"}, {threeDigits(region.launches)} {region.launches === 1 ? "launch" : "launches"} per call{region.bytes === null ? "" : `, ${bytes(region.bytes.input)} in and ${bytes(region.bytes.output)} out`}</summary>
        <CopyTable name="region" rows={() => [["operation", "self_ns", "runs"], ...region.operations.map((op) => [op.name, op.self_ns, op.executions])]} /><table class="small"><thead><tr><th>Operation</th><th class="n">Time</th><th class="n">Runs</th></tr></thead><tbody>{region.operations.slice(0, 40).map((op) => <tr><td class="name">{region.module === null ? visible(op.name) : <a href={link("graph", { module: region.module, op: op.name })}>{visible(op.name)}</a>}</td><td class="n">{time(op.self_ns)}</td><td class="n">{count(op.executions)}</td></tr>)}</tbody></table>
        {region.swings.length > 0 && <><h3>Sensitivity of the fastest board's time</h3><table class="small"><tbody>{region.swings.map((one) => <tr><td>{visible(one.what)}</td><td class="n">{time(one.from_ns)} to {time(one.to_ns)}</td></tr>)}</tbody></table></>}
      </details>
    </article>
  );
}

const [ROW, NAMES, FIGURES, TOP, BOTTOM] = [22, 170, 190, 8, 26];

/** A line for each board, from its 10th to its 90th percentile, on one axis with the measured call. */
function Boards({ region, device }: { region: Region; device: string }) {
  const drawing = useRef<SVGSVGElement>(null);
  const width = drawingWidth(900);
  const isNarrow = width < 640;
  const [left, right] = isNarrow ? [116, 74] : [NAMES, FIGURES];
  const { boards, call } = region;
  const height = TOP + ROW * boards.length + BOTTOM;
  const ends = span([...boards.flatMap((board) => [board.p10_ns, board.p90_ns]), ...(call === null ? [] : [call.p50_ns])]);
  const x = (ns: number) => left + part(Math.max(ns, ends[0]), ends) * (width - left - right);
  const factor = (value: number) => (value < 0.01 ? "<0.01" : threeDigits(value));
  const words = (board: Board) => `${board.name}: ${time(board.p50_ns)}, ${time(board.p10_ns)} to ${time(board.p90_ns)}, ${factor(board.speedup.p50)} times as fast (${factor(board.speedup.p10)} to ${factor(board.speedup.p90)})${board.bound === null ? "" : `, bound by ${board.bound}`}${board.unverified.length > 0 ? `; unverified: ${board.unverified.join(", ")}` : ""}`;
  return (
    <figure>
      <svg class="boards" ref={drawing} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`A call on ${device}${call === null ? "" : `: ${time(call.p50_ns)}`}. ${boards.map(words).join(". ")}`}>
        <g class="axes">{decades(ends).map((value) => <g key={value}><line x1={x(value)} x2={x(value)} y1={TOP} y2={height - BOTTOM} /><text x={x(value)} y={height - 8} text-anchor="middle">{time(value)}</text></g>)}</g>
        {call !== null && <><line class="peak" x1={x(call.p50_ns)} x2={x(call.p50_ns)} y1={TOP} y2={height - BOTTOM} /></>}
        {boards.map((board, at) => {
          const y = TOP + ROW * at + ROW / 2;
          return (
            <g key={board.id} class={board.speedup.p10 > 1 ? "board gains" : board.speedup.p90 < 1 ? "board loses" : "board"}>
              <title>{words(board)}</title>
              <rect class="catch" x={0} y={y - ROW / 2} width={width} height={ROW} />
              <text x={left - 8} y={y + 4} text-anchor="end">{isNarrow ? board.id : board.name}{board.unverified.length > 0 ? "*" : ""}</text>
              <line x1={x(board.p10_ns)} x2={x(board.p90_ns)} y1={y} y2={y} />
              <circle cx={x(board.p50_ns)} cy={y} r={4.5} />
              <text x={width - right + 8} y={y + 4}>{isNarrow ? time(board.p50_ns) : `${time(board.p50_ns)} · ${factor(board.speedup.p50)}×${board.bound === null ? "" : ` · ${board.bound}`}`}</text>
            </g>
          );
        })}
      </svg>
      <figcaption>
        {call !== null && <span class="quiet">The upright line is the call on {visible(device)}, {time(call.p50_ns)}.{boards.some((board) => board.unverified.length > 0) ? " * has unverified figures." : ""} </span>}
        <SaveAs of={drawing} name="offload" rows={() => [["board", "p10_ns", "p50_ns", "p90_ns", "speedup_p10", "speedup_p50", "speedup_p90", "bound"], ...boards.map((one) => [one.name, one.p10_ns, one.p50_ns, one.p90_ns, one.speedup.p10, one.speedup.p50, one.speedup.p90, one.bound])]} />
      </figcaption>
    </figure>
  );
}
