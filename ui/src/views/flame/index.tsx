// An icicle: time by scope, Python function or module, and memory by call stack, callers above callees.

import { useEffect, useMemo, useState } from "preact/hooks";
import { keep, place } from "../../address";
import { dark } from "../../context";
import { fill, inkOn } from "../../draw/palette";
import { bytes, count, share, time, visible } from "../../format";
import { Answer, Awaited } from "../../parts/answer";
import { ChosenPart, useQuery } from "../../parts/chosen";
import { SaveAs } from "../../parts/save-as";
import { boxes, type Box, find, type Node, nodeOf, type Told } from "./boxes";
import { pictureOf } from "./picture";
import "./style.css";

const KINDS: [id: string, title: string][] = [["scope", "Scope"], ["module", "Module"], ["python", "Python"], ["host", "Host"], ["memory", "Memory"]];
const ROW = 21;

export default function Flame() {
  const [by, setBy] = useState(place.peek().params.get("by") ?? "scope");
  const query = useQuery();
  return (
    <div class="flame">
      <ChosenPart />
      <div class="tabs" role="group" aria-label="By">
        {KINDS.map(([id, title]) => <button key={id} type="button" aria-pressed={id === by} onClick={() => { setBy(id); keep({ by: id, at: undefined, find: undefined }); }}>{title}</button>)}
      </div>
      {query === undefined ? <Awaited /> : <Answer<{ of?: string; unit?: string; root: Told }> path={`flame/${by}`} query={query}>{(answer) => !((answer.root.total_ns ?? answer.root.total_bytes ?? 0) > 0)
        ? <p class="missing">{query["from"] === undefined ? "This capture" : "The selection"} has nothing to show by {by}: {by === "memory" ? "nothing that holds memory has a call stack" : "no event names one"}.</p>
        : <Icicle key={`${by} ${JSON.stringify(query)}`} root={answer.root} unit={answer.unit ?? "ns"} of={answer.of ?? "time"} />}</Answer>}
    </div>
  );
}

function Icicle({ root: told, unit, of }: { root: Told; unit: string; of: string }) {
  const root = useMemo(() => nodeOf(told), [told]);
  const size = unit === "bytes" ? bytes : time;
  const params = place.peek().params;
  const [path, setPath] = useState<readonly number[]>((params.get("at") ?? "").split(".").filter((step) => step !== "").map(Number));
  const [text, setText] = useState(params.get("find") ?? "");
  useEffect(() => keep({ at: path.join("."), find: text }), [path, text]);
  const [active, setActive] = useState("");
  const top = path.reduce<Node>((node, at) => node.children[at] ?? node, root);
  const shown = useMemo(() => boxes(top), [top]);
  const found = useMemo(() => (text === "" ? undefined : find(root, text)), [root, text]);
  const deepest = shown.reduce((most, box) => Math.max(most, box.depth), 0);
  const now = shown.find((box) => box.key === active) ?? shown[0];
  const into = (box: Box) => (box.depth === 0 ? setPath(path.slice(0, -1)) : setPath([...path, ...box.path]));
  const keys = (event: KeyboardEvent) => {
    if (now === undefined) return;
    const next = neighbor(shown, now, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setActive(next.key);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-key="${next.key}"]`)?.focus();
  };
  return (
    <>
      <div class="tools">
        <input type="search" placeholder="Search" aria-label="Search names" defaultValue={text} onInput={(event) => setText(event.currentTarget.value)} />
        {found !== undefined && <span class="quiet nowrap">{count(found.nodes)} found, {size(found.sum)} ({share(found.sum / root.total)})</span>}
        <span class="push" />
        {path.length > 0 && <button type="button" onClick={() => setPath([])}>Show all</button>}
        <SaveAs of={() => pictureOf(shown, painted)} name="flame" rows={() => [["name", "depth", `total_${unit}`, `self_${unit}`], ...shown.map(({ node, depth }) => [node.name, depth, node.total, node.own])]} />
      </div>
      <p class="flame-said">{now !== undefined && <><b>{visible(now.node.name)}</b> {size(now.node.total)} <span class="quiet">({share(now.node.total / root.total)} of {of}), {size(now.node.own)} of it itself</span></>}</p>
      <div class="icicle" role="tree" aria-label={unit === "bytes" ? `Bytes of ${of}` : `Time of ${of}`} style={{ height: `${(deepest + 1) * ROW}px` }} onKeyDown={keys}>
        {shown.map((box, at) => (
          <button
            key={box.key} data-key={box.key} type="button" role="treeitem" aria-level={box.depth + 1} tabIndex={box.key === now?.key || (now === undefined && at === 0) ? 0 : -1}
            class={found !== undefined && !found.matches(box.node) ? "faint" : ""}
            aria-label={`${visible(box.node.name)}, ${size(box.node.total)}`}
            style={{ left: `${box.left * 100}%`, width: `calc(${box.width * 100}% - 1px)`, top: `${box.depth * ROW}px`, height: `${ROW - 1}px`, ...painted(box.node.name) }}
            onPointerEnter={() => setActive(box.key)} onFocus={() => setActive(box.key)} onClick={() => into(box)}
          >{box.width > 0.02 ? visible(box.node.name) : ""}</button>
        ))}
      </div>
    </>
  );
}

function neighbor(shown: Box[], now: Box, key: string): Box | undefined {
  const row = shown.filter((box) => box.depth === now.depth);
  const at = row.indexOf(now);
  const middle = now.left + now.width / 2;
  switch (key) {
    case "ArrowLeft": return row[at - 1];
    case "ArrowRight": return row[at + 1];
    case "ArrowUp": return shown.find((box) => box.depth === now.depth - 1 && box.left <= middle && box.left + box.width >= middle);
    case "ArrowDown": return shown.find((box) => box.depth === now.depth + 1 && box.left >= now.left - 1e-9 && box.left + box.width <= now.left + now.width + 1e-9);
    default: return undefined;
  }
}

function painted(name: string): { background: string; color: string } {
  const background = fill(colorOf(name), dark.value);
  return { background, color: inkOn(background) };
}

/** The same name has the same color in every picture. */
function colorOf(name: string): number {
  if (name.startsWith("(")) return 15;
  let sum = 0;
  for (let at = 0; at < name.length; at += 1) sum = (sum * 31 + name.charCodeAt(at)) | 0;
  return (sum >>> 0) % 15;
}
