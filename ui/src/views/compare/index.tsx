// Two captures beside each other: whether it got faster, how sure that is, and what changed.

import { useRef, useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { count, percent, plural, share, short, show, time, timeInterval, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { csvOf, save } from "../../parts/save";
import { source } from "../../context";
import { type Steps, StepSelect, TwoTimelines } from "../steps/two";
import { Ticked } from "../../parts/ticked";
import { CopyTable } from "../../parts/copy-table";
import "./style.css";

interface Place { file: string | null; line: number | null; inferred?: boolean; text: string | null }
interface Change {
  what: string; subject: string; subject_before: string | null; before_ns: number; after_ns: number; low_ns: number | null; high_ns: number | null;
  certainty: string; fate: string; before_count: number; after_count: number; location: Place | null; why: string[];
}
interface Side { names: string[]; units: number; devices: number; total_ns: number; busy_share: number | null; steps: { count: number; median_ns: number; quartile_ns: number; third_quartile_ns: number } | null }
interface Measure { key: string; title: string; unit: string; about: string; before: number | null; after: number | null }
interface Cause { fate: string; rule: string; message: string; location: Place | null; before_share: number | null; after_share: number | null }
interface Diff {
  verdict: { state: string; reasons: string[]; command: string | null };
  headline: string; doubts: { weight: string; message: string; command: string | null }[];
  per: string | null; before: Side; after: Side;
  whole: { before_ns: number; after_ns: number; low_ns: number | null; high_ns: number | null; share: number | null; share_low: number | null; share_high: number | null };
  options: { practical: number; confidence: number }; assumption: string | null; by: string; changes: Change[]; divisions: Record<string, Change[]>;
  measures: Measure[]; causes: Cause[] | null; notes: { severity: string; message: string }[];
}

export default function Compare() {
  return <Answer<Diff> path="compare">{(diff) => <Shown diff={diff} />}</Answer>;
}

/** Words of the report for what became of a finding, by its name in JSON. */
const FATES: Record<string, string> = { vanished: "resolved", stayed: "unchanged" };
/** For what speaks against a comparison. */
const WEIGHTS: Record<string, string> = { refuses: "not comparable" };
const GRAVE: Record<string, string> = { slower: "error", faster: "good", "cannot judge": "warning" };

function Shown({ diff }: { diff: Diff }) {
  const divisions: Record<string, Change[]> = { [diff.by]: diff.changes, ...diff.divisions };
  const [by, setBy] = useState(place.peek().params.get("by") ?? diff.by);
  const changes = divisions[by] ?? diff.changes;
  return (
    <>
      <section class={`cause verdict ${GRAVE[diff.verdict.state] ?? ""}`} aria-label="Verdict">
        <h2 class="headline">{visible(diff.headline)}</h2>
        <Whole diff={diff} />
        {diff.verdict.reasons.length > 0 && <ul>{diff.verdict.reasons.map((reason) => <li><Ticked text={reason} /></li>)}</ul>}
        {diff.doubts.filter((doubt) => !diff.verdict.reasons.includes(doubt.message)).map((doubt) => <p class="quiet">{WEIGHTS[doubt.weight] ?? "note"}: <Ticked text={doubt.message} /></p>)}
        {diff.verdict.command !== null && <p><b>Fix:</b> <code class="command">{visible(diff.verdict.command)}</code></p>}
      </section>
      <div class="cards">
        <SideCard title="Before" side={diff.before} per={diff.per} ns={diff.whole.before_ns} />
        <SideCard title="After (this capture)" side={diff.after} per={diff.per} ns={diff.whole.after_ns} />
        {diff.measures.length > 0 && (
          <section class="card" aria-label="Other metrics">
            <h2>Other metrics</h2>
            <dl class="facts">{diff.measures.map((one) => <div class="fact" key={one.key}><dt><button type="button" class="about" data-about={one.about}>{one.title}</button></dt><dd>{show(one.before, one.unit)} → {show(one.after, one.unit)}</dd></div>)}</dl>
          </section>
        )}
      </div>
      {source().live || source().holds("beside", ACROSS) ? <Across before={diff.before.names[0]} /> : null}
      <section aria-label="Changes">
        <h2>Changes <span class="quiet">per {diff.per ?? "capture"}</span></h2>
        <div class="tabs small" role="group" aria-label="Division">
          {Object.keys(divisions).map((one) => <button key={one} type="button" aria-pressed={one === by} onClick={() => { setBy(one); keep({ by: one }); }}>{one}</button>)}
          <button type="button" onClick={() => save(`changes-${by}.csv`, csvOf(rowsOf(changes)), "text/csv")}>Save CSV</button>
        </div>
        <Changes changes={changes} confidence={diff.options.confidence} />
      </section>
      {diff.causes !== null && diff.causes.length > 0 && (
        <section aria-label="Findings">
          <h2>Findings</h2>
          <ul class="rules">{diff.causes.map((one) => <li><b>{FATES[one.fate] ?? one.fate}</b> <code>{one.rule}</code> <Ticked text={one.message} /> <span class="quiet">{one.before_share !== null && `${share(one.before_share)} before`}{one.before_share !== null && one.after_share !== null && ", "}{one.after_share !== null && `${share(one.after_share)} after`}</span></li>)}</ul>
        </section>
      )}
      {diff.assumption !== null && <p class="quiet">{visible(diff.assumption)}</p>}
      {diff.notes.length > 0 && <details><summary>{plural(diff.notes.length, "note")}</summary><ul>{diff.notes.map((note) => <li>{note.severity}: {visible(note.message)}</li>)}</ul></details>}
    </>
  );
}

const ACROSS = { against: 1 };

/** A step of the other capture above one of this one; all of both where they have no steps. */
function Across(props: { before: string | undefined }) {
  const [wanted, want] = useState(!source().live);
  const [steps, setSteps] = useState<{ one?: number; other?: number }>({});
  const query = { ...ACROSS, ...steps };
  return (
    <section aria-label="Both timelines">
      {!wanted ? <p><button type="button" onClick={() => want(true)}>Show both timelines</button> <span class="quiet">opens {props.before === undefined ? "the other capture" : visible(props.before)} once more</span></p> : (
        <>
          {source().live && <Answer<Steps> path="steps" query={ACROSS}>{(before) => <Answer<Steps> path="steps">{(after) => before.steps.length > 0 && after.steps.length > 0 ? (
            <div class="tools">
              <StepSelect steps={before} label="Step before" value={steps.one ?? before.median ?? undefined} choose={(one) => setSteps({ ...steps, one })} />
              <span>beside</span>
              <StepSelect steps={after} label="Step after" value={steps.other ?? after.median ?? undefined} choose={(other) => setSteps({ ...steps, other })} />
              <span class="quiet">The median steps come first.</span>
            </div>
          ) : null}</Answer>}</Answer>}
          <TwoTimelines key={JSON.stringify(query)} query={query} titles={["before", "after"]} />
        </>
      )}
    </section>
  );
}

const rowsOf = (changes: Change[]) => [
  ["what", "subject", "before_ns", "after_ns", "low_ns", "high_ns", "certainty", "fate", "before_count", "after_count", "file", "line"],
  ...changes.map((one) => [one.what, one.subject, one.before_ns, one.after_ns, one.low_ns, one.high_ns, one.certainty, one.fate, one.before_count, one.after_count, one.location?.file ?? null, one.location?.line ?? null]),
];

const signed = (ns: number) => `${ns > 0 ? "+" : ns < 0 ? "−" : ""}${time(Math.abs(ns))}`;

/** The whole: a line from before to after, with the interval of the change. */
function Whole({ diff }: { diff: Diff }) {
  const { whole } = diff;
  const most = Math.max(1, whole.before_ns, whole.after_ns);
  return (
    <div class="beside">
      {([["before", whole.before_ns], ["after", whole.after_ns]] as const).map(([name, ns]) => (
        <div key={name}><span>{name}</span><i style={{ width: `${(70 * ns) / most}%` }} class={name} /><b>{time(ns)}</b></div>
      ))}
      {whole.share !== null && <p>{percent(whole.share)}{whole.share_low !== null && whole.share_high !== null && <> <span class="quiet">({percent(whole.share_low)} to {percent(whole.share_high)} with {Math.round(diff.options.confidence * 100)}% confidence)</span></>}; changes below {Math.round(diff.options.practical * 1000) / 10}% count as no change.</p>}
    </div>
  );
}

function SideCard(props: { title: string; side: Side; per: string | null; ns: number }) {
  const { side } = props;
  return (
    <section class="card" aria-label={props.title}>
      <h2>{props.title}</h2>
      {side.names.slice(0, 6).map((name) => <p class="path">{visible(name)}</p>)}
      {side.names.length > 6 && <p class="quiet">and {count(side.names.length - 6)} more</p>}
      <dl class="facts">
        <div class="fact"><dt>time per {props.per ?? "capture"}</dt><dd>{time(props.ns)}</dd></div>
        <div class="fact"><dt>devices</dt><dd>{count(side.devices)}</dd></div>
        {side.busy_share !== null && <div class="fact"><dt>devices busy</dt><dd>{share(side.busy_share)}</dd></div>}
        {side.steps !== null && <div class="fact"><dt>{side.steps.count === 1 ? "1 step" : `${count(side.steps.count)} steps, middle half`}</dt><dd>{time(side.steps.quartile_ns)} to {time(side.steps.third_quartile_ns)}</dd></div>}
      </dl>
    </section>
  );
}

const SHOWN = 60;

function Changes({ changes, confidence }: { changes: Change[]; confidence: number }) {
  const [all, setAll] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const delta = (one: Change) => one.after_ns - one.before_ns;
  const ends = (one: Change) => [delta(one), one.low_ns ?? 0, one.high_ns ?? 0];
  const most = Math.max(1, ...changes.flatMap((one) => ends(one).map(Math.abs)));
  if (changes.length === 0) return <p>No changes.</p>;
  return (
    <>
      <div class="list plain" role="region" aria-label="List of changes" tabIndex={0} ref={box}>
        <table class="changes">
          <thead><tr><th>What</th><th /><th class="n">Before</th><th class="n">After</th><th class="n">Change</th><th class="n"><span class="sr">The change as a bar with its interval</span></th><th>Certainty</th></tr></thead>
          <tbody>
            {(all ? changes : changes.slice(0, SHOWN)).map((one) => (
              <tr>
                <td class="quiet">{one.what}</td>
                <td class="subject">
                  <span title={visible(one.subject)}>{visible(short(one.subject, 70))}</span>
                  {one.fate !== "both" && <span class="tag">{one.fate === "appeared" ? "new" : one.fate === "vanished" ? "gone" : one.fate}</span>}
                  {one.location !== null && one.location.file !== null && <> <a href={link("source", { file: one.location.file, line: one.location.line ?? undefined })}>{visible(one.location.file.slice(one.location.file.lastIndexOf("/") + 1))}{one.location.line === null ? "" : `:${one.location.line}`}</a></>}
                  {one.subject_before !== null && one.subject_before !== one.subject && <div class="quiet small">was {visible(short(one.subject_before, 70))}</div>}
                  {one.why.map((line) => <div class="quiet small">{visible(line)}</div>)}
                </td>
                <td class="n">{time(one.before_ns)}</td>
                <td class="n">{time(one.after_ns)}</td>
                <td class="n"><b class={tone(one.certainty, delta(one))}>{signed(delta(one))}</b>{one.low_ns !== null && one.high_ns !== null && <div class="quiet small">{timeInterval(one.low_ns, one.high_ns)}</div>}</td>
                <td><Bar tone={tone(one.certainty, delta(one))} delta={delta(one)} low={one.low_ns} high={one.high_ns} most={most} /></td>
                <td class="quiet">{one.certainty}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">
        <CopyTable name="changes" rows={() => [["what", "subject", "before_ns", "after_ns", "low_ns", "high_ns", "certainty"], ...changes.map((one) => [one.what, one.subject, one.before_ns, one.after_ns, one.low_ns, one.high_ns, one.certainty])]} />{" "}
        {!all && changes.length > SHOWN && <><button type="button" onClick={() => setAll(true)}>Show all {count(changes.length)}</button> </>}
        Largest change first. {changes.some((one) => one.low_ns !== null) ? `Lines are intervals of ${Math.round(confidence * 100)}% confidence.` : "No intervals: the captures don't show how much these times vary."}
      </p>
    </>
  );
}

/** What nobody knows to be a change has no color of one. */
const tone = (certainty: string, ns: number) => (certainty !== "certain" ? "unsure" : ns > 0 ? "worse" : "better");

/** Less to the left, more to the right; the line is its interval. */
function Bar(props: { tone: string; delta: number; low: number | null; high: number | null; most: number }) {
  const x = (ns: number) => 60 + (ns / props.most) * 56;
  return (
    <svg class="bar" viewBox="0 0 120 16" width={120} height={16} aria-hidden="true">
      <line class="zero" x1={60} x2={60} y1={0} y2={16} />
      <rect class={props.tone} x={Math.min(60, x(props.delta))} y={3} width={Math.max(0.8, Math.abs(x(props.delta) - 60))} height={10} />
      {props.low !== null && props.high !== null && <><line class="ends" x1={x(props.low)} x2={x(props.high)} y1={8} y2={8} /><line class="ends" x1={x(props.low)} x2={x(props.low)} y1={5} y2={11} /><line class="ends" x1={x(props.high)} x2={x(props.high)} y1={5} y2={11} /></>}
    </svg>
  );
}
