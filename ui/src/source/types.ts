// What the server answers, as docs/web-api.md has it. Numbers of time are nanoseconds from the trace's start.

export type Cell = string | number | boolean | null;

export interface Note { severity: string; text: string }

export interface Fact {
  key: string;
  title: string;
  value: Cell;
  unit: string;
  share: number | null;
  definition: string;
  basis: string | null;
}

export interface Section { title: string; facts: Fact[] }

export interface ViewOfTopic { id: string; title: string; about: string; answered?: boolean }

export interface Topic { id: string; title: string; views: ViewOfTopic[] }

export interface Capture {
  /** What was opened; a file that was dropped on the page has no place. */
  path?: string | null;
  ridgeline: string;
  title: string;
  files: { name: string; format: string; bytes?: number }[];
  lost: Note[];
  span_ns: number;
  overview: Section[];
  topics: Topic[];
  info?: Section[];
  has: Record<string, boolean | number>;
}

export interface Column {
  id: string;
  title: string;
  about: string;
  unit: string;
  type?: string;
  basis: string | null;
  rank?: string;
}

/** `id` is what `events?subject=` takes; what has no events has none. */
export interface Subject { kind: string; text: string | null; id: string | null }

export interface TableAnswer {
  title: string;
  columns: Column[];
  rows: Cell[][];
  subjects?: (Subject | null)[];
  total: number;
  notes?: (Note | string)[];
  facts?: (Fact | Section)[];
}

/** `cut` says what is left out, if anything is. */
export interface QueryAnswer extends TableAnswer { cut: string | null; took_ns: number }

/** Row, start, duration, track, lane. */
export type EventRef = [number, number, number, number | string, number?];

interface FindingSubject { kind: string; text: string; id?: string; count?: number; events?: EventRef[] }

export interface Evidence { says: string; value: number | null; unit: string | null; basis: string | null }

export interface Finding {
  rule: string;
  level: string;
  message: string;
  location: { file: string | null; line: number | null; inferred?: boolean; text: string | null } | null;
  subjects: FindingSubject[];
  evidence: Evidence[];
  /** The finding that it is a symptom of. */
  because: { rule: string; finding: number } | null;
  why: string | null;
  help: string | null;
  holds_share: number | null;
  saving: {
    low_ns: number | null;
    high_ns: number | null;
    share_low: number | null;
    share_high: number | null;
    per: string;
    basis: string;
    refused: string | null;
  } | null;
}

interface RuleState { rule: string; state: string; findings: number; why: string | null; command: string | null }

export interface Findings {
  /** Set where the capture is so large that rules are held against it only when asked. */
  not_asked?: { events: number; most: number; ask: string };
  headline: string;
  verdict: { state: string; reasons: { rule: string; message: string; blocks: string[]; command: string | null }[] };
  notes?: { severity: string; message: string; file: string | null }[];
  frame?: { per: string; count: number; unit_ns: number; busy_share: number | null; held_share: number | null };
  findings: Finding[];
  rules: RuleState[];
}

export interface Track {
  id: number | string;
  name: string;
  kind: string;
  lanes: number;
  events: number;
  levels: [number, number];
}

export interface Group { id: number | string; name: string; kind: string; tracks: Track[]; row?: number | null }

export interface Category { id: number; name: string; color_index: number }

/** `device` is the row of the device that it is of, `of` whose it is in words. */
export interface Counter { id: number | string; name: string; unit: string; of?: string; device?: number | null; track?: number | string | null }

export interface Timeline {
  span_ns: number;
  /** First start and last end of what ran on devices. */
  work?: [number, number] | null;
  groups: Group[];
  categories: Category[];
  steps: [number, number, string][];
  counters: Counter[];
}

export interface Hit { row: number; start_ns: number; duration_ns: number; track: number | string; lane?: number; name: string }

export interface SearchAnswer { count: number; hits: Hit[] }

export interface SumRow { name: string; subject: string | null; self_ns: number; total_ns: number; events: number; share: number }

export interface SumList { rows: SumRow[]; rest: { rows: number; self_ns: number; events: number } | null }

export type SideName = "device" | "host" | "annotation" | "mark";

/** What a selection has of one side: work of devices, calls of the host, annotations, marks on devices. */
export interface Side {
  side: SideName;
  events: number;
  self_ns: number;
  /** The sum over devices, or threads, of the union of what each has. */
  busy_ns: number;
  busy: { name: string; subject: string | null; busy_ns: number; share: number }[];
  durations: { least_ns: number; p50_ns: number; p90_ns: number; p99_ns: number; most_ns: number; buckets: [from: number, count: number][] };
  by: Record<string, SumList>;
}

export interface SelectionAnswer { events: number; steps: number; tracks: number[]; sides: Side[] }

export type Details = Record<string, unknown>;
