// The graph as SVG: a box for each operation, the hotter the more time it has, and a panel on the one that is chosen.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { short, time, visible } from "../../format";
import { SaveAs } from "../../parts/save-as";
import { Beside } from "./beside";
import { type Box, drawn, type GraphAnswer, type GraphNode } from "./drawn";
import { opens } from "./insides";

/** Letters of a name and its time that a box has room for. */
const LETTERS = 25;

interface Props {
  graph: GraphAnswer;
  insides: ReadonlyMap<string, GraphAnswer>;
  module: string;
  op: string | undefined;
  /** Goes to an operation. */
  go: (op: string) => void;
  /** Opens or closes an operation in place. */
  turn: (op: string) => void;
}

export function Drawing(props: Props) {
  const { graph, module } = props;
  const picture = useMemo(() => drawn(graph, props.insides), [graph, props.insides]);
  const svg = useRef<SVGSVGElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | string | undefined>(undefined);
  const first = graph.nodes.find((node) => node.name === props.op) ?? graph.nodes.find((node) => node.distance === 0) ?? graph.nodes[0];
  const now = picture.boxes.find((one) => one.node.id === at) ?? picture.boxes.find((one) => one.node.id === first?.id);
  const turns = ({ node, isOpen }: Box) => isOpen || opens(node, module);
  useEffect(() => {
    const start = picture.boxes.find((one) => one.node.id === first?.id);
    if (start !== undefined) frame.current?.scrollTo({ left: start.x - frame.current.clientWidth / 2 + start.width / 2, top: start.y - frame.current.clientHeight / 2 });
  }, [graph]);
  const most = Math.max(1, ...graph.nodes.map((node) => node.self_ns ?? 0));
  const anyTurns = picture.boxes.some(turns);
  const keys = (event: KeyboardEvent, box: Box) => {
    if (event.key === "Enter") props.go(box.node.name);
    if (event.key === "o" && turns(box)) props.turn(box.node.name);
  };
  return (
    <div class="split">
      <div class="wide">
        <div class="canvas" ref={frame} role="region" aria-label="Graph" tabIndex={0}>
          <svg ref={svg} width={picture.width} height={picture.height} role="group" aria-label={`${graph.nodes.length} operations of ${visible(module)}`}>
            <g class="edges">{picture.edges.map((path, n) => <path key={n} d={path} />)}</g>
            {picture.boxes.map((box) => (
              <g
                key={box.node.id} class={`node${box === now ? " chosen" : ""}${box.isOpen ? " open" : ""}`} transform={`translate(${box.x} ${box.y})`} role="button" tabIndex={0}
                onClick={() => setAt(box.node.id)} onFocus={() => setAt(box.node.id)} onDblClick={() => props.go(box.node.name)} onKeyDown={(event) => keys(event, box)}
              >
                <Operation box={box} most={most} turn={turns(box) ? () => props.turn(box.node.name) : undefined} />
              </g>
            ))}
          </svg>
        </div>
        <p class="quiet">{graph.cut === true ? "The graph is cut: open an operation to see its surroundings. " : ""}Press Enter or double-click to open an operation{anyTurns ? "; press + or O to expand a fusion" : ""}. <SaveAs of={svg} name="graph" rows={() => rowsOf(picture.boxes)} /></p>
      </div>
      {now !== undefined && <Beside key={`${module} ${now.node.name}`} box={now} module={module} go={props.go} turn={turns(now) ? props.turn : undefined} />}
    </div>
  );
}

function Operation({ box, most, turn }: { box: Box; most: number; turn: (() => void) | undefined }) {
  const { node, width, height, isOpen } = box;
  const spent = node.self_ns !== null && node.self_ns > 0 ? time(node.self_ns) : "";
  return (
    <>
      <title>{visible(node.name)}</title>
      <rect width={width} height={height} rx={4} style={{ fill: heat(node, most) }} />
      <text x={8} y={16} class="title">{visible(short(node.name, LETTERS - spent.length))}</text>
      <text x={8} y={31}>{visible(short(node.opcode + (node.shape === undefined || node.shape === null ? "" : ` ${node.shape}`), 28))}</text>
      {spent !== "" && <text x={width - 8} y={16} text-anchor="end" class="title">{spent}</text>}
      {turn !== undefined && (
        <g class="turn" transform={`translate(${width - 20} 22)`} onClick={(event) => { event.stopPropagation(); turn(); }}>
          <rect width={14} height={14} rx={3} /><text x={7} y={11} text-anchor="middle">{isOpen ? "−" : "+"}</text>
        </g>
      )}
    </>
  );
}

function heat(node: GraphNode, most: number): string {
  if (node.self_ns === null || node.self_ns <= 0) return "var(--card)";
  return `color-mix(in srgb, var(--heat-fill) ${Math.round(15 + 75 * (node.self_ns / most))}%, var(--card))`;
}

const rowsOf = (boxes: readonly Box[]) => [
  ["operation", "opcode", "shape", "self_ns", "source"],
  ...boxes.map(({ node }) => [node.name, node.opcode, node.shape ?? null, node.self_ns, node.source === undefined || node.source === null ? null : `${node.source.file}:${node.source.line}`]),
];
