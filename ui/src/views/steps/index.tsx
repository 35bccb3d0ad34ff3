// The steps of the capture: how long each took, and two of them beside each other, at first the median and the outlier.

import { useRef, useState } from "preact/hooks";
import { keep, place } from "../../address";
import { count, plural, time } from "../../format";
import { Answer } from "../../parts/answer";
import { Columns } from "../../parts/columns";
import { SaveAs } from "../../parts/save-as";
import { named, StepSelect, type Steps, TwoTimelines } from "./two";

export default function StepsView() {
  return (
    <Answer<Steps> path="steps">{(steps) => steps.steps.length < 2
      ? <p class="missing">This capture has {steps.total === 1 ? "one step" : "no steps"}, so there is nothing to compare. Mark steps with <code>jax.profiler.StepTraceAnnotation</code>, or PyTorch's with <code>profiler.step()</code>.</p>
      : <Shown steps={steps} />}</Answer>
  );
}

function Shown({ steps }: { steps: Steps }) {
  const params = place.peek().params;
  const row = (name: string, usual: number | null) => (params.has(name) ? Number(params.get(name)) : (usual ?? undefined));
  const [one, setOne] = useState(row("one", steps.median));
  const [other, setOther] = useState(row("other", steps.outlier));
  const choose = (next: { one?: number | undefined; other?: number | undefined }) => {
    const [a, b] = [next.one ?? one, next.other ?? other];
    setOne(a);
    setOther(b);
    keep({ one: a === steps.median ? undefined : a, other: b === steps.outlier ? undefined : b });
  };
  const [first, second] = [named(steps, one), named(steps, other)];
  // What is compared first is asked for without names, as a report holds it.
  const query = one === steps.median && other === steps.outlier ? {} : { one, other };
  return (
    <>
      <Course steps={steps} chosen={[one, other]} choose={(at) => choose({ other: at })} />
      <div class="tools">
        <StepSelect steps={steps} label="Step" value={one} choose={(at) => choose({ one: at })} />
        <span>beside</span>
        <StepSelect steps={steps} label="Other step" value={other} choose={(at) => choose({ other: at })} />
        <button type="button" onClick={() => choose({ one: other, other: one })}>Swap</button>
        <button type="button" onClick={() => choose({ one: steps.median ?? undefined, other: steps.outlier ?? undefined })}>Median and outlier</button>
      </div>
      <TwoTimelines key={`${one} ${other}`} query={query} titles={[first, second]} />
    </>
  );
}

const MOST_COLUMNS = 400;

/** How long each step took; of many, the longest of each column. */
function Course(props: { steps: Steps; chosen: (number | undefined)[]; choose: (row: number) => void }) {
  const drawing = useRef<SVGSVGElement>(null);
  const all = props.steps.steps;
  const every = Math.ceil(all.length / MOST_COLUMNS);
  const groups = Array.from({ length: Math.ceil(all.length / every) }, (_, at) => all.slice(at * every, (at + 1) * every));
  const longest = groups.map((group) => group.reduce((most, step) => (props.chosen.includes(step[0]) || (step[4] > most[4] && !props.chosen.includes(most[0])) ? step : most)));
  const color = (row: number) => (row === props.chosen[1] ? "var(--mark)" : row === props.chosen[0] ? "var(--ink)" : "var(--edge)");
  const foot = Math.max(1, Math.ceil(groups.length / 8));
  return (
    <section aria-label="Steps over time">
      <h2>{plural(props.steps.total, "step")} <span class="quiet">each from the end of the one before to its own end, device work included</span></h2>
      <figure>
        <Columns
          drawing={drawing} show={time} go={(at) => longest[at] !== undefined && props.choose(longest[at][0])}
          columns={longest.map((step) => ({ title: `step ${step[1]}: ${time(step[4])}`, parts: [{ value: step[4], color: color(step[0]) }] }))} gap={groups.length > 120 ? 0 : 1}
          names={longest.flatMap((step, at) => (at % foot === 0 ? [[at, String(step[1])] as const] : []))}
          label={`Time of each step: ${all.slice(0, 40).map((step) => `step ${step[1]} ${time(step[4])}`).join(", ")}${all.length > 40 ? ", …" : ""}`}
        />
        <figcaption><span class="quiet">Click a step to put it below.{every > 1 && ` Each column is the longest of ${count(every)} steps.`} </span><SaveAs of={drawing} name="steps" rows={() => [["number", "start_ns", "done_ns", "took_ns", "busy_ns"], ...all.map(([, ...cells]) => cells)]} /></figcaption>
      </figure>
    </section>
  );
}
