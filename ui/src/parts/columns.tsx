// Stacked columns: how much of what is in each stretch of time, or of each size.

import type { Ref } from "preact";
import { visible } from "../format";
import { drawingWidth } from "./save";

export interface Column { title: string; parts: { value: number; color: string }[] }

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [210, 80, 10, 10, 28];

interface Props {
  columns: readonly Column[];
  /** What a height means. */
  show: (value: number) => string;
  /** The greatest height; else the highest column's. */
  most?: number;
  /** Names at the foot, by the column that they stand below; with `edges` at its left edge. */
  names: readonly (readonly [at: number, text: string])[];
  edges?: boolean;
  gap?: number;
  label: string;
  drawing: Ref<SVGSVGElement>;
  point?: (at: number | undefined) => void;
  go?: (at: number) => void;
}

export function Columns(props: Props) {
  const { columns } = props;
  const width = drawingWidth(900);
  const sum = (column: Column) => column.parts.reduce((all, part) => all + part.value, 0);
  const most = Math.max(1e-12, props.most ?? Math.max(0, ...columns.map(sum)));
  const step = (width - LEFT - RIGHT) / Math.max(1, columns.length);
  const high = (value: number) => (value / most) * (HEIGHT - TOP - BOTTOM);
  const foot = HEIGHT - BOTTOM;
  return (
    <svg class="columns" ref={props.drawing} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={props.label}>
      <g class="axes">
        {[0, 0.5, 1].map((part) => <g key={part}><line x1={LEFT} x2={width - RIGHT} y1={foot - high(part * most)} y2={foot - high(part * most)} /><text x={LEFT - 6} y={foot - high(part * most) + 4} text-anchor="end">{props.show(part * most)}</text></g>)}
        {props.names.map(([at, text]) => <text key={at} x={LEFT + (at + (props.edges === true ? 0 : 0.5)) * step} y={HEIGHT - 8} text-anchor={props.edges !== true ? "middle" : at === 0 ? "start" : at >= columns.length ? "end" : "middle"}>{text}</text>)}
      </g>
      {columns.map((column, at) => {
        let top = foot;
        return (
          <g key={at} onPointerEnter={() => props.point?.(at)} onPointerLeave={() => props.point?.(undefined)} onClick={() => props.go?.(at)} class={props.go === undefined ? "column" : "column goes"}>
            <title>{visible(column.title)}</title>
            <rect class="catch" x={LEFT + at * step} y={TOP} width={step} height={foot - TOP} />
            {column.parts.map((part, n) => {
              const tall = high(part.value);
              top -= tall;
              return <rect key={n} shape-rendering="crispEdges" x={LEFT + at * step + (props.gap ?? 0) / 2} y={top} width={Math.max(0.5, step - (props.gap ?? 0))} height={Math.max(tall, part.value > 0 ? 0.7 : 0)} fill={part.color} />;
            })}
          </g>
        );
      })}
    </svg>
  );
}

/** What each color means. */
export function Keys(props: { of: readonly { name: string; color: string; about?: string; text?: string }[] }) {
  return <p class="keys">{props.of.map((one) => <span class="key" key={one.name} data-about={one.about}><i style={{ background: one.color }} />{visible(one.name)}{one.text === undefined ? "" : <> <b>{one.text}</b></>} </span>)}</p>;
}
