// Changes that are typed, as `ridgeline what-if` takes them: work by name that is gone or faster. The address keeps them.

import { useState } from "preact/hooks";
import { keep, place } from "../../address";
import { capture } from "../../context";
import { visible } from "../../format";
import { useAnswer } from "../../parts/answer";
import { Facts } from "../../parts/facts";
import { Listing } from "../../parts/listing";
import type { TableAnswer } from "../../source/types";
import { Replayed } from "./replayed";

const EFFECTS: [word: string, title: string][] = [["scale", "Scale the speed of"], ["remove", "Remove"], ["scale-host", "Scale the host's own time within"], ["no-wait", "Don't wait in"]];

export function Own() {
  const [lines, setLines] = useState((place.peek().params.get("changes") ?? "").split("\n").filter((line) => line !== ""));
  const [effect, setEffect] = useState("scale");
  const change = (next: string[]) => {
    setLines(next);
    keep({ changes: next.join("\n"), step: undefined });
  };
  const isScaled = effect.startsWith("scale");
  return (
    <>
      <form class="tools" aria-label="Add a change" onSubmit={(event) => {
        event.preventDefault();
        const text = (name: string) => (event.currentTarget.elements.namedItem(name) as HTMLInputElement | null)?.value.trim() ?? "";
        if (text("name") === "") return;
        const line = isScaled ? `${effect} ${text("name")}=${text("times")}x` : `${effect} ${text("name")}`;
        if (!lines.includes(line)) change([...lines, line]);
        event.currentTarget.reset();
      }}>
        <select aria-label="Change" value={effect} onChange={(event) => setEffect(event.currentTarget.value)}>{EFFECTS.map(([word, title]) => <option key={word} value={word}>{title}</option>)}</select>
        <input name="name" type="text" list="what-if-names" placeholder="gemm*" aria-label="Name" required autocomplete="off" spellcheck={false} />
        {isScaled && <label><input name="times" type="number" min="0.001" max="1000000" step="any" defaultValue="2" aria-label="Times as fast" required /> × as fast</label>}
        <button type="submit">Add</button>
      </form>
      <Names />
      <p class="quiet">A name is that of a kernel, an operation, a copy, a call or a range; in it, <code>*</code> matches any letters and <code>?</code> one.</p>
      {lines.length > 0 && <ul class="own" aria-label="Changes">{lines.map((line) => <li key={line}><code>{visible(line)}</code> <button type="button" aria-label={`Take back ${visible(line)}`} onClick={() => change(lines.filter((other) => other !== line))}>×</button></li>)}</ul>}
      {lines.length === 0 ? <p class="missing">Add a change to see the timeline that the capture would become.</p> : (
        <Replayed key={lines.join("\n")} of={{ changes: lines.join("\n") }} head={(replay) => (
          <>
            {replay.changes !== undefined && <Listing of={replay.changes} />}
            <div class="cards">{(replay.sections ?? []).map((section, n) => <section key={section.title} class="card" aria-label={section.title}><h2>{section.title} {n === 0 && <span class="tag predicted">predicted</span>}</h2><Facts facts={section.facts} /></section>)}</div>
          </>
        )} />
      )}
    </>
  );
}

/** Names that most of the time goes to, to choose from. */
function Names() {
  const views = capture.value?.topics.find((topic) => topic.id === "stats")?.views.filter((view) => view.answered !== false) ?? [];
  const view = views.find((one) => one.id === "kernel") ?? views.find((one) => one.id === "op");
  return view === undefined ? null : <Options view={view.id} />;
}

function Options({ view }: { view: string }) {
  const table = useAnswer<TableAnswer>(`table/stats/${view}`, { limit: 200 });
  const names = table.is === "there" ? table.value.rows.map((row) => row[0]).filter((name): name is string => typeof name === "string") : [];
  return <datalist id="what-if-names">{names.map((name) => <option key={name} value={name} />)}</datalist>;
}
