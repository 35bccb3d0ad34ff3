// SQL over the capture, answered by `ridgeline-query` on the machine that serves the page: a box, its answer as a table, and
// the tables and columns to click. The query is in the address.

import { useEffect, useRef, useState } from "preact/hooks";
import { keep, place } from "../../address";
import { source } from "../../context";
import { time, visible } from "../../format";
import { Awaited } from "../../parts/answer";
import { HttpSource, NoAnswer, type Source } from "../../source/source";
import type { QueryAnswer } from "../../source/types";
import { Grid } from "../tables/grid";
import { Known } from "./known";
import "./style.css";

type State = { is: "empty" } | { is: "running" } | { is: "stopped" } | { is: "failed"; said: string; hints: string[] } | { is: "there"; nth: number; answer: QueryAnswer; from: Source };

/** What a click on a table writes; another click may replace it. */
const ALL_OF = (table: string) => `select * from ${table} limit 100`;
const IS_ALL_OF = /^\s*(select \* from \S+ limit 100)?\s*$/;

export default function Query() {
  const from = source();
  return from instanceof HttpSource ? <Box from={from} /> : <div class="missing"><p>A report answers no queries.</p><p class="quiet">Open the capture itself with `ridgeline view CAPTURE`.</p></div>;
}

function Box({ from }: { from: HttpSource }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const running = useRef<AbortController | undefined>(undefined);
  const asked = useRef(0);
  const [state, setState] = useState<State>({ is: "empty" });
  const run = (isNew: boolean) => {
    const sql = box.current?.value ?? "";
    running.current?.abort();
    if (sql.trim() === "") return setState({ is: "empty" });
    // How the table before was sorted means nothing for another one.
    keep(isNew ? { sql, sort: undefined, desc: undefined, filter: undefined, hidden: undefined } : { sql });
    const stop = new AbortController();
    running.current = stop;
    asked.current += 1;
    const nth = asked.current;
    setState({ is: "running" });
    from.fresh<QueryAnswer>("query", { sql }, stop.signal)
      .then((answer) => !stop.signal.aborted && setState({ is: "there", nth, answer, from: holding(answer) }))
      .catch((error: unknown) => !stop.signal.aborted && setState(failed(error)));
  };
  useEffect(() => {
    if (place.peek().params.has("sql")) run(false);
    else box.current?.focus({ preventScroll: true });
    return () => running.current?.abort();
  }, []);
  const write = (text: string) => {
    const on = box.current;
    if (on === null) return;
    on.setRangeText(text, on.selectionStart, on.selectionEnd, "end");
    on.focus();
  };
  const pick = (table: string) => {
    const on = box.current;
    if (on === null) return;
    if (!IS_ALL_OF.test(on.value)) return write(table);
    on.value = ALL_OF(table);
    run(true);
  };
  return (
    <div class="query">
      <div class="asked">
        <textarea ref={box} aria-label="SQL" spellcheck={false} rows={5} defaultValue={place.peek().params.get("sql") ?? ""} placeholder="select op, self_ns from op order by self_ns desc limit 20" onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          run(true);
        }} />
        <div class="tools">
          <button type="button" onClick={() => run(true)} title="Ctrl+Enter">Run</button>
          {state.is === "running" && <button type="button" onClick={() => { running.current?.abort(); setState({ is: "stopped" }); }}>Stop</button>}
          <span class="quiet">Ctrl+Enter runs; queries only read, for up to 30 s and 10,000 rows.</span>
        </div>
        <Outcome state={state} />
      </div>
      <Known pick={pick} write={write} />
    </div>
  );
}

function Outcome({ state }: { state: State }) {
  switch (state.is) {
    case "running": return <Awaited />;
    case "stopped": return <p class="quiet" role="status">Stopped.</p>;
    case "failed": return (
      <div class="missing failed" role="alert">
        <pre>{visibleLines(state.said)}</pre>
        {state.hints.map((hint) => <pre class="quiet">hint: {visibleLines(hint)}</pre>)}
      </div>
    );
    case "there": return (
      <>
        {state.answer.cut !== null && <p class="cut" role="status"><b>{state.answer.cut}</b></p>}
        <Grid key={state.nth} topic="query" view="query" about={`Answered in ${time(state.answer.took_ns)}.`} from={state.from} />
      </>
    );
    default: return <p class="quiet">Columns of times are whole nanoseconds; values are shown as they are.</p>;
  }
}

/** A text of the program with its lines kept, and nothing else that controls. */
const visibleLines = (text: string) => text.split("\n").map(visible).join("\n");

function failed(error: unknown): State {
  if (error instanceof NoAnswer) return { is: "failed", said: error.raw?.error ?? error.message, hints: error.raw?.hints ?? (error.hint === undefined ? [] : [error.hint]) };
  return { is: "failed", said: error instanceof Error ? error.message : String(error), hints: [] };
}

/** A source that has this answer alone. */
const holding = (answer: QueryAnswer): Source => ({ live: false, leftOut: [], holds: () => true, json: <T,>() => Promise.resolve(answer) as Promise<T>, bytes: () => Promise.reject(new Error("a table has no bytes")) });
