// What one allocator had in use over time, with a cursor, and who held it then.

import { useRef, useState } from "preact/hooks";
import { bytes, instant, time, visible } from "../../format";
import { drawingWidth } from "../../parts/save";
import { SaveAs } from "../../parts/save-as";
import { Alive, AliveAt, type Held } from "./alive";

/** Start, most, last, reserved, events. */
type Point = [number, number, number, number | null, number];
export interface Allocator {
  id: string; name: string; points: Point[]; peak_bytes: number; peak_ns: number; alive_at_peak: Held[]; unknown_at_peak_bytes: number;
  /** The last moment of the stretch of each point. */
  ends_ns: number[];
}

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [240, 80, 8, 14, 26];

export function Use({ of }: { of: Allocator }) {
  const [pointed, point] = useState<number | undefined>(undefined);
  const [kept, keep] = useState<number | undefined>(undefined);
  const at = pointed ?? kept;
  const atPeak = Math.max(0, of.points.findIndex((_, n) => (of.ends_ns[n] ?? 0) >= of.peak_ns));
  const now = at === undefined ? undefined : of.points[at];
  const reserved = of.points.some((one) => one[3] !== null);
  const step = Math.max(1, (of.ends_ns[0] ?? 0) - (of.points[0]?.[0] ?? 0));
  return (
    <section aria-label={of.name}>
      <h2>{visible(of.name)}: peak {bytes(of.peak_bytes)} <span class="quiet">at {time(of.peak_ns)}</span></h2>
      <figure>
        <Curve of={of} at={at} point={point} keep={keep} />
        <p class="said-here">
          {now === undefined ? <span class="quiet">The line is the peak.{reserved ? " Dashed: what the allocator reserved." : ""} Point at a time, or move the cursor, to see what is allocated then; click to keep it.</span>
            : <span>Until {instant(of.ends_ns[at ?? 0] ?? now[0], step)}: {bytes(now[2])} in use, peak {bytes(now[1])}{now[3] === null ? "" : `, ${bytes(now[3])} reserved`}</span>}
        </p>
        <div class="tools">
          <label>Cursor <input type="range" min={0} max={of.points.length - 1} value={at ?? atPeak} aria-valuetext={now === undefined ? "at the peak" : time(now[0])} onInput={(event) => keep(Number(event.currentTarget.value))} /></label>
          {kept !== undefined && <button type="button" onClick={() => keep(undefined)}>Back to the peak</button>}
        </div>
      </figure>
      {at === undefined
        ? <Alive title="Alive at the peak" held={of.alive_at_peak} unknown={of.unknown_at_peak_bytes} />
        : <AliveAt allocator={of.id} at={of.ends_ns[at] ?? 0} step={step} />}
    </section>
  );
}

function Curve({ of, at, point, keep }: { of: Allocator; at: number | undefined; point: (at: number | undefined) => void; keep: (at: number) => void }) {
  const drawing = useRef<SVGSVGElement>(null);
  const { points } = of;
  const width = drawingWidth(900);
  const first = points[0]?.[0] ?? 0;
  const last = Math.max(first + 1, points.at(-1)?.[0] ?? 1);
  const reserved = points.reduce((most, one) => Math.max(most, one[3] ?? 0), 0);
  const most = Math.max(1, of.peak_bytes, reserved);
  const x = (ns: number) => LEFT + ((ns - first) / (last - first)) * (width - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP);
  const line = (value: (one: Point) => number) => points.map((one, n) => `${n === 0 ? "" : `H${x(one[0]).toFixed(1)}`}V${y(value(one)).toFixed(1)}`).join("");
  const now = at === undefined ? undefined : points[at];
  const under = (event: MouseEvent & { currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    const ns = first + ((((event.clientX - box.left) / box.width) * width - LEFT) / (width - LEFT - RIGHT)) * (last - first);
    return points.reduce((nearest, one, n) => (one[0] <= ns ? n : nearest), 0);
  };
  const upright = (name: string, ns: number) => <line class={name} x1={x(ns)} x2={x(ns)} y1={10} y2={y(0)} />;
  return (
    <>
      <svg
        ref={drawing} class="use" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Memory in use, most ${bytes(of.peak_bytes)} at ${time(of.peak_ns)}`}
        onPointerMove={(event) => event.pointerType === "mouse" && point(under(event))} onPointerLeave={() => point(undefined)} onClick={(event) => keep(under(event))}
      >
        <g class="axes">
          {[0, 0.25, 0.5, 0.75, 1].map((part) => <g key={part}><line x1={LEFT} x2={width - RIGHT} y1={y(part * most)} y2={y(part * most)} /><text x={LEFT - 6} y={y(part * most) + 4} text-anchor="end">{bytes(part * most)}</text></g>)}
          {[0, 0.5, 1].map((part) => <text key={part} x={x(first + part * (last - first))} y={HEIGHT - 6} text-anchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}>{instant(first + part * (last - first), (last - first) / 2)}</text>)}
        </g>
        {reserved > 0 && <path class="reserved" d={`M${x(first)} ${y(points[0]?.[3] ?? 0)}${line((one) => one[3] ?? 0)}`} />}
        <path class="used" d={`M${x(first)} ${y(0)}${line((one) => one[1])}V${y(0)}Z`} />
        {upright("peak", of.peak_ns)}
        {now !== undefined && upright("cursor", now[0])}
      </svg>
      <SaveAs of={drawing} name="memory" rows={() => [["start_ns", "most_bytes", "last_bytes", "reserved_bytes", "events"], ...points]} />
    </>
  );
}
