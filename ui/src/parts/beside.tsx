// Two timelines on one axis: each track of one above the same track of the other, what belongs together joined.

import { useMemo, useRef, useState } from "preact/hooks";
import { dark, source } from "../context";
import { fill } from "../draw/palette";
import { instant, plural, short, time, visible } from "../format";
import type { Query } from "../source/source";
import { useAnswer, Awaited, Missing } from "./answer";
import { Keys } from "./columns";
import { band, type BesideAnswer, type Box, boxAt, boxesOf, HEAD, pairs, paths, placed, ticks } from "./pieces";
import { drawingWidth } from "./save";
import { SaveAs } from "./save-as";
import "./beside.css";

const [LEFT, RIGHT] = [8, 8];
/** Bands between what belongs together that are drawn at once. */
const MOST_BANDS = 200;

type Part = { from: number; to: number } | undefined;

/** The picture of an answer; a closer look asks for that part of it. `lit` is a name whose events stand out. */
export function Beside(props: { path: string; query: Query; first: BesideAnswer; lit?: string | undefined; titles: [string, string]; predicted?: boolean }) {
  const [part, look] = useState<Part>(undefined);
  const state = useAnswer<BesideAnswer>(props.path, part === undefined ? props.query : { ...props.query, ...part });
  const of = part === undefined ? props.first : state.is === "there" ? state.value : undefined;
  const shown = useRef(props.first);
  if (of !== undefined) shown.current = of;
  const { long_ns: long } = props.first;
  const now = part ?? { from: 0, to: long };
  const zoom = (by: number) => {
    const [middle, half] = [(now.from + now.to) / 2, ((now.to - now.from) / 2) * by];
    look(half * 2 >= long ? undefined : around(middle, half, long));
  };
  const pan = (by: number) => look(part === undefined ? undefined : around((now.from + now.to) / 2 + by * (now.to - now.from), (now.to - now.from) / 2, long));
  return (
    <div class="beside-picture">
      {source().live && (
        <div class="tools" role="group" aria-label="Zoom of both timelines">
          <span class="quiet">{time(now.to - now.from)} of {time(long)}</span>
          <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>+</button>
          <button type="button" aria-label="Zoom out" onClick={() => zoom(2)} disabled={part === undefined}>−</button>
          <button type="button" aria-label="Earlier" onClick={() => pan(-0.5)} disabled={part === undefined}>←</button>
          <button type="button" aria-label="Later" onClick={() => pan(0.5)} disabled={part === undefined}>→</button>
          <button type="button" onClick={() => look(undefined)} disabled={part === undefined}>All</button>
          <span class="quiet">or drag over the picture</span>
        </div>
      )}
      {part !== undefined && state.is === "missing" ? <Missing text={state.text} hint={state.hint} /> : <Picture of={shown.current} lit={props.lit} titles={props.titles} predicted={props.predicted === true} look={(from, to) => look(around((from + to) / 2, (to - from) / 2, long))} />}
      {part !== undefined && state.is === "awaited" && <Awaited />}
    </div>
  );
}

function around(middle: number, half: number, long: number): Part {
  const size = Math.max(20, Math.min(long, 2 * half));
  const from = Math.max(0, Math.min(long - size, middle - size / 2));
  return { from: Math.round(from), to: Math.round(from + size) };
}

function Picture(props: { of: BesideAnswer; lit: string | undefined; titles: [string, string]; predicted: boolean; look: (from: number, to: number) => void }) {
  const { of } = props;
  const drawing = useRef<SVGSVGElement>(null);
  const [hover, setHover] = useState<Box | undefined>(undefined);
  const [drag, setDrag] = useState<[number, number] | undefined>(undefined);
  const width = drawingWidth(1180);
  const isDark = dark.value;
  const { rows, height } = useMemo(() => placed(of), [of]);
  const boxes = useMemo(() => boxesOf(of, rows, LEFT, width - LEFT - RIGHT), [of, rows, width]);
  const matches = useMemo(() => pairs(boxes), [boxes]);
  const name = (box: Box) => of.names[box.piece[4]] ?? "";
  const isLit = (box: Box) => props.lit !== undefined && name(box) === props.lit;
  const color = (box: Box) => fill(of.categories[box.piece[3]]?.color_index ?? 15, isDark);
  const bands = hover !== undefined && matches.has(hover) ? [[hover, matches.get(hover) as Box] as const] : [...matches].filter(([box]) => box.half === 0 && isLit(box)).slice(0, MOST_BANDS);
  const scale = (width - LEFT - RIGHT) / Math.max(1, of.to_ns - of.from_ns);
  const x = (ns: number) => LEFT + (ns - of.from_ns) * scale;
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height] as const;
  };
  const marks = ticks(of.from_ns, of.to_ns, width);
  const step = (marks[1] ?? 2) - (marks[0] ?? 1);
  const end = (half: 0 | 1) => Math.max(LEFT, Math.min(width - RIGHT, x(of.halves[half].long_ns)));
  const finish = (event: PointerEvent) => {
    if (drag !== undefined && Math.abs(drag[1] - drag[0]) > 6) props.look(of.from_ns + (Math.min(...drag) - LEFT) / scale, of.from_ns + (Math.max(...drag) - LEFT) / scale);
    else if (event.pointerType !== "mouse") setHover(boxAt(boxes, ...at(event)));
    setDrag(undefined);
  };
  const deeper = of.halves.reduce((sum, half) => sum + half.deeper_left_out, 0);
  return (
    <figure>
      <svg
        class="beside-svg" ref={drawing} viewBox={`0 0 ${width} ${height}`} role="img"
        aria-label={`${props.titles[0]}, ${time(of.halves[0].long_ns)}, above ${props.titles[1]}, ${time(of.halves[1].long_ns)}, track by track`}
        onPointerDown={(event) => { if (source().live) { event.currentTarget.setPointerCapture(event.pointerId); setDrag([at(event)[0], at(event)[0]]); } }}
        onPointerMove={(event) => (drag === undefined ? setHover(boxAt(boxes, ...at(event))) : setDrag([drag[0], at(event)[0]]))}
        onPointerUp={finish} onPointerLeave={() => setHover(undefined)} onPointerCancel={() => setDrag(undefined)}
      >
        <g class="axes">{marks.map((ns) => <g key={ns}><line x1={x(ns)} x2={x(ns)} y1={HEAD - 6} y2={height} /><text x={x(ns)} y={HEAD - 10} text-anchor={x(ns) > width - 50 ? "end" : x(ns) < 30 ? "start" : "middle"}>{ns === 0 ? "0" : instant(ns, step)}</text></g>)}</g>
        {rows.map((row) => (
          <g key={row.track} class="beside-row">
            <text x={LEFT} y={row.top + 10}>{visible(short(row.name, Math.floor(width / 9)))}</text>
            {([0, 1] as const).map((half) => {
              const strip = row.strips[half];
              const high = strip.lanes * 14 - 2;
              return <g key={half}><rect class={half === 0 ? "ground one" : "ground other"} x={LEFT} y={strip.top} width={Math.max(0, end(half) - LEFT)} height={high} />{of.halves[half].long_ns <= of.to_ns && <line class={half === 0 ? "end one" : props.predicted ? "end other predicted" : "end other"} x1={end(half)} x2={end(half)} y1={strip.top - 1} y2={strip.top + high + 1} />}</g>;
            })}
          </g>
        ))}
        <g opacity={props.lit === undefined ? 1 : 0.25}>{paths(boxes.filter((box) => !isLit(box)), color).map(([shade, path]) => <path key={shade} d={path} fill={shade} />)}</g>
        {props.lit !== undefined && <g>{paths(boxes.filter(isLit), color).map(([shade, path]) => <path key={shade} d={path} fill={shade} class="lit" />)}</g>}
        <g class="bands">{bands.map(([one, other], n) => <path key={n} d={band(one, other)} />)}</g>
        {hover !== undefined && [hover, ...(matches.has(hover) ? [matches.get(hover) as Box] : [])].map((box, n) => <rect key={n} class="chosen" x={box.x - 1} y={box.y - 1} width={box.width + 2} height={box.height + 2} />)}
        {drag !== undefined && <rect class="drag" x={Math.min(...drag)} y={0} width={Math.abs(drag[1] - drag[0])} height={height} />}
        {props.predicted && <text class="stamp" x={width - RIGHT} y={height - 6} text-anchor="end">lower rows: predicted, not measured</text>}
      </svg>
      <figcaption>
        <p class="said-here">{hover === undefined ? <span class="quiet">Of each track the upper row is {props.titles[0]}, the lower one {props.titles[1]}. Point at an event to see where it is in the other one.</span> : words(of, hover, matches.get(hover), props.titles)}</p>
        <Keys of={of.categories.filter((_, at) => boxes.some((box) => box.piece[3] === at)).map((one) => ({ name: one.name, color: fill(one.color_index, isDark) }))} />
        <SaveAs of={drawing} name="beside" rows={() => [["side", "track", "name", "start_ns", "duration_ns", "events"], ...boxes.map((box) => [props.titles[box.half], rows.find((row) => row.track === box.track)?.name ?? "", name(box), box.piece[1], box.piece[2], box.piece[6]])]} />
        {(of.tracks_left_out > 0 || deeper > 0) && <p class="quiet">{[of.tracks_left_out > 0 ? `${plural(of.tracks_left_out, "less busy track")} not drawn` : "", deeper > 0 ? `${plural(deeper, "call")} below the sixth level not drawn` : ""].filter((text) => text !== "").join("; ")}.</p>}
      </figcaption>
    </figure>
  );
}

const signed = (ns: number) => `${ns > 0 ? "+" : ns < 0 ? "−" : ""}${time(Math.abs(ns))}`;

function words(of: BesideAnswer, box: Box, match: Box | undefined, titles: [string, string]): string {
  const { piece, half } = box;
  const name = visible(short(of.names[piece[4]] ?? "", 70));
  if (piece[6] > 1) return `${plural(piece[6], "event")} in ${time(piece[2])}, busy ${time(piece[7])}; the longest is ${name}. Zoom in to see each.`;
  if (match === undefined) return `${name}: ${time(piece[2])} at ${time(piece[1])} in ${titles[half]}; nothing drawn by itself in ${titles[half === 0 ? 1 : 0]} belongs to it.`;
  const [one, other] = half === 0 ? [piece, match.piece] : [match.piece, piece];
  return `${name}: ${time(one[2])} in ${titles[0]}, ${time(other[2])} in ${titles[1]} (${signed(other[2] - one[2])}); starts at ${time(one[1])} and ${time(other[1])} (${signed(other[1] - one[1])}).`;
}
