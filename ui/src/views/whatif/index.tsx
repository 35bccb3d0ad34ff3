// The timeline that the capture would become with a change made, a finding's or one that is typed, beside today's: predicted,
// with its interval and what it does not cover; no number where the replay does not explain the capture.

import { useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { source } from "../../context";
import { share, short, time, visible } from "../../format";
import type { Finding, Findings } from "../../source/types";
import { Asked } from "../findings/asked";
import { Ticked } from "../../parts/ticked";
import { Own } from "./own";
import { Replayed } from "./replayed";
import "./style.css";

export default function WhatIf() {
  const [isOwn, setOwn] = useState(source().live && place.peek().params.has("changes"));
  const turn = (own: boolean) => {
    setOwn(own);
    keep(own ? { finding: undefined, step: undefined } : { changes: undefined, step: undefined });
  };
  return (
    <>
      <p class="lead">If a change were made, the capture would become another timeline. It is computed by replaying the recorded dependencies. <b>Everything below that is marked “predicted” was not measured.</b></p>
      {source().live && (
        <div class="tabs" role="group" aria-label="What is changed">
          <button type="button" aria-pressed={!isOwn} onClick={() => turn(false)}>A finding's change</button>
          <button type="button" aria-pressed={isOwn} onClick={() => turn(true)}>Own changes</button>
        </div>
      )}
      {isOwn ? <Own /> : <Asked>{(findings) => <Choice findings={findings} />}</Asked>}
    </>
  );
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
      {isReplayed(finding) ? <Replayed of={{ finding: at }} /> : <p class="missing">No predicted timeline: {visible(whyNot(finding))}.</p>}
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
