// The timeline that the capture would become with the change of a finding made, beside today's: predicted, with its
// interval and what it does not cover; no number where the replay does not explain the capture.

import { useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { percent, share, short, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Beside } from "../../parts/beside";
import type { BesideAnswer } from "../../parts/pieces";
import type { Finding, Findings } from "../../source/types";
import { Asked } from "../findings/asked";
import { Ticked } from "../findings/cause";
import "./style.css";

interface Replay extends BesideAnswer {
  refused: string | null;
  step: { row: number; number: number | null } | null;
  steps: [row: number, number: number | null][];
  captured_ns: number;
  replayed_ns: number;
  rigid_share: number;
  class_error: number;
  limits: string[];
}

export default function WhatIf() {
  return <Asked>{(findings) => <Choice findings={findings} />}</Asked>;
}

export const isReplayed = (finding: Finding) => finding.saving?.basis === "replay";

function Choice({ findings }: { findings: Findings }) {
  const all = findings.findings.map((finding, at) => ({ finding, at }));
  const can = all.filter(({ finding }) => isReplayed(finding));
  const asked = place.value.params.get("finding");
  const [at, setAt] = useState(asked === null ? can[0]?.at : Number(asked));
  const chosen = all[at ?? -1];
  return (
    <>
      <p class="lead">If the change of a finding were made, the capture would become another timeline. It is computed by replaying the recorded dependencies. <b>Everything below that is marked “predicted” was not measured.</b></p>
      {can.length === 0 && <p class="missing">No finding of this capture has a change that can be replayed, so there is no predicted timeline and no number.</p>}
      {can.length > 0 && (
        <div class="tools"><label>Change <select aria-label="Finding" value={at} onChange={(event) => { const next = Number(event.currentTarget.value); setAt(next); keep({ finding: next, step: undefined }); }}>
          {(chosen === undefined || isReplayed(chosen.finding) ? can : [...can, chosen]).map((one) => <option key={one.at} value={one.at}>{one.finding.rule}: {visible(short(one.finding.message.replaceAll("`", ""), 90))}</option>)}
        </select></label></div>
      )}
      {chosen !== undefined && <One key={chosen.at} at={chosen.at} finding={chosen.finding} />}
      <Others all={all.filter(({ finding }) => !isReplayed(finding))} />
    </>
  );
}

function One({ at, finding }: { at: number; finding: Finding }) {
  return (
    <>
      <section class={`cause ${finding.level}`} aria-label="The change">
        <h3><code>{finding.rule}</code> <Ticked text={finding.message} /></h3>
        {finding.help !== null && <p><b>Help:</b> <Ticked text={finding.help} /></p>}
        {isReplayed(finding) && <Saving finding={finding} />}
      </section>
      {isReplayed(finding) ? <Replayed at={at} /> : <p class="missing">No predicted timeline: {visible(whyNot(finding))}.</p>}
    </>
  );
}

const whyNot = (finding: Finding) => finding.saving?.refused ?? (finding.saving === null ? "what the change would save can't be told from a capture" : "the finding has no change that can be replayed");

/** The interval of the saving, as a bar of the time that it is of. */
function Saving({ finding }: { finding: Finding }) {
  const saving = finding.saving;
  if (saving === null || saving.low_ns === null || saving.high_ns === null) return null;
  const [low, high] = [saving.share_low ?? 0, saving.share_high ?? 0];
  return (
    <div class="interval">
      <p><span class="tag predicted">predicted</span> Saves <b>{saving.low_ns === saving.high_ns ? time(saving.high_ns) : `${time(saving.low_ns)} to ${time(saving.high_ns)}`}</b> per {saving.per} ({share(low)} to {share(high)})</p>
      <div class="range" role="img" aria-label={`Between ${share(low)} and ${share(high)} of the time`}><i style={{ left: `${100 * low}%`, width: `${Math.max(0.6, 100 * (high - low))}%` }} /></div>
    </div>
  );
}

function Replayed({ at }: { at: number }) {
  const params = place.peek().params;
  const [step, setStep] = useState(params.has("step") ? Number(params.get("step")) : undefined);
  const query = { finding: at, step };
  return (
    <Answer<Replay> path="replay" query={query}>
      {(replay) => replay.refused !== null ? <p class="missing">No predicted timeline, and no number: {visible(replay.refused)}.</p> : (
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

/** Findings without a predicted timeline, each with the reason. */
function Others({ all }: { all: { finding: Finding; at: number }[] }) {
  const worth = all.filter(({ finding }) => finding.level !== "info");
  if (worth.length === 0) return null;
  return (
    <section aria-label="Out of reach">
      <h2>Out of reach</h2>
      <ul class="rules">{worth.map(({ finding, at }) => <li key={at}><code>{finding.rule}</code> <Ticked text={finding.message} />: <span class="quiet">{visible(whyNot(finding))}</span></li>)}</ul>
      <p class="quiet"><a href={link("findings")}>All findings</a></p>
    </section>
  );
}
