// One finding: what, where, how much, why, what to do, and the way to its evidence.

import { Ticked } from "../../parts/ticked";
import { link } from "../../address";
import { count, share, show, time, visible } from "../../format";
import { Meter } from "../../parts/bar";
import type { Finding } from "../../source/types";
import { answered } from "../tables/among";

/** `at` is its position among the findings, `symptoms` are those that it explains, where they have no place of their own. */
export function Cause(props: { finding: Finding; at?: number; symptoms?: Finding[]; short?: boolean }) {
  const { finding } = props;
  const place = finding.location;
  return (
    <article class={`cause ${finding.level}`}>
      <h3><span class="level">{finding.level}</span> <code>{finding.rule}</code> <Ticked text={finding.message} /></h3>
      <p class="where">
        {place !== null && place.file !== null
          ? <a href={link("source", { file: place.file, line: place.line ?? undefined })}>{visible(place.file)}{place.line === null ? "" : `:${place.line}`}</a>
          : place !== null && place.text !== null && <span class="quiet">{visible(place.text)}</span>}
        {finding.holds_share !== null && finding.holds_share > 0 && <span class="holds"><Meter share={finding.holds_share} /> {share(finding.holds_share)} of the time</span>}
      </p>
      {props.short !== true && finding.evidence.length > 0 && (
        <ul class="evidence">
          {finding.evidence.map((one) => <li>{one.value !== null && <b>{show(one.value, one.unit)} </b>}<Ticked text={one.says} />{one.basis !== null && <span class="quiet"> {one.basis}</span>}</li>)}
        </ul>
      )}
      {props.short !== true && finding.because !== null && <p>A symptom of <code>{finding.because.rule}</code>.</p>}
      {props.short !== true && finding.why !== null && <p><b>Why:</b> <Ticked text={finding.why} /></p>}
      {finding.help !== null && <p><b>Help:</b> <Ticked text={finding.help} /></p>}
      <Saving finding={finding} at={props.at} />
      {(props.symptoms ?? []).map((one) => <p key={one.rule} class="quiet">Also seen as: <Ticked text={one.message} /> <code>{one.rule}</code></p>)}
      <Evidence finding={finding} />
    </article>
  );
}

function Saving(props: { finding: Finding; at?: number | undefined }) {
  const saving = props.finding.saving;
  if (saving === null) return null;
  if (saving.refused !== null) return <p class="quiet">Saving: no prediction: {visible(saving.refused)}</p>;
  if (saving.low_ns === null || saving.high_ns === null) return null;
  const range = saving.low_ns === saving.high_ns ? time(saving.high_ns) : saving.low_ns === 0 ? `up to ${time(saving.high_ns)}` : `${time(saving.low_ns)} to ${time(saving.high_ns)}`;
  return (
    <p>
      <b>Saving:</b> {range} per {saving.per} <span class="quiet">({saving.basis})</span>
      {saving.basis === "replay" && props.at !== undefined && <> <a class="chip" href={link("whatif", { finding: props.at })}>Predicted timeline</a></>}
    </p>
  );
}

/** The table that has a row for each of a kind. */
const TABLES: Record<string, readonly [topic: string, view: string]> = {
  operation: ["stats", "op"], module: ["stats", "module"], range: ["stats", "range"], name: ["stats", "kernel"], line: ["stats", "source"],
  scope: ["stats", "scope"], category: ["stats", "category"], copies: ["stats", "copy"], device: ["idle", "device"],
};

/** To the rows of a subject, where this capture has a table of its kind. */
function ToTable({ subject }: { subject: { kind: string; text: string } }) {
  const [topic, view] = TABLES[subject.kind] ?? [];
  if (topic === undefined || !answered(topic).some((one) => one.id === view)) return null;
  return <a class="chip" href={link("tables", { topic, view, filter: subject.text })} aria-label={`Table: ${visible(subject.text)}`}>Table</a>;
}

/** Ways to what the finding stands on. */
function Evidence(props: { finding: Finding }) {
  const links = props.finding.subjects.filter((one) => one.id !== undefined && (one.count ?? one.events?.length ?? 0) > 0).slice(0, 6);
  if (links.length === 0) return null;
  return (
    <p class="links">
      {links.map((one) => (
        <span key={one.id} class="ways">
          <a class="chip" href={link("timeline", { subject: one.id, title: one.text })} title={visible(one.text)}>
            Timeline: {clipped(one.text)}{(one.count ?? 0) > 1 ? ` × ${count(one.count ?? 0)}` : ""}
          </a>
          <ToTable subject={one} />
        </span>
      ))}
    </p>
  );
}

const clipped = (text: string) => (text.length > 42 ? `${visible(text.slice(0, 41))}…` : visible(text));
