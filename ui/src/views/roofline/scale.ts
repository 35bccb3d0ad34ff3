// Where points and roofs stand in the drawing: both axes logarithmic.

import { part, span } from "../../parts/scale";

export interface Point {
  name: string;
  intensity: number;
  flops_per_sec: number;
  share: number;
  bound: string | null;
  others: { label: string; intensity: number }[];
}

export interface Chart {
  device: string;
  basis: string;
  intensity: string;
  slopes: { name: string; bytes_per_sec: number }[];
  roofs: { name: string; flops_per_sec: number }[];
  points: Point[];
  share_left_out: number;
}

export interface Box { left: number; right: number; top: number; bottom: number }
export interface Frame extends Box { xs: [number, number]; ys: [number, number]; x(value: number): number; y(value: number): number }

export function frame(chart: Chart, box: Box): Frame {
  const ridges = chart.roofs.flatMap((roof) => chart.slopes.map((slope) => roof.flops_per_sec / slope.bytes_per_sec));
  const xs = span([...chart.points.flatMap((point) => [point.intensity, ...point.others.map((other) => other.intensity)]), ...ridges]);
  const ys = span([...chart.points.map((point) => point.flops_per_sec), ...chart.roofs.map((roof) => roof.flops_per_sec)]);
  return {
    ...box, xs, ys,
    x: (value) => box.left + part(Math.max(value, xs[0]), xs) * (box.right - box.left),
    y: (value) => box.bottom - part(Math.max(value, ys[0]), ys) * (box.bottom - box.top),
  };
}

/** The highest rate that any roof allows at this intensity. */
export function attainable(chart: Chart, intensity: number): number | undefined {
  const slope = chart.slopes[0]?.bytes_per_sec;
  const roof = chart.roofs[0]?.flops_per_sec;
  const bounds = [slope === undefined ? undefined : slope * intensity, roof].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

export function headroom(chart: Chart, point: Point): number | undefined {
  const roof = attainable(chart, point.intensity);
  return roof === undefined || point.flops_per_sec <= 0 ? undefined : roof / point.flops_per_sec;
}
