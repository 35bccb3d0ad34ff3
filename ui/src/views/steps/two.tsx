// Two steps, or two captures, beside each other: both timelines, and what differs.

import { useState } from "preact/hooks";
import { time } from "../../format";
import { Answer } from "../../parts/answer";
import { Beside } from "../../parts/beside";
import { DifferenceTable } from "../../parts/differences";
import type { BesideAnswer } from "../../parts/pieces";
import type { Query } from "../../source/source";

export interface Steps { steps: [row: number, number: number, start_ns: number, done_ns: number, took_ns: number, busy_ns: number][]; total: number; median: number | null; outlier: number | null }

/** What a step is called. */
export const named = (steps: Steps, row: number | undefined) => { const step = steps.steps.find((one) => one[0] === row); return step === undefined ? "all of it" : `step ${step[1]}`; };

const LISTED = 2000;

export function StepSelect(props: { steps: Steps; label: string; value: number | undefined; choose: (row: number) => void }) {
  const { steps } = props;
  const listed = steps.steps.slice(0, LISTED);
  const own = steps.steps.find((step) => step[0] === props.value);
  const shown = own === undefined || listed.includes(own) ? listed : [...listed, own];
  const what = (row: number) => (row === steps.median ? ", median" : row === steps.outlier ? ", outlier" : "");
  return (
    <select aria-label={props.label} value={props.value} onChange={(event) => props.choose(Number(event.currentTarget.value))}>
      {shown.map(([row, number, , , took]) => <option key={row} value={row}>step {number}: {time(took)}{what(row)}</option>)}
    </select>
  );
}

export function TwoTimelines(props: { query: Query; titles: [string, string] }) {
  const [lit, light] = useState<string | undefined>(undefined);
  return (
    <Answer<BesideAnswer> path="beside" query={props.query}>
      {(answer) => (
        <>
          <section aria-label="Timelines">
            <h2>Timelines <span class="quiet">{props.titles[0]}: {time(answer.halves[0].long_ns)} above {props.titles[1]}: {time(answer.halves[1].long_ns)}, from the start of each to the end of what it caused</span></h2>
            <Beside path="beside" query={props.query} first={answer} lit={lit} titles={props.titles} />
          </section>
          {answer.differences !== undefined && <DifferenceTable of={answer.differences} titles={props.titles} lit={lit} light={light} />}
        </>
      )}
    </Answer>
  );
}
