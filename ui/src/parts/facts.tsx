// Facts with their units, and what each means where somebody points at it or comes to it by keyboard.

import { share, show } from "../format";
import type { Fact, Section } from "../source/types";

export function Facts(props: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {props.facts.map((fact) => (
        <div class="fact" key={fact.key}>
          <dt><About text={about(fact.definition, fact.basis)}>{fact.title}</About></dt>
          <dd>
            {show(fact.value, fact.unit)}
            {fact.share !== null && fact.share !== undefined && <span class="quiet share"> {share(fact.share)}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function about(definition: string, basis: string | null | undefined): string {
  if (definition === "") return basis ?? "";
  return basis !== null && basis !== undefined && !definition.includes(basis) ? `${definition} (${basis})` : definition;
}

/** Words that say more of themselves; the tip is drawn by `Tip`. */
function About(props: { text: string; children: preact.ComponentChildren }) {
  if (props.text === "") return <>{props.children}</>;
  return <button type="button" class="about" data-about={props.text}>{props.children}</button>;
}

export function Sections(props: { sections: readonly Section[]; heading?: "h2" | "h3" }) {
  const Heading = props.heading ?? "h2";
  return (
    <>
      {props.sections.map((section) => (
        <section class="card" key={section.title}>
          <Heading>{section.title}</Heading>
          <Facts facts={section.facts} />
        </section>
      ))}
    </>
  );
}
