// How long the events like the chosen one are: by length, over the capture, by step.

import { useRef } from "preact/hooks";
import { keep } from "../../address";
import { source } from "../../context";
import { count, percent, share, time } from "../../format";
import { useAnswer } from "../../parts/answer";
import { SaveAs } from "../../parts/save-as";
import { goTo } from "./state";

interface Durations {
  of: "operation" | "name"; count: number; total_ns: number; least_ns: number; p50_ns: number; p95_ns: number; most_ns: number; longest: number; shorter_share: number;
  buckets: [from_ns: number, count: number][];
  over_time: { column_ns: number; columns: [start_ns: number, count: number, least: number, median: number, most: number][] };
  by_step: [number: number, count: number, total_ns: number, median: number, most: number][];
}

const [WIDTH, HEIGHT, LEFT, FOOT, HEAD] = [300, 80, 4, 16, 14];

export function EventsLike({ row, ns }: { row: number; ns: number }) {
  const state = useAnswer<Durations>(`durations/${row}`);
  // Reports hold no distributions: one for each operation would not fit.
  if (!source().live || state.is !== "there" || state.value.count < 2) return null;
  const of = state.value;
  return (
    <details class="like" open={new URLSearchParams(location.hash.split("?")[1] ?? "").get("like") !== "0"} onToggle={(event) => keep({ like: event.currentTarget.open ? undefined : 0 })}>
      <summary>{count(of.count)} of this {of.of}</summary>
      <p>Median <b>{time(of.p50_ns)}</b>, p95 {time(of.p95_ns)}, longest <button type="button" class="plain" onClick={() => void goTo(of.longest)} title="Go there">{time(of.most_ns)}</button>. This one: {time(ns)}{of.p50_ns > 0 && ` (${percent((ns - of.p50_ns) / of.p50_ns)} from the median)`}, longer than {share(of.shorter_share)}.</p>
      <ByLength of={of} ns={ns} />
      {of.over_time.columns.length > 1 && <OverTime of={of} />}
      {of.by_step.length > 1 && <BySteps of={of} />}
    </details>
  );
}

/** Where a duration is between the shortest and the longest, from 0 to 1, by ratio. */
const place = (of: Durations, ns: number) => (of.most_ns <= of.least_ns ? 0.5 : Math.max(0, Math.min(1, Math.log(Math.max(1, ns) / Math.max(1, of.least_ns)) / Math.log(Math.max(1, of.most_ns) / Math.max(1, of.least_ns)))));

function ByLength({ of, ns }: { of: Durations; ns: number }) {
  const drawing = useRef<SVGSVGElement>(null);
  const wide = WIDTH - 2 * LEFT;
  const most = Math.max(1, ...of.buckets.map(([, n]) => n));
  const step = wide / of.buckets.length;
  const x = (value: number) => LEFT + place(of, value) * wide;
  const high = HEIGHT - FOOT - HEAD;
  const marks = [["p50", of.p50_ns], ["p95", of.p95_ns], ["max", of.most_ns]] as const;
  // From the right, so that no name stands on another.
  const names = marks.reduceRight<number[]>((places, [, value]) => [Math.min(x(value), (places[0] ?? WIDTH + 14) - 26), ...places], []);
  return (
    <figure class="small-figure">
      <figcaption class="quiet">By duration</figcaption>
      <svg ref={drawing} class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Events by duration, ${time(of.least_ns)} to ${time(of.most_ns)}; median ${time(of.p50_ns)}, p95 ${time(of.p95_ns)}`}>
        {of.buckets.map(([from, n], at) => {
          const tall = n === 0 ? 0 : Math.max(1, (n / most) * high);
          return <g key={at}><title>{`${count(n)} from ${time(from)} to ${time(of.buckets[at + 1]?.[0] ?? of.most_ns)}`}</title><rect class="catch" x={LEFT + at * step} y={HEAD} width={step} height={high} /><rect class="bar" x={LEFT + at * step + 0.5} y={HEAD + high - tall} width={Math.max(0.6, step - 1)} height={tall} /></g>;
        })}
        {marks.map(([name, value], at) => <g key={name}><line class="mark" x1={x(value)} x2={x(value)} y1={HEAD - 2} y2={HEAD + high} /><text x={Math.max(12, names[at] ?? 0)} y={10} text-anchor="middle">{name}</text></g>)}
        <path class="own" d={`M${x(ns) - 4} ${HEIGHT - FOOT + 6}l4 -6l4 6z`} />
        <text x={LEFT} y={HEIGHT - 3}>{time(of.least_ns)}</text>
        <text x={WIDTH - LEFT} y={HEIGHT - 3} text-anchor="end">{time(of.most_ns)}</text>
      </svg>
      <SaveAs of={drawing} name="durations" rows={() => [["from_ns", "events"], ...of.buckets]} />
    </figure>
  );
}

/** The middle as a line, and from the shortest to the longest as a band. */
function OverTime({ of }: { of: Durations }) {
  const drawing = useRef<SVGSVGElement>(null);
  const { columns, column_ns } = of.over_time;
  const [first, last] = [columns[0]?.[0] ?? 0, (columns.at(-1)?.[0] ?? 0) + column_ns];
  const x = (at: number) => LEFT + ((at - first) / Math.max(1, last - first)) * (WIDTH - 2 * LEFT);
  const high = HEIGHT - FOOT - 4;
  const y = (ns: number) => 4 + high - (ns / Math.max(1, of.most_ns)) * high;
  return (
    <figure class="small-figure">
      <figcaption class="quiet">Over the capture, from 0 to {time(of.most_ns)}</figcaption>
      <svg ref={drawing} class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Duration over time in ${columns.length} stretches of ${time(column_ns)}`}>
        <path class="band" d={columns.map(([at, , least, , most]) => `M${x(at).toFixed(1)} ${(y(most) - 0.5).toFixed(1)}h${Math.max(1, x(at + column_ns) - x(at)).toFixed(1)}V${(y(least) + 0.5).toFixed(1)}h${(-Math.max(1, x(at + column_ns) - x(at))).toFixed(1)}z`).join("")} />
        <polyline class="middle" points={columns.map(([at, , , median]) => `${x(at + column_ns / 2).toFixed(1)},${y(median).toFixed(1)}`).join(" ")} />
        {columns.map(([at, n, least, median, most]) => <rect key={at} class="catch" x={x(at)} y={4} width={Math.max(1, x(at + column_ns) - x(at))} height={high}><title>{`${time(at)}: ${count(n)}, ${time(least)} to ${time(most)}, median ${time(median)}`}</title></rect>)}
        <text x={LEFT} y={HEIGHT - 3}>{time(first)}</text>
        <text x={WIDTH - LEFT} y={HEIGHT - 3} text-anchor="end">{time(last)}</text>
      </svg>
      <SaveAs of={drawing} name="durations-over-time" rows={() => [["start_ns", "events", "least_ns", "median_ns", "most_ns"], ...columns]} />
    </figure>
  );
}

function BySteps({ of }: { of: Durations }) {
  const drawing = useRef<SVGSVGElement>(null);
  const steps = of.by_step;
  const step = (WIDTH - 2 * LEFT) / steps.length;
  const most = Math.max(1, ...steps.map(([, , total]) => total));
  const high = HEIGHT - FOOT - 4;
  return (
    <figure class="small-figure">
      <figcaption class="quiet">In all by step, from 0 to {time(most)}</figcaption>
      <svg ref={drawing} class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Time in all of ${steps.length} steps: ${steps.slice(0, 30).map(([number, , total]) => `step ${number} ${time(total)}`).join(", ")}`}>
        {steps.map(([number, n, total, median, longest], at) => <g key={at}><title>{`step ${number}: ${count(n)}, ${time(total)} in all, median ${time(median)}, longest ${time(longest)}`}</title><rect class="catch" x={LEFT + at * step} y={4} width={step} height={high} /><rect class="bar" x={LEFT + at * step + Math.min(0.5, step / 8)} y={4 + high - (total / most) * high} width={Math.max(0.5, step * 0.85)} height={(total / most) * high} /></g>)}
        <text x={LEFT} y={HEIGHT - 3}>step {steps[0]?.[0]}</text>
        <text x={WIDTH - LEFT} y={HEIGHT - 3} text-anchor="end">step {steps.at(-1)?.[0]}</text>
      </svg>
      <SaveAs of={drawing} name="durations-by-step" rows={() => [["step", "events", "total_ns", "median_ns", "most_ns"], ...steps]} />
    </figure>
  );
}
