// The roofline, log–log: how far operations are from what their device allows.

import { useRef, useState } from "preact/hooks";
import { go } from "../../address";
import { count, share, short, show, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { drawingWidth } from "../../parts/save";
import { SaveAs } from "../../parts/save-as";
import { decades } from "../../parts/scale";
import { attainable, type Frame, frame, headroom, type Chart, type Point } from "./scale";
import { CopyTable } from "../../parts/copy-table";
import "./style.css";

export default function RooflineView() {
  return (
    <Answer<{ by?: string; charts: Chart[] }> path="chart/roofline">
      {({ by = "op", charts }) => charts.length === 0 ? (
        <div class="missing">
          <p>This capture has no known work, so there is nothing to compare with a roof.</p>
          <p class="quiet">It is counted from compiled modules; <code>ridgeline record</code> keeps them, and most XLA captures have them.</p>
        </div>
      ) : charts.map((chart) => <OneDevice key={chart.device} chart={chart} by={by} />)}
    </Answer>
  );
}

const HEIGHT = 440;
const MARGIN = { left: 84, right: 20, top: 18, bottom: 46 };
const LISTED = 40;

function OneDevice({ chart, by }: { chart: Chart; by: string }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const WIDTH = drawingWidth(720);
  const box = frame(chart, { left: MARGIN.left, right: WIDTH - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom });
  const point = at === undefined ? undefined : chart.points[at];
  return (
    <section class="roofline-device">
      <h2>{visible(chart.device)} <span class="quiet">ceilings: {visible(chart.basis)}</span></h2>
      <div class="split">
        <figure class="wide">
          <svg ref={drawing} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Roofline of ${chart.device}, ${count(chart.points.length)} operations`}>
            <Axes box={box} intensity={chart.intensity} />
            <Roofs chart={chart} box={box} draw="lines" />
            {point !== undefined && <Headroom chart={chart} point={point} box={box} />}
            {[...chart.points.keys()].reverse().map((index) => {
              const one = chart.points[index] as Point;
              return (
                <circle
                  key={index} cx={box.x(one.intensity)} cy={box.y(one.flops_per_sec)} r={radius(one.share)} class={`point${index === at ? " chosen" : ""} ${boundClass(one.bound)}`}
                  onPointerEnter={() => setAt(index)} onClick={() => toTable(one, by)}
                />
              );
            })}
            <Roofs chart={chart} box={box} draw="names" />
          </svg>
          <figcaption>
            {point === undefined ? <span class="quiet">Point at an operation, or come to one in the list. {chart.roofs.length > 0 && <Key />}</span> : <Said chart={chart} point={point} />}
            {chart.roofs.length === 0 && <p class="quiet">Its ceilings are unknown, so it has no bound and no headroom; `ridgeline calibrate` measures them.</p>}
            {chart.share_left_out >= 0.0005 && <p class="quiet">{share(chart.share_left_out)} of the time is not drawn: its work is unknown or has no arithmetic.</p>}
          </figcaption>
          <SaveAs of={drawing} name="roofline" rows={() => rowsOf(chart)} />
        </figure>
        <div class="list" role="region" aria-label="Operations" tabIndex={0}>
          <table>
            <thead><tr><th>Operation</th><th class="n">Time</th><th class="n">Rate</th><th>Bound</th></tr></thead>
            <tbody>
              {chart.points.slice(0, LISTED).map((one, index) => (
                <tr key={index} class={index === at ? "chosen" : ""} onPointerEnter={() => setAt(index)}>
                  <td><button type="button" class="plain" onFocus={() => setAt(index)} onClick={() => toTable(one, by)} title={visible(one.name)}>{visible(short(one.name, 34))}</button></td>
                  <td class="n">{share(one.share)}</td>
                  <td class="n">{show(one.flops_per_sec, "flop/s")}</td>
                  <td>{one.bound ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <CopyTable name="roofline" rows={() => rowsOf(chart)} />
          {chart.points.length > LISTED && <p class="quiet">and {count(chart.points.length - LISTED)} more in the drawing</p>}
        </div>
      </div>
    </section>
  );
}

const rowsOf = (chart: Chart) => [["operation", "flop_per_byte", "flops_per_sec", "share", "bound"], ...chart.points.map((one) => [one.name, one.intensity, one.flops_per_sec, one.share, one.bound])];

const KEYS: [title: string, color: string][] = [["memory", "#2f9a83"], ["compute", "#3f7fc1"], ["launch", "#c58a2b"]];

function Key() {
  return <>Bound by {KEYS.map(([title, color]) => <span class="key" key={title}><i class="dot" style={{ background: color }} />{title} </span>)}; the area is the time.</>;
}

const radius = (part: number) => Math.max(3.5, Math.sqrt(part) * 34);
const boundClass = (bound: string | null) => (bound === null ? "b-none" : bound.includes("memory") ? "b-memory" : bound.includes("launch") ? "b-launch" : "b-compute");
const toTable = (point: Point, by: string) => go("tables", { topic: "roofline", view: by, filter: point.name });

function Said({ chart, point }: { chart: Chart; point: Point }) {
  const room = headroom(chart, point);
  return (
    <p>
      <b>{visible(point.name)}</b>: {share(point.share)} of the time, {show(point.flops_per_sec, "flop/s")} at {show(point.intensity, "flop/byte")}
      {point.bound !== null && `, bound by ${point.bound}`}{room !== undefined && <>, {show(room, "number")} × below the highest roof here</>}.
      {point.others.map((other) => <span class="quiet"> {other.label}: {show(other.intensity, "flop/byte")}.</span>)}
    </p>
  );
}

function Axes({ box, intensity }: { box: Frame; intensity: string }) {
  return (
    <g class="axes">
      {decades(box.xs).map((value) => <g key={`x${value}`}><line x1={box.x(value)} x2={box.x(value)} y1={box.top} y2={box.bottom} /><text x={box.x(value)} y={box.bottom + 16} text-anchor="middle">{show(value, "number")}</text></g>)}
      {decades(box.ys).map((value) => <g key={`y${value}`}><line x1={box.left} x2={box.right} y1={box.y(value)} y2={box.y(value)} /><text x={box.left - 6} y={box.y(value) + 4} text-anchor="end">{show(value, "flop/s")}</text></g>)}
      <text x={(box.left + box.right) / 2} y={box.bottom + 36} text-anchor="middle">{intensity}</text>
    </g>
  );
}

/** Lines are below the points, their names above. */
function Roofs({ chart, box, draw }: { chart: Chart; box: Frame; draw: "lines" | "names" }) {
  const fastest = chart.slopes[0]?.bytes_per_sec;
  return (
    <g class="roofs">
      {chart.slopes.map((slope) => {
        const top = Math.max(...chart.roofs.map((roof) => roof.flops_per_sec), box.ys[0]);
        const from = Math.max(box.xs[0], box.ys[0] / slope.bytes_per_sec);
        const to = Math.min(box.xs[1], top / slope.bytes_per_sec);
        const [x, y] = [box.x(from) + 6, box.y(from * slope.bytes_per_sec)];
        const turn = (Math.atan2(box.y(to * slope.bytes_per_sec) - y, box.x(to) - x + 6) * 180) / Math.PI;
        return draw === "lines" ? <line key={slope.name} x1={box.x(from)} y1={y} x2={box.x(to)} y2={box.y(to * slope.bytes_per_sec)} />
          : <text key={slope.name} transform={`translate(${x + 14} ${y - 12}) rotate(${turn})`}>{slope.name} {show(slope.bytes_per_sec, "bytes/s")}</text>;
      })}
      {chart.roofs.map((roof) => {
        const from = fastest === undefined ? box.xs[0] : Math.max(box.xs[0], roof.flops_per_sec / fastest);
        return draw === "lines" ? <line key={roof.name} x1={box.x(from)} x2={box.right} y1={box.y(roof.flops_per_sec)} y2={box.y(roof.flops_per_sec)} />
          : <text key={roof.name} x={box.right - 4} y={box.y(roof.flops_per_sec) - 5} text-anchor="end">{roof.name} {show(roof.flops_per_sec, "flop/s")}</text>;
      })}
    </g>
  );
}

/** From the chosen point up to its roof, and to the place that other counts of bytes would give it. */
function Headroom({ chart, point, box }: { chart: Chart; point: Point; box: Frame }) {
  const roof = attainable(chart, point.intensity);
  const [x, y] = [box.x(point.intensity), box.y(point.flops_per_sec)];
  return (
    <g class="headroom">
      {roof !== undefined && <line x1={x} x2={x} y1={y} y2={box.y(roof)} />}
      {point.others.map((other) => <g key={other.label}><line x1={x} x2={box.x(other.intensity)} y1={y} y2={y} /><circle class="ghost" cx={box.x(other.intensity)} cy={y} r={radius(point.share)} /></g>)}
    </g>
  );
}
