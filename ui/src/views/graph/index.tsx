// The compiled program around one operation: what it reads, what reads it, its text beside it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { dark, reason, source } from "../../context";
import { fill } from "../../draw/palette";
import { short, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { SaveAs } from "../../parts/save-as";
import { ModuleText, STAGES } from "./text";
import { drawn, type GraphAnswer, type GraphNode } from "./drawn";

type Module = Record<string, unknown>;
/** What the server knows a module by. */
const nameOf = (module: Module) => String(module["id"] ?? module["module"] ?? "");

export default function GraphView() {
  return (
    <Answer<{ modules: Module[] }> path="hlo/modules">
      {({ modules }) => modules.length === 0
        ? <div class="missing"><p>This capture holds no compiled modules.</p><p class="quiet">`ridgeline record` keeps them, and captures of XLA mostly hold them.</p></div>
        : <Modules modules={modules} />}
    </Answer>
  );
}

function Modules({ modules }: { modules: Module[] }) {
  const params = place.peek().params;
  const [module, setModule] = useState(params.get("module") ?? nameOf(modules[0] as Module));
  const [op, setOp] = useState<string | undefined>(params.get("op") ?? undefined);
  const [depth, setDepth] = useState(Number(params.get("depth") ?? 2));
  const [opened, setOpened] = useState<readonly string[]>((params.get("open") ?? "").split(",").filter((name) => name !== ""));
  const [stage, setStage] = useState(params.get("text") ?? "");
  useEffect(() => keep({ module, op, depth, open: opened.join(","), text: stage }), [module, op, depth, opened, stage]);
  const turn = (name: string) => setOpened((now) => (now.includes(name) ? now.filter((one) => one !== name) : [...now, name].slice(-12)));
  return (
    <div class="graph">
      <div class="tools">
        <label>Module{" "}
          <select value={module} onChange={(event) => { setModule(event.currentTarget.value); setOp(undefined); setOpened([]); }}>
            {modules.map((one) => <option key={nameOf(one)} value={nameOf(one)}>{visible(nameOf(one))}{typeof one["self_ns"] === "number" ? ` — ${time(one["self_ns"])}` : ""}</option>)}
          </select>
        </label>
        <form role="search" onSubmit={(event) => { event.preventDefault(); const text = (event.currentTarget.elements.namedItem("op") as HTMLInputElement).value.trim(); setOp(text === "" ? undefined : text); }}>
          <input name="op" key={op ?? ""} type="search" aria-label="Operation" placeholder="Operation" defaultValue={op ?? ""} /> <button type="submit">Go</button>
        </form>
        <label>Steps around it <input type="number" min={1} max={12} value={depth} onChange={(event) => setDepth(Math.max(1, Math.min(12, Number(event.currentTarget.value) || 2)))} /></label>
        {source().live && <label>Text{" "}
          <select aria-label="Text above the graph" value={stage} onChange={(event) => setStage(event.currentTarget.value)}>
            <option value="">none</option>
            {STAGES.map(([id, title]) => <option key={id} value={id}>{title}</option>)}
          </select>
        </label>}
      </div>
      {stage !== "" && <ModuleText key={`${module} ${stage}`} module={module} stage={stage} op={op} />}
      <Answer<GraphAnswer> path="hlo/graph" query={{ module, op, depth, open: opened.length === 0 ? undefined : opened.join(",") }}>{(graph) => <Drawing graph={graph} module={module} op={op} go={setOp} turn={source().live ? turn : undefined} />}</Answer>
    </div>
  );
}

function Drawing(props: { graph: GraphAnswer; module: string; op: string | undefined; go: (op: string) => void; turn: ((op: string) => void) | undefined }) {
  const { graph } = props;
  const picture = useMemo(() => drawn(graph), [graph]);
  const svg = useRef<SVGSVGElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | string | undefined>(undefined);
  const first = graph.nodes.find((node) => node.name === props.op) ?? graph.nodes.find((node) => node.distance === 0) ?? graph.nodes[0];
  const now = picture.boxes.find((one) => one.node.id === at)?.node ?? first;
  const opens = (node: GraphNode) => props.turn !== undefined && node.inner === undefined && typeof node.id === "number" && (node.inside ?? []).some((one) => one.root !== null);
  useEffect(() => {
    const start = picture.boxes.find((one) => one.node.id === first?.id);
    if (start !== undefined) box.current?.scrollTo({ left: start.x - box.current.clientWidth / 2 + 90, top: start.y - box.current.clientHeight / 2 });
  }, [picture]);
  const most = Math.max(1, ...graph.nodes.map((node) => node.self_ns ?? 0));
  return (
    <div class="split">
      <div class="wide">
        <div class="canvas" ref={box} role="region" aria-label="Graph" tabIndex={0}>
          <svg ref={svg} width={picture.width} height={picture.height} role="group" aria-label={`${graph.nodes.length} operations of ${visible(props.module)}`}>
            <g class="edges">{picture.edges.map((path, n) => <path key={n} d={path} />)}</g>
            {picture.boxes.map(({ node, x, y, width, height }) => (
              <g
                key={node.id} class={`node${node.id === now?.id ? " chosen" : ""}${node.inner === undefined ? "" : " open"}`} transform={`translate(${x} ${y})`} role="button" tabIndex={0}
                onClick={() => setAt(node.id)} onFocus={() => setAt(node.id)} onDblClick={() => props.go(node.name)} onKeyDown={(event) => { if (event.key === "Enter") props.go(node.name); if (event.key === "o" && (opens(node) || node.inner !== undefined)) props.turn?.(node.name); }}
              >
                <title>{visible(node.name)}</title>
                <rect width={width} height={height} rx={4} style={{ fill: heat(node, most, dark.value) }} />
                <text x={8} y={16} class="title">{visible(short(node.name, 25))}</text>
                <text x={8} y={31}>{visible(short(node.opcode + (node.shape === undefined || node.shape === null ? "" : ` ${node.shape}`), 28))}</text>
                {node.self_ns !== null && node.self_ns > 0 && <text x={width - 8} y={16} text-anchor="end" class="title">{time(node.self_ns)}</text>}
                {(opens(node) || node.inner !== undefined) && (
                  <g class="turn" transform={`translate(${width - 20} ${22})`} onClick={(event) => { event.stopPropagation(); props.turn?.(node.name); }}>
                    <rect width={14} height={14} rx={3} /><text x={7} y={11} text-anchor="middle">{node.inner === undefined ? "+" : "−"}</text>
                  </g>
                )}
              </g>
            ))}
          </svg>
        </div>
        <p class="quiet">{graph.cut === true ? "More is around it than fits: go to an operation to see what is there. " : ""}Enter or a double click goes to an operation{props.turn === undefined ? "" : ", + or the key O opens a fusion in place"}. <SaveAs of={svg} name="graph" rows={() => [["operation", "opcode", "shape", "self_ns", "source"], ...graph.nodes.map((node) => [node.name, node.opcode, node.shape ?? null, node.self_ns, node.source === undefined || node.source === null ? null : `${node.source.file}:${node.source.line}`])]} /></p>
      </div>
      {now !== undefined && <Beside node={now} module={props.module} go={props.go} turn={opens(now) || now.inner !== undefined ? props.turn : undefined} />}
    </div>
  );
}

function heat(node: GraphNode, most: number, isDark: boolean): string {
  if (node.self_ns === null || node.self_ns <= 0) return "var(--card)";
  const base = fill(3, isDark);
  return `color-mix(in srgb, ${base} ${Math.round(15 + 75 * (node.self_ns / most))}%, var(--card))`;
}

function Beside({ node, module, go, turn }: { node: GraphNode; module: string; go: (op: string) => void; turn: ((op: string) => void) | undefined }) {
  const [text, setText] = useState<string | undefined>(undefined);
  useEffect(() => setText(undefined), [node.name]);
  const read = () => source().json<{ text: string }>("hlo/text", { module, op: node.name }).then((answer) => setText(answer.text)).catch((error: unknown) => setText(reason(error).text));
  return (
    <aside class="panel" aria-label="The operation">
      <h2 class="name">{visible(node.name)}</h2>
      <p>{visible(node.opcode)}{node.category === undefined || node.category === null ? "" : `, ${node.category}`}{node.self_ns !== null && <>: <b>{time(node.self_ns)}</b></>}</p>
      <div class="actions">
        <button type="button" onClick={() => go(node.name)}>Go to it</button>
        {turn !== undefined && <button type="button" onClick={() => turn(node.name)}>{node.inner === undefined ? "Open in place" : "Close"}</button>}
        {typeof node.subject === "string" && <a class="chip" href={link("timeline", { subject: node.subject, title: node.name })}>Timeline</a>}
        <button type="button" onClick={() => void read()}>Its text in full</button>
      </div>
      {node.source !== undefined && node.source !== null && <p><a href={link("source", { file: node.source.file, line: node.source.line })}>{visible(node.source.file)}:{node.source.line}</a></p>}
      {node.scope !== undefined && node.scope !== null && <p class="quiet">{visible(node.scope)}</p>}
      {(node.inside ?? []).length > 0 && <p>Inside: {(node.inside ?? []).map((one) => <button type="button" class="chip" onClick={() => go(one.root ?? one.computation)}>{visible(one.computation)}</button>)}</p>}
      {typeof node.caller === "string" && <p>Called by <button type="button" class="chip" onClick={() => go(String(node.caller))}>{visible(node.caller)}</button></p>}
      <pre class="text" tabIndex={0} aria-label="Text">{visibleText(text ?? node.text)}</pre>
    </aside>
  );
}

const visibleText = (text: string) => text.split("\n").map(visible).join("\n");
