// Who holds an allocator's memory at one time, most bytes first.

import { useRef } from "preact/hooks";
import { bytes, count, instant, time, visible } from "../../format";
import { Awaited, Missing, useAnswer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { CopyTable } from "../../parts/copy-table";
import { useSettled } from "../../parts/settled";

export interface Held { owner: string; stack: string[]; bytes: number; blocks: number; since_ns: number }
interface Answer { at_ns: number; bytes: number; alive: Held[]; unknown_bytes: number }

/** A cursor that moves asks once it stays for so long, milliseconds. */
const STAYS = 120;
const LISTED = 60;

/** At a time, told as exactly as others that are `step` apart need; what was shown before stays until the answer is there, so that nothing jumps under the cursor. */
export function AliveAt({ allocator, at, step }: { allocator: string; at: number; step: number }) {
  const state = useAnswer<Answer>("chart/alive", { allocator, at: useSettled(at, STAYS) });
  const before = useRef<Answer | undefined>(undefined);
  if (state.is === "there") before.current = state.value;
  if (state.is === "missing") return <Missing text={state.text} hint={state.hint} />;
  const shown = before.current;
  return shown === undefined ? <Awaited /> : <Alive title={`Alive at ${instant(shown.at_ns, step)}`} held={shown.alive} unknown={shown.unknown_bytes} />;
}

/** The owner; a frame of no known file has only its function. */
export const madeBy = (one: Held) => (one.owner !== "" ? one.owner : one.stack[0] ?? "unknown").replace(/^\?\?:0 /, "");

export function Alive({ title, held, unknown }: { title: string; held: readonly Held[]; unknown: number }) {
  const whole = held.reduce((sum, one) => sum + one.bytes, unknown);
  return (
    <div class="list tall" role="region" aria-label="Alive" tabIndex={0}>
      <table>
        <caption>{title} <CopyTable name="alive" rows={() => [["bytes", "blocks", "since_ns", "made_by", "stack"], ...held.map((one) => [one.bytes, one.blocks, one.since_ns, madeBy(one), one.stack.join("; ")])]} /></caption>
        <thead><tr><th class="n">Bytes</th><th class="n">Blocks</th><th class="n">Since</th><th>Made by</th></tr></thead>
        <tbody>
          {held.slice(0, LISTED).map((one) => (
            <tr><td class="n"><Meter share={one.bytes / Math.max(1, whole)} />{bytes(one.bytes)}</td><td class="n">{count(one.blocks)}</td><td class="n">{time(one.since_ns)}</td><td class="name" title={one.stack.map(visible).join("\n")}>{visible(madeBy(one))}</td></tr>
          ))}
          {unknown > 0 && <tr><td class="n">{bytes(unknown)}</td><td /><td /><td class="quiet">from before the capture, or of unknown origin</td></tr>}
          {held.length === 0 && unknown <= 0 && <tr><td colSpan={4} class="quiet">Nothing is allocated.</td></tr>}
        </tbody>
      </table>
      {held.length > LISTED && <p class="quiet">and {count(held.length - LISTED)} smaller</p>}
    </div>
  );
}
