// What a stranger needs first: what was lost, where the time went, what holds it back.

import { link } from "../../address";
import { capture, dark, source } from "../../context";
import { fill } from "../../draw/palette";
import { plural, share, show, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Stacked } from "../../parts/bar";
import { Sections } from "../../parts/facts";
import type { Capture, Findings, Note, Section } from "../../source/types";
import { Asked } from "../findings/asked";
import { Cause } from "../findings/cause";
import { Held } from "./held";
import { Profiles } from "./profiles";

export default function Overview() {
  const now = capture.value;
  if (now === undefined) return null;
  const [first, ...others] = now.overview;
  // What is not said is there.
  const has = (what: string) => now.has[what] !== false;
  return (
    <>
      <Lost capture={now} />
      {has("events") && <Answer<Findings> path="findings">{(findings) => findings.not_asked === undefined && <Headline findings={findings} />}</Answer>}
      {first !== undefined && has("events") && <TimeBar section={first} span={now.span_ns} />}
      {now.has["profiles"] === true && <Profiles />}
      {!has("events") && now.has["counters"] === true && <p>This capture has only counters. <a href={link("timeline")}>Show them over time</a></p>}
      {!has("events") && now.has["memory"] === true && <Held />}
      {(has("events") || now.has["profiles"] !== true) && <Asked>{(findings) => <Causes findings={findings} />}</Asked>}
      <div class="cards">
        <Sections sections={now.overview.length > 0 ? [first as Section, ...others] : []} />
        <Files capture={now} />
      </div>
      {(now.info ?? []).length > 0 && (
        <details class="about-capture">
          <summary>About the capture: recorder, versions, devices, contents</summary>
          <div class="cards"><Sections sections={now.info ?? []} /></div>
        </details>
      )}
    </>
  );
}

function Lost(props: { capture: Capture }) {
  const notes = props.capture.lost;
  const grave = notes.filter((note) => note.severity !== "info");
  const rest = notes.filter((note) => note.severity === "info");
  return (
    <section class="lost" aria-label="Lost data">
      {grave.length === 0 ? <p class="fine">No data was lost while reading this capture.</p> : (
        <ul>{grave.map((note) => <li class={note.severity}><b>{note.severity}</b> {visible(wordsOf(note))}</li>)}</ul>
      )}
      {rest.length > 0 && (
        <details><summary>{rest.length === 1 ? "1 note" : `${rest.length} notes`}</summary>
          <ul>{rest.map((note) => <li>{visible(wordsOf(note))}</li>)}</ul>
        </details>
      )}
      {source().leftOut.length > 0 && (
        <details><summary>Not in this report</summary>
          <ul>{source().leftOut.map((line) => <li>{visible(line)}</li>)}</ul>
        </details>
      )}
    </section>
  );
}

/** A note as a line begins with its severity, which is shown by itself. */
const wordsOf = (note: Note) => (note.text.startsWith(`${note.severity}: `) ? note.text.slice(note.severity.length + 2) : note.text);

function Headline(props: { findings: Findings }) {
  return <p class="headline">{visible(props.findings.headline)}</p>;
}

/** Keys of facts that divide the wall time, and their colors. */
const COLORS: Record<string, number> = { busy_ns: 0, idle_compile_ns: 5, idle_transfer_ns: 3, idle_copy_ns: 3, idle_other_ns: 15, idle_ns: 15 };

function TimeBar(props: { section: Section; span: number }) {
  const facts = props.section.facts;
  const wall = facts.find((fact) => fact.key === "wall_ns");
  const whole = typeof wall?.value === "number" ? wall.value : props.span;
  let next = 6;
  const parts = facts
    .filter((fact) => fact.unit === "ns" && typeof fact.value === "number" && (fact.key === "busy_ns" || fact.key.startsWith("idle")))
    .map((fact) => ({ name: fact.title, value: fact.value as number, text: `${time(fact.value as number)} (${share((fact.value as number) / Math.max(1, whole))})`, color: fill(COLORS[fact.key] ?? next++, dark.value) }));
  if (parts.length === 0) return null;
  return (
    <section aria-label="Time breakdown">
      <h2>{show(whole, "ns")} of wall time</h2>
      <Stacked parts={parts} whole={whole} label="Time breakdown" />
    </section>
  );
}

const SHOWN = 4;

function Causes(props: { findings: Findings }) {
  const all = props.findings.findings;
  // As in the terminal: what is worth mending, each with what it explains; the rest is a click away.
  const causes = all.filter((one) => one.level !== "info" && one.because === null);
  const unsaid = props.findings.rules.filter((rule) => rule.state === "cannot tell").length;
  return (
    <section aria-label="Bottlenecks">
      <h2>Bottlenecks</h2>
      {all.length === 0 && capture.value?.has["events"] === false ? <p>This capture has no events, so there was nothing to judge. <a href={link("findings")}>All rules</a></p> : causes.length === 0 && <p>No bottlenecks found{unsaid > 0 ? `; ${plural(unsaid, "rule")} could not decide` : ""}. <a href={link("findings")}>All rules</a></p>}
      <div class="causes">{causes.slice(0, SHOWN).map((finding) => <Cause key={all.indexOf(finding)} at={all.indexOf(finding)} finding={finding} symptoms={all.filter((one) => one.because?.finding === all.indexOf(finding))} short />)}</div>
      {all.length > 0 && <p><a href={link("findings")}>{all.length > causes.slice(0, SHOWN).length ? `All ${plural(all.length, "finding")}` : "All findings and rules"}</a></p>}
    </section>
  );
}

function Files(props: { capture: Capture }) {
  const { files, ridgeline } = props.capture;
  return (
    <section class="card">
      <h2>Files</h2>
      <dl class="facts">
        {files.slice(0, 20).map((file) => <div class="fact" key={file.name}><dt class="path">{visible(file.name)}</dt><dd>{visible(file.format)}</dd></div>)}
        {files.length > 20 && <div class="fact"><dt>and {files.length - 20} more</dt><dd /></div>}
        <div class="fact"><dt>Ridgeline</dt><dd>{ridgeline}</dd></div>
      </dl>
    </section>
  );
}
