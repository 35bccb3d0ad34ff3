// Today's timeline and the predicted one below each other, what the prediction does not cover, and what typed changes concern.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { keep, place } from "../../address";
import { percent, share, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Beside } from "../../parts/beside";
import type { Listed } from "../../parts/listing";
import type { BesideAnswer } from "../../parts/pieces";
import type { Section } from "../../source/types";

export interface Replay extends BesideAnswer {
  refused: string | null;
  step: { row: number; number: number | null } | null;
  steps: [row: number, number: number | null][];
  captured_ns: number;
  replayed_ns: number;
  rigid_share: number;
  class_error: number;
  limits: string[];
  /** Of typed changes: what they would save, and what they concern. */
  sections?: Section[];
  changes?: Listed;
}

/** `head` stands above both timelines. */
export function Replayed({ of, head }: { of: { finding: number } | { changes: string }; head?: (replay: Replay) => ComponentChildren }) {
  const params = place.peek().params;
  const [step, setStep] = useState(params.has("step") ? Number(params.get("step")) : undefined);
  const query = { ...of, step };
  return (
    <Answer<Replay> path="replay" query={query}>
      {(replay) => (
        <>
          {head?.(replay)}
          {replay.refused !== null ? <p class="missing">No predicted timeline, and no number: {visible(replay.refused)}.</p> : (
            <section aria-label="Predicted timeline">
              <h2>Today and predicted {replay.step !== null && <span class="quiet">step {replay.step.number}</span>}</h2>
              <p>{time(replay.captured_ns)} captured, <span class="tag predicted">predicted</span> {time(replay.replayed_ns)}{Math.abs(replay.replayed_ns - replay.captured_ns) > replay.captured_ns / 2000 && ` (${percent((replay.replayed_ns - replay.captured_ns) / replay.captured_ns)})`}{replay.step !== null && <> of this one step on the host; the saving above is the median of all steps but the first</>}.</p>
              {replay.steps.length > 1 && (
                <div class="tools"><label>Step <select aria-label="Step" value={replay.step?.row} onChange={(event) => { const next = Number(event.currentTarget.value); setStep(next); keep({ step: next }); }}>
                  {replay.steps.slice(0, 2000).map(([row, number]) => <option key={row} value={row}>step {number}</option>)}
                </select></label></div>
              )}
              <Beside path="replay" query={query} first={replay} titles={["captured", "predicted"]} predicted />
              <Limits of={replay} />
            </section>
          )}
        </>
      )}
    </Answer>
  );
}

function Limits({ of }: { of: Replay }) {
  return (
    <section class="limits" aria-label="What the prediction does not cover">
      <h2>Not covered</h2>
      <ul>
        <li>The picture is the replay with recorded latencies. The interval also spans the replay with median latencies, and is widened by the {share(of.rigid_share)} of the time that depends on waits which the capture doesn't explain.</li>
        <li>With median latencies, the replay of the unchanged capture is off by {share(Math.abs(of.class_error))}.</li>
        {of.limits.map((text) => <li key={text}>{visible(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`)}</li>)}
      </ul>
    </section>
  );
}
