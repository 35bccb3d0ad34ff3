// What `ridgeline check` says, in full, and what each rule could and could not tell.

import { plural, visible } from "../../format";
import { Asked } from "./asked";
import type { Findings } from "../../source/types";
import { Ticked } from "../../parts/ticked";
import { Cause } from "./cause";

const GROUPS: [state: string, title: string][] = [
  ["cannot tell", "Inconclusive"], ["problem", "Findings"], ["none", "No findings"],
];

export default function FindingsView() {
  return <Asked>{(findings) => <Shown findings={findings} />}</Asked>;
}

function Shown({ findings }: { findings: Findings }) {
  return (
    <>
      <p class="headline">{visible(findings.headline)}</p>
      {findings.verdict.reasons.length > 0 && (
        <ul class="lost">
          {findings.verdict.reasons.map((one) => (
            <li key={one.rule}><code>{one.rule}</code> <Ticked text={one.message} />{one.blocks.length > 0 && <span class="quiet">; effect: cannot tell {one.blocks.join(", ")}</span>}{one.command !== null && <> <code class="command">{one.command}</code></>}</li>
          ))}
        </ul>
      )}
      <div class="causes">{findings.findings.map((finding, at) => <Cause key={at} at={at} finding={finding} />)}</div>
      {findings.findings.length === 0 && <p>No findings.</p>}
      <h2>Rules</h2>
      <Rules findings={findings} />
    </>
  );
}

function Rules({ findings }: { findings: Findings }) {
  const groups = new Map<string, Findings["rules"]>();
  for (const rule of findings.rules) {
    const title = GROUPS.find(([state]) => rule.state === state)?.[1] ?? rule.state;
    groups.set(title, [...(groups.get(title) ?? []), rule]);
  }
  const order = [...groups].sort(([one], [other]) => GROUPS.findIndex(([, title]) => title === one) - GROUPS.findIndex(([, title]) => title === other));
  return (
    <>
      {order.map(([title, rules]) => (
        <details key={title} open={title === "Inconclusive" && rules.length < 12}>
          <summary>{title}: {plural(rules.length, "rule")}</summary>
          <ul class="rules">
            {rules.map((rule) => (
              <li key={rule.rule}><code>{rule.rule}</code>{rule.why !== null && <> <Ticked text={rule.why} /></>}{rule.command !== null && <> <code class="command">{rule.command}</code></>}</li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}
