// Memory: in use over time, what is alive at the cursor and at the peak, and what compiled programs plan.

import { capture } from "../../context";
import { Answer } from "../../parts/answer";
import { answered, TableAmong } from "../tables/among";
import { type Allocator, Use } from "./allocator";
import { Schedules } from "./schedule";
import "./style.css";

/** Tables that only compiled modules fill. */
const PLANNED = ["module", "alive", "donation"];

export default function Memory() {
  const hasPlans = capture.value?.has["hlo"] !== false;
  const views = answered("memory").filter((view) => hasPlans || !PLANNED.includes(view.id));
  return (
    <Answer<{ allocators: Allocator[] }> path="chart/memory">
      {({ allocators }) => (
        <>
          {allocators.map((one) => <Use key={one.id} of={one} />)}
          {allocators.length === 0 && hasPlans && <p>This capture has no allocator events, so no use over time. The compiler's plan is below.</p>}
          {capture.value?.has["memory"] === false ? (
            <div class="missing"><p>This capture has no memory data.</p><p class="quiet">`ridgeline record` keeps it; PyTorch's profiler does with `profile_memory=True`.</p></div>
          ) : <>{hasPlans && <Schedules />}<TableAmong topic="memory" views={views} /></>}
        </>
      )}
    </Answer>
  );
}
