// Beside the graph: what is known of the chosen operation, and its text.

import { useState } from "preact/hooks";
import { ask, reason, source } from "../../context";
import { link } from "../../address";
import { time, visible } from "../../format";
import type { Box } from "./drawn";

/** Texts in graphs end with this where they were cut. */
const CUT = "…";

export function Beside({ box, module, go, turn }: { box: Box; module: string; go: (op: string) => void; turn: ((op: string) => void) | undefined }) {
  const { node } = box;
  const [text, setText] = useState(node.text);
  const whole = ["hlo/text", { module, op: node.name }] as const;
  const read = () => void ask<{ text: string }>(...whole).then((answer) => setText(answer.text)).catch((error: unknown) => setText(reason(error).text));
  return (
    <aside class="panel" aria-label="The operation">
      <h2 class="name">{visible(node.name)}</h2>
      <p>{visible(node.opcode)}{node.category === undefined || node.category === null ? "" : `, ${node.category}`}{node.self_ns !== null && <>: <b>{time(node.self_ns)}</b></>}</p>
      <div class="actions">
        <button type="button" onClick={() => go(node.name)}>Go to it</button>
        {turn !== undefined && <button type="button" onClick={() => turn(node.name)}>{box.isOpen ? "Close" : "Expand"}</button>}
        {typeof node.subject === "string" && <a class="chip" href={link("timeline", { subject: node.subject, title: node.name })}>Timeline</a>}
        {text.endsWith(CUT) && source().holds(...whole) && <button type="button" onClick={read}>Full text</button>}
      </div>
      {node.source !== undefined && node.source !== null && <p><a href={link("source", { file: node.source.file, line: node.source.line })}>{visible(node.source.file)}:{node.source.line}</a></p>}
      {node.scope !== undefined && node.scope !== null && <p class="quiet">{visible(node.scope)}</p>}
      {(node.inside ?? []).length > 0 && <p>Inside: {(node.inside ?? []).map((one) => <button type="button" class="chip" onClick={() => go(one.root ?? one.computation)}>{visible(one.computation)}</button>)}</p>}
      {typeof node.caller === "string" && <p>Called by <button type="button" class="chip" onClick={() => go(String(node.caller))}>{visible(node.caller)}</button></p>}
      <pre class="text" tabIndex={0} aria-label="Text">{text.split("\n").map(visible).join("\n")}</pre>
    </aside>
  );
}
