// Values as the terminal shows them: three digits that matter and a unit, or a dash where nothing is known.

import type { Cell } from "./source/types";

const UNKNOWN = "–";

/** Three digits: 14.3, 143, 1.43; no zeros at the end. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  const text = value.toFixed(decimals);
  return decimals === 0 ? grouped(text) : text.replace(/\.?0+$/, "");
}

/** A comma between groups of three digits. */
const grouped = (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

function scaled(value: number, step: number, units: readonly string[]): string {
  let at = 0;
  let left = value;
  while (at + 1 < units.length && Math.abs(left) >= step - step / 2000) {
    left /= step;
    at += 1;
  }
  return `${at === 0 ? threeDigits(Math.round(left * 1000) / 1000) : threeDigits(left)} ${units[at]}`;
}

export function time(ns: number): string {
  const size = Math.abs(ns);
  if (size >= 120e9) return long(ns);
  return scaled(ns, 1000, ["ns", "µs", "ms", "s"]);
}

/** A moment in its largest unit, with as many digits as tell it from another `step` nanoseconds later. */
export function instant(at: number, step: number): string {
  const size = Math.abs(at);
  const [unit, by] = size >= 1e9 ? ["s", 1e9] as const : size >= 1e6 ? ["ms", 1e6] as const : size >= 1e3 ? ["µs", 1e3] as const : ["ns", 1] as const;
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(1, step) / by))));
  return `${(at / by).toFixed(decimals)} ${unit}`;
}

export const seconds = (value: number) => time(value * 1e9);

function long(ns: number): string {
  const seconds = Math.round(Math.abs(ns) / 1e9);
  const sign = ns < 0 ? "-" : "";
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0 ? `${sign}${hours} h ${minutes} min` : `${sign}${minutes} min ${seconds % 60} s`;
}

export const bytes = (value: number) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
const rate = (value: number, unit: string) => scaled(value, 1000, ["", "k", "M", "G", "T", "P", "E"].map((p) => p + unit));

/** Whole numbers in groups of three: 1,258. */
export function count(value: number): string {
  return (value < 0 ? "-" : "") + grouped(Math.abs(Math.round(value)).toString());
}

export function share(value: number): string {
  return value !== 0 && Math.abs(value) < 0.0005 ? "<0.1%" : `${(value * 100).toFixed(1)}%`;
}

/** A change with its sign: +3.1%. */
export const percent = (part: number) => `${part < 0 ? "" : "+"}${(part * 100).toFixed(Math.abs(part) < 10 ? 1 : 0)}%`;

/** The interval of a change of time, in the unit of its larger end: [+59.4, +60.8] ms. */
export function timeInterval(low: number, high: number): string {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const [by, unit] = size >= 0.9995e9 ? [1e9, "s"] as const : size >= 0.9995e6 ? [1e6, "ms"] as const : size >= 999.5 ? [1e3, "µs"] as const : [1, "ns"] as const;
  const end = (ns: number) => `${ns > 0 ? "+" : ""}${threeDigits(ns / by)}`;
  return `[${end(low)}, ${end(high)}] ${unit}`;
}

function real(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9 || (size !== 0 && size < 1e-3)) return value.toExponential(2).replace("e+", "e");
  return size >= 1000 ? count(value) : threeDigits(value);
}

/** `value`, which is in `unit`, as people read it. */
export function show(value: unknown, unit: string | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return visible(String(value));
  if (!Number.isFinite(value)) return UNKNOWN;
  switch (unit) {
    case "ns": return time(value);
    case "bytes": return bytes(value);
    case "share": return share(value);
    case "count": return count(value);
    case "flop": return rate(value, "FLOP");
    case "flop/s": return rate(value, "FLOP/s");
    case "ops/s": return rate(value, "op/s");
    case "bytes/s": return rate(value, "B/s");
    case "flop/byte": return `${real(value)} FLOP/B`;
    case "text": case "number": case "flag": case "": case null: case undefined:
      return Number.isInteger(value) && Math.abs(value) < 1e9 ? count(value) : real(value);
    default: return `${real(value)} ${unit}`;
  }
}

/** Control characters made visible: names come from captures. */
export function visible(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

/** Both ends of a long name: kernels differ at both. */
export function short(name: string, letters: number): string {
  if (name.length <= letters) return name;
  if (letters < 6) return `${name.slice(0, Math.max(1, letters - 1))}…`;
  const head = Math.ceil((letters - 1) * 0.6);
  return `${name.slice(0, head)}…${name.slice(name.length - (letters - 1 - head))}`;
}

/** One cell as CSV: quoted where it must be. */
export function csvCell(value: Cell): string {
  const text = value === null ? "" : String(value);
  // A name that begins like a formula would be run by a spreadsheet.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
