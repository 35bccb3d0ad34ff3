// What differs between two stretches of time, largest first: devices by operation, the host by call, idle time by cause.

import { useState } from "preact/hooks";
import { count, percent, plural, time, visible } from "../format";
import type { Cell } from "../source/types";
import type { Differences, Row } from "./pieces";
import { CopyTable } from "./copy-table";

const SIDES: Record<string, [title: string, about: string]> = {
  device: ["Devices", "Self times of operations, of kernels where no operation is known"],
  host: ["Host", "Self times of calls and functions of host threads"],
  idle: ["Idle", "Idle time of the devices by cause"],
};
const SHOWN = 40;
const signed = (ns: number) => `${ns > 0 ? "+" : ns < 0 ? "−" : ""}${time(Math.abs(ns))}`;

/** `light` is called with the name of a row, or with nothing. */
export function DifferenceTable(props: { of: Differences; titles: [string, string]; lit: string | undefined; light: (name: string | undefined) => void }) {
  const lists = props.of.lists.filter((list) => list.rows.length > 0);
  const [side, setSide] = useState("device");
  const [all, setAll] = useState(false);
  const list = lists.find((one) => one.side === side) ?? lists[0];
  const [one, other] = props.titles.map(visible) as [string, string];
  const cells = (rows: readonly Row[]): Cell[][] => [["name", "one_ns", "other_ns", "difference_ns", "one_events", "other_events"], ...rows.map(([name, a, b, n, m]): Cell[] => [name, a, b, b - a, n, m])];
  return (
    <section class="differences" aria-label="Differences">
      <h2>Differences <span class="quiet">from {one} to {other}, largest first</span></h2>
      <table class="totals"><tbody>{props.of.totals.map(([name, a, b]) => <tr key={name}><th scope="row">{name}</th><td class="n">{time(a)}</td><td class="n">{time(b)}</td><td class="n"><b>{signed(b - a)}</b></td><td class="n quiet">{a > 0 ? percent((b - a) / a) : ""}</td></tr>)}</tbody></table>
      <div class="tabs small" role="group" aria-label="What differs">
        {lists.map((each) => <button key={each.side} type="button" aria-pressed={each === list} title={SIDES[each.side]?.[1]} onClick={() => { setSide(each.side); setAll(false); }}>{SIDES[each.side]?.[0] ?? each.side}</button>)}
        {list !== undefined && <CopyTable name="differences" rows={() => cells(list.rows)} />}
      </div>
      {list === undefined ? <p class="quiet">Nothing ran in either.</p> : (
        <div class="list plain" role="region" aria-label="List of differences" tabIndex={0}>
          <table>
            <thead><tr><th scope="col">Name</th><th scope="col" class="n">{one}</th><th scope="col" class="n">{other}</th><th scope="col" class="n">Difference</th><th scope="col" class="n">Events</th></tr></thead>
            <tbody>
              {(all ? list.rows : list.rows.slice(0, SHOWN)).map(([name, a, b, n, m]) => (
                <tr key={name} class={props.lit === name && list.side !== "idle" ? "chosen" : ""}>
                  <td class="name">{list.side === "idle" ? visible(name) : <button type="button" class="plain" aria-pressed={props.lit === name} title="Highlight it in both timelines" onClick={() => props.light(props.lit === name ? undefined : name)}>{visible(name)}</button>}</td>
                  <td class="n">{n === 0 ? "–" : time(a)}</td>
                  <td class="n">{m === 0 ? "–" : time(b)}</td>
                  <td class="n"><b>{signed(b - a)}</b></td>
                  <td class="n quiet">{n === m ? count(n) : `${count(n)} → ${count(m)}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list !== undefined && <p class="quiet">{!all && list.rows.length > SHOWN && <><button type="button" onClick={() => setAll(true)}>Show all {count(list.rows.length)}</button> </>}{list.rest !== null && `${plural(list.rest.rows, "smaller row")} left out, ${signed(list.rest.delta_ns)} together.`}</p>}
    </section>
  );
}
