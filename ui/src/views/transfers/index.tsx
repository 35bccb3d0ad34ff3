// What was copied: where to, in which sizes, how fast beside the link.

import { useRef, useState } from "preact/hooks";
import { link } from "../../address";
import { dark } from "../../context";
import { fill } from "../../draw/palette";
import { bytes, count, show, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import { Meter } from "../../parts/bar";
import { Columns, Keys } from "../../parts/columns";
import { Facts } from "../../parts/facts";
import { drawingWidth } from "../../parts/save";
import { SaveAs } from "../../parts/save-as";
import { decades, part, span } from "../../parts/scale";
import type { Cell, Fact, TableAnswer } from "../../source/types";
import { CopyTable } from "../../parts/copy-table";
import { answered, TableAmong } from "../tables/among";

type Row = Record<string, Cell>;

/** The rows of a table by the names of its columns. */
function rowsOf(table: TableAnswer): Row[] {
  return table.rows.map((row) => Object.fromEntries(table.columns.map((column, at) => [column.id, row[at] ?? null])));
}

const number = (row: Row, key: string) => (typeof row[key] === "number" ? row[key] : 0);

export default function Transfers() {
  const views = answered("transfers");
  const has = (id: string) => views.some((view) => view.id === id);
  if (views.length === 0) return <div class="missing"><p>This capture has no copies.</p></div>;
  return (
    <>
      {has("direction") && <Answer<TableAnswer> path="table/transfers/direction">{(table) => table.total === 0 ? <None table={table} /> : (
        <>
          <Directions table={table} />
          {has("size") && <Answer<TableAnswer> path="table/transfers/size">{(sizes) => <Sizes rows={rowsOf(sizes)} />}</Answer>}
          <TableAmong topic="transfers" views={views} first="cause" />
        </>
      )}</Answer>}
    </>
  );
}

/** The capture may say why it has none. */
function None({ table }: { table: TableAnswer }) {
  const why = factsOf(table).find((fact) => fact.unit === "text");
  return <div class="missing"><p>This capture has no copies{why === undefined ? "" : `: ${visible(String(why.value))}`}.</p></div>;
}

const factsOf = (table: TableAnswer): Fact[] => (table.facts ?? []).flatMap((one) => ("facts" in one ? one.facts : [one]));

function Directions({ table }: { table: TableAnswer }) {
  const rows = rowsOf(table);
  const facts = factsOf(table);
  const most = Math.max(1, ...rows.map((row) => number(row, "total_ns")));
  const subject = (at: number) => table.subjects?.[at];
  return (
    <div class="split">
      <section class="wide" aria-label="By direction">
        <h2>By direction <CopyTable name="directions" rows={() => [table.columns.map((column) => column.id), ...table.rows]} /></h2>
        <div class="list plain" role="region" aria-label="Directions" tabIndex={0}>
          <table>
            <thead><tr><th>Direction</th><th>From, to</th><th class="n">Copies</th><th class="n">Bytes</th><th class="n">Time</th><th class="n">Exposed</th><th class="n">Rate</th><th class="n">of the link</th></tr></thead>
            <tbody>
              {rows.map((row, at) => (
                <tr>
                  <td>{typeof subject(at)?.id !== "string" ? visible(String(row["direction"] ?? "")) : <a href={link("timeline", { subject: subject(at)?.id ?? "", title: String(row["direction"] ?? "") })}>{visible(String(row["direction"] ?? ""))}</a>}</td>
                  <td class="quiet">{show(row["from"] ?? null, "text")} → {show(row["to"] ?? null, "text")}</td>
                  <td class="n">{show(row["transfers"] ?? null, "count")}</td>
                  <td class="n">{show(row["bytes"] ?? null, "bytes")}</td>
                  <td class="n"><Meter share={number(row, "total_ns") / most} />{show(row["total_ns"] ?? null, "ns")}</td>
                  <td class="n">{show(row["exposed_ns"] ?? null, "ns")}</td>
                  <td class="n">{show(row["bytes_per_sec"] ?? null, "bytes/s")}</td>
                  <td class="n">{show(row["link_share"] ?? null, "share")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {facts.length > 0 && <section class="card" aria-label="Total"><h2>Total</h2><Facts facts={facts} /></section>}
    </div>
  );
}

const MEASURES = [["total_ns", "Time", time], ["bytes", "Bytes", bytes], ["transfers", "Copies", count]] as const;

function Sizes({ rows }: { rows: Row[] }) {
  const drawing = useRef<SVGSVGElement>(null);
  const [by, setBy] = useState(0);
  const [key, , words] = MEASURES[by] ?? MEASURES[0];
  const sized = rows.filter((row) => number(row, "from_bytes") > 0);
  // One size is no distribution: the table above has it.
  if (sized.length < 2) return null;
  const directions = [...new Set(sized.map((row) => String(row["direction"] ?? "")))];
  const color = (direction: string) => fill([0, 3, 1, 5, 4, 2][directions.indexOf(direction)] ?? 15, dark.value);
  const power = (row: Row) => Math.round(Math.log2(number(row, "from_bytes")));
  const first = Math.min(...sized.map(power));
  const powers = Array.from({ length: Math.max(...sized.map(power)) - first + 1 }, (_, n) => first + n);
  const columns = powers.map((at) => {
    const here = sized.filter((row) => power(row) === at);
    return {
      title: `${bytes(2 ** at)} to ${bytes(2 ** (at + 1))}: ${here.length === 0 ? "none" : here.map((row) => `${row["direction"]} ${count(number(row, "transfers"))}, ${time(number(row, "total_ns"))}`).join("; ")}`,
      parts: here.map((row) => ({ value: number(row, key), color: color(String(row["direction"] ?? "")) })),
    };
  });
  const every = Math.max(1, Math.ceil(powers.length / 8));
  return (
    <section aria-label="By size">
      <h2>By size</h2>
      <div class="tabs small" role="group" aria-label="Height">
        {MEASURES.map(([id, title], at) => <button key={id} type="button" aria-pressed={at === by} onClick={() => setBy(at)}>{title}</button>)}
      </div>
      <figure>
        <Columns drawing={drawing} columns={columns} show={words} gap={3} edges names={powers.flatMap((at, n) => (n % every === 0 ? [[n, bytes(2 ** at)] as const] : []))} label={`Copies by size: ${columns.map((column) => column.title).join(". ")}`} />
        <figcaption>
          <Keys of={directions.map((name) => ({ name, color: color(name) }))} />
          <SaveAs of={drawing} name="transfers" rows={() => [["direction", "from_bytes", "transfers", "bytes", "total_ns", "bytes_per_sec"], ...sized.map((row) => ["direction", "from_bytes", "transfers", "bytes", "total_ns", "bytes_per_sec"].map((id) => row[id] ?? null))]} />
        </figcaption>
      </figure>
      <Rates rows={sized} color={color} directions={directions} />
    </section>
  );
}

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [230, 80, 16, 14, 40];

/** The rate of each size, beside what the link can do: small copies cost their start. */
function Rates({ rows, color, directions }: { rows: Row[]; color: (direction: string) => string; directions: string[] }) {
  const drawing = useRef<SVGSVGElement>(null);
  const rated = rows.filter((row) => number(row, "bytes_per_sec") > 0);
  if (rated.length === 0) return null;
  const width = drawingWidth(900);
  const links = [...new Map(rated.filter((row) => number(row, "link_bytes_per_sec") > 0).map((row) => [String(row["direction"]), number(row, "link_bytes_per_sec")])).entries()];
  const xs = span(rated.map((row) => number(row, "from_bytes") * Math.SQRT2));
  const ys = span([...rated.map((row) => number(row, "bytes_per_sec")), ...links.map(([, rate]) => rate)]);
  const x = (value: number) => LEFT + part(value, xs) * (width - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - part(value, ys) * (HEIGHT - TOP - BOTTOM);
  const most = Math.max(1, ...rated.map((row) => number(row, "total_ns")));
  return (
    <>
      <h2>Rate by size</h2>
      <figure>
        <svg ref={drawing} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Rate by size: ${rated.map((row) => `${row["direction"]} of ${bytes(number(row, "from_bytes"))} ${show(row["bytes_per_sec"] ?? null, "bytes/s")}`).join("; ")}`}>
          <g class="axes">
            {decades(xs).map((value) => <g key={`x${value}`}><line x1={x(value)} x2={x(value)} y1={TOP} y2={HEIGHT - BOTTOM} /><text x={x(value)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{show(value, "bytes")}</text></g>)}
            {decades(ys).map((value) => <g key={`y${value}`}><line x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} /><text x={LEFT - 6} y={y(value) + 4} text-anchor="end">{show(value, "bytes/s")}</text></g>)}
            <text x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 4} text-anchor="middle">size of a copy</text>
          </g>
          {links.map(([name, rate]) => <g key={name} class="roofs"><line x1={LEFT} x2={width - RIGHT} y1={y(rate)} y2={y(rate)} /><text x={width - RIGHT - 4} y={y(rate) - 4} text-anchor="end">link, {visible(name)}: {show(rate, "bytes/s")}</text></g>)}
          {directions.map((direction) => {
            const mine = rated.filter((row) => row["direction"] === direction).sort((a, b) => number(a, "from_bytes") - number(b, "from_bytes"));
            const at = (row: Row) => [x(number(row, "from_bytes") * Math.SQRT2), y(number(row, "bytes_per_sec"))] as const;
            return (
              <g key={direction}>
                <polyline points={mine.map((row) => at(row).map((value) => value.toFixed(1)).join(",")).join(" ")} fill="none" stroke={color(direction)} stroke-width={1.5} />
                {mine.map((row) => <circle key={number(row, "from_bytes")} cx={at(row)[0]} cy={at(row)[1]} r={Math.max(3, Math.sqrt(number(row, "total_ns") / most) * 12)} fill={color(direction)} stroke="var(--ink)" stroke-opacity={0.4}><title>{`${direction}, ${bytes(number(row, "from_bytes"))} to ${bytes(number(row, "below_bytes"))}: ${show(row["bytes_per_sec"] ?? null, "bytes/s")}, ${time(number(row, "total_ns"))}`}</title></circle>)}
              </g>
            );
          })}
        </svg>
        <figcaption><span class="quiet">The area of a disk is the time. </span><SaveAs of={drawing} name="rates" rows={() => [["direction", "from_bytes", "bytes_per_sec"], ...rated.map((row) => [row["direction"] ?? null, row["from_bytes"] ?? null, row["bytes_per_sec"] ?? null])]} /></figcaption>
      </figure>
    </>
  );
}
