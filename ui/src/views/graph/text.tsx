// The text of a module as it was compiled, or before: only the lines in view are in the page, however many there are.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { source } from "../../context";
import { visible } from "../../format";
import { Answer } from "../../parts/answer";
import { useRowsInView } from "../../parts/in-view";
import { copy } from "../../parts/save";

const ROW = 18;
const SPARE = 20;
const STAGES = [["after", "as it ran"], ["before", "before XLA"], ["stablehlo", "StableHLO"], ["jaxpr", "jaxpr"]] as const;

/** The forms of a module that there may be here. */
export const stagesOf = (module: string) => STAGES.filter(([stage]) => source().holds("hlo/text", { module, stage }));

export function ModuleText(props: { module: string; stage: string; op: string | undefined }) {
  return <Answer<{ text: string }> path="hlo/text" query={{ module: props.module, stage: props.stage }}>{({ text }) => <Lines text={text} op={props.op} />}</Answer>;
}

function Lines({ text, op }: { text: string; op: string | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => text.split("\n"), [text]);
  const { first, last } = useRowsInView(box, lines.length, ROW, SPARE);
  const wanted = useMemo(() => placeOf(lines, op), [lines, op]);
  const widest = useMemo(() => lines.reduce((most, line) => Math.max(most, Math.min(line.length, 2000)), 0), [lines]);
  useEffect(() => {
    if (wanted >= 0 && box.current !== null) box.current.scrollTop = Math.max(0, wanted * ROW - box.current.clientHeight / 3);
  }, [wanted]);
  return (
    <>
      <div class="module-text" ref={box} role="region" aria-label="Text of the module" tabIndex={0}>
        <div style={{ height: `${lines.length * ROW}px`, width: `${widest + 8}ch` }}>
          <pre style={{ transform: `translateY(${first * ROW}px)` }}>
            {lines.slice(first, last).map((line, n) => <div key={first + n} class={first + n === wanted ? "wanted" : ""}><i>{first + n + 1}</i>{visible(line.slice(0, 2000))}{line.length > 2000 ? " …" : ""}</div>)}
          </pre>
        </div>
      </div>
      <p class="quiet"><button type="button" onClick={() => void copy(text, "module.txt")}>Copy the text</button></p>
    </>
  );
}

/** The line that defines an operation. */
export function placeOf(lines: readonly string[], op: string | undefined): number {
  if (op === undefined) return -1;
  const name = `%?${op.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`;
  const defines = new RegExp(`^\\s*(ROOT\\s+)?${name} = `);
  return lines.findIndex((line) => defines.test(line));
}
