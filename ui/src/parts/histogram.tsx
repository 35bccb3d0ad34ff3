// How many events are of each length, in powers of two: small enough to stand within a line of words.

import { useRef } from "preact/hooks";
import { count, time } from "../format";
import { SaveAs } from "./save-as";

const [WIDTH, HEIGHT] = [300, 44];

export function Histogram(props: { buckets: readonly (readonly [from: number, count: number])[]; label: string }) {
  const { buckets } = props;
  const drawing = useRef<SVGSVGElement>(null);
  const [first, last] = [buckets[0]?.[0], buckets.at(-1)?.[0]];
  if (first === undefined || last === undefined) return null;
  const places = Math.log2(last / first) + 1;
  const most = Math.max(1, ...buckets.map(([, n]) => n));
  const step = Math.min(40, WIDTH / places);
  return (
    <figure class="small-figure">
      <svg class="histogram" ref={drawing} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${props.label}: ${buckets.map(([from, n]) => `${count(n)} from ${time(from)}`).join(", ")}`}>
        {buckets.map(([from, n]) => {
          const tall = Math.max(1, (n / most) * (HEIGHT - 14));
          return (
            <g key={from}>
              <title>{`${count(n)} from ${time(from)} to ${time(from * 2)}`}</title>
              <rect class="catch" x={Math.log2(from / first) * step} y={0} width={step} height={HEIGHT - 12} />
              <rect class="bar" x={Math.log2(from / first) * step + 0.5} y={HEIGHT - 13 - tall} width={Math.max(1, step - 1)} height={tall} />
            </g>
          );
        })}
        <text x={0} y={HEIGHT - 2}>{time(first)}</text>
        {places > 1 && <text x={Math.min(WIDTH, places * step)} y={HEIGHT - 2} text-anchor="end">{time(last * 2)}</text>}
      </svg>
      <SaveAs of={drawing} name="durations" rows={() => [["from_ns", "events"], ...buckets]} />
    </figure>
  );
}
