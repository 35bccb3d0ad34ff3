// Which compiled module: a list of those with most device time, and a search where there are more.

import { useState } from "preact/hooks";
import { source } from "../context";
import { count, time, visible } from "../format";
import { useAnswer } from "./answer";

interface Module { id?: string; module?: string; has_hlo?: boolean; self_ns?: number }
export interface Modules { modules: Module[]; total?: number }

/** What the server knows a module by. */
const nameOf = (module: Module) => module.id ?? module.module ?? "";

/** Those that can be drawn, each once: ranks run the same program. */
export function drawable({ modules }: Modules): Map<string, Module> {
  const found = new Map<string, Module>();
  for (const one of modules) if (one.has_hlo !== false && !found.has(nameOf(one))) found.set(nameOf(one), one);
  return found;
}

export function ModuleChoice(props: { all: Modules; module: string; choose: (module: string) => void }) {
  const [find, setFind] = useState("");
  const total = props.all.total ?? props.all.modules.length;
  const isCut = source().live && total > props.all.modules.length;
  const searched = useAnswer<Modules>("hlo/modules", find === "" ? {} : { find });
  const found = drawable(searched.is === "there" ? searched.value : props.all);
  const said = ({ self_ns }: Module) => (typeof self_ns === "number" ? ` — ${time(self_ns)}` : "");
  return (
    <>
      <select aria-label="Module" value={props.module} onChange={(event) => props.choose(event.currentTarget.value)}>
        {!found.has(props.module) && <option value={props.module}>{visible(props.module)}</option>}
        {[...found].map(([name, one]) => <option key={name} value={name}>{visible(name)}{said(one)}</option>)}
      </select>
      {isCut && <>
        {" "}<input type="search" aria-label="Find modules" placeholder="Find modules" onChange={(event) => setFind(event.currentTarget.value.trim())} />
        <span class="quiet">{" "}{count(found.size)} listed{find === "" ? ` of ${count(total)}, those with the most device time` : searched.is === "there" ? ` of ${count(searched.value.total ?? found.size)} with that name` : ""}</span>
      </>}
    </>
  );
}
