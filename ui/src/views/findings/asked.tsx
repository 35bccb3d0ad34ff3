// The findings; of a very large capture only when the reader asks, since holding all rules against it takes a while.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { count } from "../../format";
import { Answer } from "../../parts/answer";
import type { Findings } from "../../source/types";

export function Asked(props: { children: (findings: Findings) => ComponentChildren }) {
  const [wanted, want] = useState(false);
  return (
    <Answer<Findings> path="findings" query={wanted ? { ask: 1 } : {}}>
      {(findings) => findings.not_asked === undefined ? props.children(findings) : (
        <p>
          {count(findings.not_asked.events)} events; running all rules may take a while.{" "}
          <button type="button" onClick={() => want(true)}>Run rules</button>
        </p>
      )}
    </Answer>
  );
}
