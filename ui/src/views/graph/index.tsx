// The compiled program around one operation: what it reads, what reads it, what is inside, its text.

import { useEffect, useState } from "preact/hooks";
import { keep, place } from "../../address";
import { source } from "../../context";
import { Answer } from "../../parts/answer";
import { drawable, ModuleChoice, type Modules } from "../../parts/module";
import { Drawing } from "./drawing";
import type { GraphAnswer } from "./drawn";
import { useInsides } from "./insides";
import { ModuleText, stagesOf } from "./text";
import "./style.css";

export default function GraphView() {
  return (
    <Answer<Modules> path="hlo/modules">
      {(all) => drawable(all).size === 0
        ? <div class="missing"><p>This capture has no compiled modules.</p><p class="quiet">`ridgeline record` keeps them, and most XLA captures have them.</p></div>
        : <OfModules all={all} />}
    </Answer>
  );
}

const [DEPTH, DEEPEST, MOST_OPEN] = [2, 12, 12];

function OfModules({ all }: { all: Modules }) {
  const params = place.peek().params;
  const [module, setModule] = useState(params.get("module") ?? drawable(all).keys().next().value ?? "");
  const [op, setOp] = useState<string | undefined>(params.get("op") ?? undefined);
  const [depth, setDepth] = useState(Number(params.get("depth") ?? DEPTH));
  const [opened, setOpened] = useState<readonly string[]>((params.get("open") ?? "").split(",").filter((name) => name !== ""));
  const [stage, setStage] = useState(params.get("text") ?? "");
  const insides = useInsides(module, opened);
  const stages = stagesOf(module);
  useEffect(() => keep({ module, op, depth, open: opened.join(","), text: stage }), [module, op, depth, opened, stage]);
  const turn = (name: string) => setOpened((now) => (now.includes(name) ? now.filter((one) => one !== name) : [...now, name].slice(-MOST_OPEN)));
  return (
    <div class="graph">
      <div class="tools">
        <span class="choice">Module <ModuleChoice all={all} module={module} choose={(name) => { setModule(name); setOp(undefined); setOpened([]); }} /></span>
        <form role="search" onSubmit={(event) => { event.preventDefault(); const text = (event.currentTarget.elements.namedItem("op") as HTMLInputElement).value.trim(); setOp(text === "" ? undefined : text); }}>
          <input name="op" key={op ?? ""} type="search" aria-label="Operation" placeholder="Operation" defaultValue={op ?? ""} /> <button type="submit">Go</button>
        </form>
        {source().live && <label>Steps around it <input type="number" min={1} max={DEEPEST} value={depth} onChange={(event) => setDepth(Math.max(1, Math.min(DEEPEST, Number(event.currentTarget.value) || DEPTH)))} /></label>}
        {stages.length > 0 && <label>Text{" "}
          <select aria-label="Text above the graph" value={stage} onChange={(event) => setStage(event.currentTarget.value)}>
            <option value="">none</option>
            {stages.map(([id, title]) => <option key={id} value={id}>{title}</option>)}
          </select>
        </label>}
      </div>
      {stage !== "" && <ModuleText key={`${module} ${stage}`} module={module} stage={stage} op={op} />}
      <Answer<GraphAnswer> path="hlo/graph" query={{ module, op, depth }}>{(graph) => <Drawing graph={graph} insides={insides} module={module} op={op} go={setOp} turn={turn} />}</Answer>
    </div>
  );
}
