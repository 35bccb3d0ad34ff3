// The overview of a capture that has allocators and no timeline: the peak of each, and who held it.

import { link } from "../../address";
import { bytes, plural, share, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { CopyTable } from "../../parts/copy-table";
import { madeBy, type Held as Owned } from "../memory/alive";

interface Allocator { id: string; name: string; peak_bytes: number; peak_ns: number; alive_at_peak: Owned[]; unknown_at_peak_bytes: number }

const SHOWN = 12;

export function Held() {
  return (
    <Answer<{ allocators: Allocator[] }> path="chart/memory">
      {({ allocators }) => <>{allocators.filter((one) => one.peak_bytes > 0).map((one) => <One key={one.id} of={one} />)}</>}
    </Answer>
  );
}

function One({ of }: { of: Allocator }) {
  const part = (value: number) => value / Math.max(1, of.peak_bytes);
  return (
    <section aria-label={`Peak of ${visible(of.name)}`}>
      <h2>{visible(of.name)}: {bytes(of.peak_bytes)} at the peak <span class="quiet">at {time(of.peak_ns)}</span> <CopyTable name="held" rows={() => [["held_by", "bytes", "blocks", "since_ns"], ...of.alive_at_peak.map((one) => [madeBy(one), one.bytes, one.blocks, one.since_ns])]} /></h2>
      <div class="list plain" role="region" aria-label={`Held at the peak of ${visible(of.name)}`} tabIndex={0}>
        <table>
          <thead><tr><th>Held by</th><th class="n">Bytes</th><th class="n">Share</th><th class="n">Blocks</th></tr></thead>
          <tbody>
            {of.alive_at_peak.slice(0, SHOWN).map((one, n) => <tr key={n}><td class="kernel">{visible(madeBy(one))}</td><td class="n">{bytes(one.bytes)}</td><td class="n"><Meter share={part(one.bytes)} />{share(part(one.bytes))}</td><td class="n">{one.blocks}</td></tr>)}
            {of.unknown_at_peak_bytes > 0 && <tr><td class="quiet">allocated before the recording</td><td class="n">{bytes(of.unknown_at_peak_bytes)}</td><td class="n"><Meter share={part(of.unknown_at_peak_bytes)} />{share(part(of.unknown_at_peak_bytes))}</td><td /></tr>}
          </tbody>
        </table>
      </div>
      <p><a href={link("memory")}>Memory over time</a>{of.alive_at_peak.length > SHOWN && <span class="quiet">, and {plural(of.alive_at_peak.length - SHOWN, "more owner")}</span>}</p>
    </section>
  );
}
