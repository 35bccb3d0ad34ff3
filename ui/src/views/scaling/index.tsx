// How time grows with size, where a benchmark was opened; else how the steps of one run drift.

import { useRef, useState } from "preact/hooks";
import { dark } from "../../context";
import { count, plural, seconds, threeDigits, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { fill } from "../../draw/palette";
import { Listing, type Listed } from "../../parts/listing";
import { drawingWidth } from "../../parts/save";
import { SaveAs } from "../../parts/save-as";
import { CopyTable } from "../../parts/copy-table";
import { decades, part, span } from "../../parts/scale";

type Place = [size: number, seconds: number];
interface Line { operation: string; points: Place[]; fit: { exponent: number; from: Place; to: Place; next_s: number | null; low_s: number | null; high_s: number | null } | null }
interface Scaling { of: "sizes" | "steps"; notes: { severity: string; message: string; count: number }[]; tables: Listed[]; chart: { next: number | null; lines: Line[] } | null }

export default function ScalingView() {
  return (
    <Answer<Scaling> path="scaling">
      {(answer) => (
        <>
          {answer.notes.map((note) => <p class="quiet">{note.severity}: {note.count > 1 ? `${count(note.count)} ` : ""}{visible(note.message)}</p>)}
          {answer.of === "steps" && <p class="quiet">One capture has one size: these are its steps. Open directories of `ridgeline bench` to see growth over sizes.</p>}
          {answer.chart !== null && answer.chart.lines.length > 0 && <Growth lines={answer.chart.lines} next={answer.chart.next} />}
          {answer.tables.map((table) => <Listing key={table.name} of={table} />)}
          {answer.tables.length === 0 && <p>There are no sizes or steps.</p>}
        </>
      )}
    </Answer>
  );
}

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [400, 74, 20, 14, 42];
const SHOWN = 8;

function Growth({ lines, next }: { lines: Line[]; next: number | null }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const width = drawingWidth(760);
  const drawn = lines.slice(0, SHOWN);
  const xs = span([...drawn.flatMap((line) => line.points.map(([size]) => size)), ...(next === null ? [] : [next])], 0.5);
  const ys = span(drawn.flatMap((line) => [...line.points.map(([, secs]) => secs), line.fit?.next_s ?? 0, line.fit?.low_s ?? 0, line.fit?.high_s ?? 0]));
  const x = (size: number) => LEFT + part(size, xs) * (width - LEFT - RIGHT);
  const y = (secs: number) => HEIGHT - BOTTOM - part(Math.max(secs, ys[0]), ys) * (HEIGHT - TOP - BOTTOM);
  const color = (n: number) => fill([3, 0, 1, 5, 7, 8, 2, 4][n] ?? 15, dark.value);
  const sizes = [...new Set([...drawn.flatMap((line) => line.points.map(([size]) => size)), ...(next === null ? [] : [next])])].sort((a, b) => b - a);
  const named: number[] = [];
  for (const size of sizes) if (named.every((other) => Math.abs(x(other) - x(size)) > 34)) named.push(size);
  const words = (line: Line) => `${line.operation}: ${line.fit === null ? "one size" : `N^${threeDigits(line.fit.exponent)}`}, ${line.points.map(([size, secs]) => `${size} ${seconds(secs)}`).join(", ")}`;
  return (
    <section aria-label="Growth">
      <h2>Time by size</h2>
      <div class="split">
        <figure class="wide">
          <svg ref={drawing} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Time by size. ${drawn.map(words).join(". ")}`}>
            <g class="axes">
              {decades(ys).map((value) => <g key={`y${value}`}><line x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} /><text x={LEFT - 6} y={y(value) + 4} text-anchor="end">{seconds(value)}</text></g>)}
              {named.map((size) => <g key={`x${size}`}><line x1={x(size)} x2={x(size)} y1={TOP} y2={HEIGHT - BOTTOM} /><text x={x(size)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{threeDigits(size)}</text></g>)}
              <text x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">size</text>
            </g>
            {drawn.map((line, n) => (
              <g key={line.operation} opacity={at === undefined || at === n ? 1 : 0.2} onPointerEnter={() => setAt(n)} onPointerLeave={() => setAt(undefined)}>
                <title>{visible(words(line))}</title>
                {line.fit !== null && <line x1={x(line.fit.from[0])} y1={y(line.fit.from[1])} x2={x(line.fit.to[0])} y2={y(line.fit.to[1])} stroke={color(n)} stroke-width={2} />}
                {line.fit !== null && next !== null && line.fit.next_s !== null && (
                  <>
                    <line x1={x(line.fit.to[0])} y1={y(line.fit.to[1])} x2={x(next)} y2={y(line.fit.next_s)} stroke={color(n)} stroke-width={1.5} stroke-dasharray="5 4" />
                    {line.fit.low_s !== null && line.fit.high_s !== null && <line x1={x(next)} x2={x(next)} y1={y(line.fit.low_s)} y2={y(line.fit.high_s)} stroke={color(n)} stroke-width={2} />}
                    <circle cx={x(next)} cy={y(line.fit.next_s)} r={5} fill="var(--paper)" stroke={color(n)} stroke-width={2} />
                  </>
                )}
                {line.points.map(([size, secs]) => <circle key={size} cx={x(size)} cy={y(secs)} r={4} fill={color(n)} stroke="var(--ink)" stroke-opacity={0.5} />)}
              </g>
            ))}
          </svg>
          <figcaption><span class="quiet">Disks are measured, rings extrapolated with their 95% interval. </span><SaveAs of={drawing} name="scaling" rows={() => [["operation", "size", "seconds"], ...lines.flatMap((line) => line.points.map(([size, secs]) => [line.operation, size, secs]))]} /></figcaption>
        </figure>
        <div class="list" role="region" aria-label="Operations" tabIndex={0}>
          <table>
            <thead><tr><th>Operation</th><th class="n">Grows as</th><th class="n">At the largest</th></tr></thead>
            <tbody>{lines.map((line, n) => <tr key={line.operation} class={n === at ? "chosen" : ""} onPointerEnter={() => setAt(n < SHOWN ? n : undefined)}><td>{n < SHOWN && <i class="swatch" style={{ background: color(n) }} />}{visible(line.operation)}</td><td class="n">{line.fit === null ? "–" : `N^${threeDigits(line.fit.exponent)}`}</td><td class="n">{seconds(line.points.at(-1)?.[1] ?? 0)}</td></tr>)}</tbody>
          </table>
          <CopyTable name="growth" rows={() => [["operation", "exponent", "size", "seconds"], ...lines.map((line) => [line.operation, line.fit?.exponent ?? null, ...(line.points.at(-1) ?? [null, null])])]} />
        </div>
      </div>
      {lines.length > SHOWN && <p class="quiet">{plural(lines.length - SHOWN, "smaller operation")} not drawn.</p>}
    </section>
  );
}
