// Memory in use over time, and what held it at the peak.

import { useRef, useState } from "preact/hooks";
import { capture } from "../../context";
import { link } from "../../address";
import { bytes, count, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { drawingWidth } from "../../parts/save";
import { SaveAs } from "../../parts/save-as";
import { Schedules } from "./schedule";
import { Grid } from "../tables/grid";

interface Held { owner: string; stack: string[]; bytes: number; blocks: number; since_ns: number }
/** Start, most, last, reserved, events. */
type Point = [number, number, number, number | null, number];
interface Allocator { id: string; name: string; points: Point[]; peak_bytes: number; peak_ns: number; alive_at_peak: Held[]; unknown_at_peak_bytes: number }

/** Tables that only compiled modules fill. */
const PLANNED = ["module", "alive", "donation"];

export default function Memory() {
  const views = (capture.value?.topics.find((topic) => topic.id === "memory")?.views ?? []).filter((view) => view.answered !== false && (capture.value?.has["hlo"] !== false || !PLANNED.includes(view.id)));
  return (
    <Answer<{ allocators: Allocator[] }> path="chart/memory">
      {({ allocators }) => (
        <>
          {allocators.map((one) => <Use key={one.id} of={one} />)}
          {allocators.length === 0 && <p>This capture has no allocator's events, so no use over time.{views.length > 0 ? " What the compiler planned is below." : ""}</p>}
          {capture.value?.has["hlo"] !== false && <Schedules />}
          {views[0] !== undefined && (
            <section>
              <h2>By {views[0].title}</h2>
              <Grid topic="memory" view={views[0].id} about={views[0].about} />
              {views.length > 1 && <p>More tables: {views.slice(1).map((view) => <><a href={link("tables", { topic: "memory", view: view.id })}>{view.title}</a>{" "}</>)}</p>}
            </section>
          )}
        </>
      )}
    </Answer>
  );
}

const [HEIGHT, LEFT, BOTTOM] = [240, 80, 26];
const LISTED = 60;

function Use({ of }: { of: Allocator }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const { points } = of;
  const WIDTH = drawingWidth(900);
  const [first, last] = [points[0]?.[0] ?? 0, Math.max((points[0]?.[0] ?? 0) + 1, points.at(-1)?.[0] ?? 1)];
  const reserved = points.reduce((most, point) => Math.max(most, point[3] ?? 0), 0);
  const most = Math.max(1, of.peak_bytes, reserved);
  const x = (ns: number) => LEFT + ((ns - first) / (last - first)) * (WIDTH - LEFT - 8);
  const y = (value: number) => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - 14);
  const area = (value: (point: Point) => number) => points.map((point, n) => `${n === 0 ? "" : `H${x(point[0]).toFixed(1)}`}V${y(value(point)).toFixed(1)}`).join("");
  const shape = `M${x(first)} ${y(0)}${area((point) => point[1])}V${y(0)}Z`;
  const now = at === undefined ? undefined : points[at];
  const point = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const ns = first + (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - 8) * (last - first);
    let nearest = 0;
    points.forEach((one, n) => { if (one[0] <= ns) nearest = n; });
    setAt(nearest);
  };
  const whole = of.alive_at_peak.reduce((sum, held) => sum + held.bytes, of.unknown_at_peak_bytes);
  return (
    <section aria-label={of.name}>
      <h2>{visible(of.name)}: peak {bytes(of.peak_bytes)} <span class="quiet">at {time(of.peak_ns)}</span></h2>
      <figure>
        <svg ref={drawing} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Memory in use, most ${bytes(of.peak_bytes)} at ${time(of.peak_ns)}`} onPointerMove={point} onPointerLeave={() => setAt(undefined)}>
          <g class="axes">
            {[0, 0.25, 0.5, 0.75, 1].map((part) => <g key={part}><line x1={LEFT} x2={WIDTH - 8} y1={y(part * most)} y2={y(part * most)} /><text x={LEFT - 6} y={y(part * most) + 4} text-anchor="end">{bytes(part * most)}</text></g>)}
            {[0, 0.5, 1].map((part) => <text key={part} x={x(first + part * (last - first))} y={HEIGHT - 6} text-anchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}>{time(first + part * (last - first))}</text>)}
          </g>
          {reserved > 0 && <path class="reserved" d={`M${x(first)} ${y(points[0]?.[3] ?? 0)}${area((one) => one[3] ?? 0)}`} />}
          <path class="used" d={shape} />
          <line class="peak" x1={x(of.peak_ns)} x2={x(of.peak_ns)} y1={10} y2={y(0)} />
          {now !== undefined && <line class="cursor" x1={x(now[0])} x2={x(now[0])} y1={10} y2={y(0)} />}
        </svg>
        <figcaption>
          {now === undefined ? <span class="quiet">The line is the peak.{reserved > 0 ? " Dashed: what the allocator reserved." : ""}</span>
            : <span>At {time(now[0])}: {bytes(now[2])} in use, most {bytes(now[1])}{now[3] === null ? "" : `, ${bytes(now[3])} reserved`}</span>}
          <span class="actions"><SaveAs of={drawing} name="memory" rows={() => [["start_ns", "most_bytes", "last_bytes", "reserved_bytes", "events"], ...points]} /></span>
        </figcaption>
      </figure>
      {of.alive_at_peak.length > 0 && (
        <div class="list tall" role="region" aria-label="Alive at the peak" tabIndex={0}>
          <table>
            <caption>Alive at the peak</caption>
            <thead><tr><th class="n">Bytes</th><th class="n">Blocks</th><th class="n">Since</th><th>Made by</th></tr></thead>
            <tbody>
              {of.alive_at_peak.slice(0, LISTED).map((held) => (
                <tr><td class="n"><Meter share={held.bytes / Math.max(1, whole)} />{bytes(held.bytes)}</td><td class="n">{count(held.blocks)}</td><td class="n">{time(held.since_ns)}</td><td class="name" title={held.stack.map(visible).join("\n")}>{visible(held.owner !== "" ? held.owner : held.stack[0] ?? "not said")}</td></tr>
              ))}
              {of.unknown_at_peak_bytes > 0 && <tr><td class="n">{bytes(of.unknown_at_peak_bytes)}</td><td /><td /><td class="quiet">from before the capture, or of unknown origin</td></tr>}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
