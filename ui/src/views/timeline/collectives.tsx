// Collectives that ran while nothing else did on their device, each a click away.

import { link } from "../../address";
import { plural, share, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import type { EventRef } from "../../source/types";
import { CopyTable } from "../../parts/copy-table";
import { goTo, light, listed } from "./state";

interface Exposed { count: number; total_ns: number; exposed_ns: number; rows: { event: EventRef; name: string; exposed_ns: number }[] }

export function ExposedCollectives() {
  return (
    <section class="hits" aria-label="Exposed collectives">
      <h2>Exposed collectives <button type="button" class="plain" aria-label="Close the list" onClick={() => { listed.value = false; }}>×</button></h2>
      <Answer<Exposed> path="collectives">{(found) => found.rows.length === 0
        ? <p class="quiet">{found.count === 0 ? "No collective ran in the judged time." : `None: other work covers all of ${time(found.total_ns)}.`}</p>
        : (
          <>
            <p>{time(found.exposed_ns)} of {time(found.total_ns)} in {plural(found.count, "collective")} ran while nothing else did on the device ({share(found.exposed_ns / Math.max(1, found.total_ns))}). <button type="button" onClick={() => light("exposed collectives", found.rows.length, found.rows.map((row) => row.event))}>Highlight</button> <CopyTable name="collectives" rows={() => [["name", "start_ns", "duration_ns", "exposed_ns"], ...found.rows.map((row) => [row.name, row.event[1], row.event[2], row.exposed_ns])]} /> <a class="chip" href={link("findings")}>Findings</a></p>
            <ol>{found.rows.map((row) => <li key={row.event[0]}><button type="button" class="plain" title={visible(row.name)} onClick={() => void goTo(row.event[0])}><span class="name">{visible(row.name)}</span><span class="n">{time(row.exposed_ns)}{row.exposed_ns < row.event[2] && <span class="quiet"> of {time(row.event[2])}</span>}</span></button></li>)}</ol>
          </>
        )}</Answer>
    </section>
  );
}
