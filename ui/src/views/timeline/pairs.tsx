// What the server says of an event or a gap, in the order in which it came, with ways to what it names.

import { link } from "../../address";
import { count, show, time, visible } from "../../format";
import type { Cell, Details } from "../../source/types";
import { numberOf } from "./details";
import { goTo } from "./state";

const TITLES: Record<string, string> = {
  track_name: "Track", source: "Line", flops: "Work", bytes: "Traffic", flops_per_sec: "Rate", bytes_per_sec: "Traffic rate", prev_row: "Before", next_row: "Behind", about: "Why", dims: "Sizes",
};

const title = (key: string) => TITLES[key] ?? sentence(key.replace(/_(ns|bytes|pct)$/, "").replaceAll("_", " "));
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const UNITS: readonly (readonly [end: string, unit: string])[] = [["_ns", "ns"], ["bytes", "bytes"], ["share", "share"], ["_pct", "%"]];
const unitOf = (key: string) => UNITS.find(([end]) => key.endsWith(end))?.[1] ?? "";

/** What is known of something as rows of two cells, parts of parts with a dot between their names. */
export function fieldsOf(found: Details, above = ""): Cell[][] {
  return Object.entries(found).filter(([, value]) => value !== null && value !== undefined).flatMap(([key, value]): Cell[][] => {
    const name = above === "" ? key : `${above}.${key}`;
    if (typeof value !== "object") return [[name, value as Cell]];
    if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return [[name, value.join(" ")]];
    return fieldsOf(value as Details, name);
  });
}

/** What is known of something, in the order in which it came. */
export function Pairs(props: { found: Details; skip?: readonly string[] }) {
  const entries = Object.entries(props.found).filter(([key, value]) => value !== null && value !== undefined && !(props.skip ?? []).includes(key) && !(Array.isArray(value) && value.length === 0));
  return (
    <dl class="pairs">
      {entries.map(([key, value]) => (
        <div key={key}><dt>{title(key)}</dt><dd><Value name={key} value={value} /></dd></div>
      ))}
    </dl>
  );
}

function Value(props: { name: string; value: unknown }) {
  const { name, value } = props;
  // The sizes of a grid, in a line.
  if (Array.isArray(value) && value.every((one) => typeof one === "number")) return <>{value.map((one) => show(one, "")).join(" × ")}</>;
  if (Array.isArray(value)) return <ul>{value.slice(0, 50).map((one) => <li><Value name={name} value={one} /></li>)}{value.length > 50 && <li class="quiet">and {count(value.length - 50)} more</li>}</ul>;
  if (typeof value !== "object" || value === null) {
    if ((name === "prev_row" || name === "next_row") && typeof value === "number") return <button type="button" onClick={() => void goTo(value)}>go there</button>;
    return <>{show(value, unitOf(name))}</>;
  }
  const fields = value as Record<string, unknown>;
  if ("value" in fields && "unit" in fields) {
    const unit = String(fields["unit"] ?? "");
    return <>{show(fields["value"], unit)}{name === "headroom" ? " ×" : ""}{typeof fields["basis"] === "string" && <span class="quiet"> {fields["basis"]}</span>}</>;
  }
  if (typeof fields["id"] === "string" && typeof fields["name"] === "string") {
    return <>{visible(fields["name"])} <a class="chip" href={link("timeline", { subject: fields["id"], title: fields["name"] })}>All its events</a></>;
  }
  if (typeof fields["file"] === "string") {
    const line = fields["line"] as number | undefined;
    return <><a href={link("source", { file: fields["file"], line })}>{visible(fields["file"])}{line === undefined || line === null ? "" : `:${line}`}</a>{typeof fields["basis"] === "string" && <span class="quiet"> {fields["basis"]}{typeof fields["known"] === "string" && `: ${fields["known"]}`}</span>}</>;
  }
  if (typeof fields["row"] === "number") {
    const row = fields["row"];
    const at = numberOf(fields["start_ns"]);
    const rest = [fields["name"] ?? fields["thread"], numberOf(fields["duration_ns"]) === undefined ? undefined : time(numberOf(fields["duration_ns"]) ?? 0)].filter((part) => part !== undefined && part !== null);
    return <><button type="button" onClick={() => void goTo(row)}>{rest.length === 0 ? `event ${row}` : visible(String(rest.join(", ")))}</button>{at !== undefined && <span class="quiet"> at {time(at)}</span>}</>;
  }
  return <Pairs found={fields} />;
}
