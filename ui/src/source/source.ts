// Where answers come from: a server that holds the capture, or the report that this page is.

export type Query = Record<string, string | number | undefined>;

export interface Source {
  /** False in a report, where only what was put in can be answered. */
  readonly live: boolean;
  /** What a report left out, in sentences. */
  readonly leftOut: readonly string[];
  /** Whether a question can have an answer here; a report knows what it holds. */
  holds(path: string, query?: Query): boolean;
  json<T>(path: string, query?: Query): Promise<T>;
  bytes(path: string, query?: Query): Promise<ArrayBuffer>;
}

/** A question that has no answer here; `hint` says what to do. */
export class NoAnswer extends Error {
  /** `raw` is what the server said, to the letter. */
  constructor(message: string, readonly hint?: string | undefined, readonly raw?: { error: string; hints: string[] } | undefined) {
    super(message);
  }
}

/** `path?query` with the parameters in the order of their names: the key by which a report keeps an answer. */
export function keyOf(path: string, query: Query = {}): string {
  const parts = Object.keys(query)
    .filter((name) => query[name] !== undefined && query[name] !== "")
    .sort()
    .map((name) => `${name}=${encodeURIComponent(String(query[name]))}`);
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

const KEPT = 200;

/** Answers of JSON that were asked for, so that going back to a view asks nothing again. */
class Kept {
  private readonly answers = new Map<string, Promise<unknown>>();

  get<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.answers.get(key);
    if (known !== undefined) return known as Promise<T>;
    const answer = ask();
    this.answers.set(key, answer);
    answer.catch(() => this.answers.delete(key));
    const oldest = this.answers.keys().next().value;
    if (this.answers.size > KEPT && oldest !== undefined) this.answers.delete(oldest);
    return answer;
  }
}

export interface Captures { captures: { id: number; title: string; session: number | null }[]; sessions: string[]; most_bytes: number }

export class HttpSource implements Source {
  readonly live = true;
  readonly leftOut: readonly string[] = [];
  private readonly kept = new Kept();

  /**
   * `token` is empty in a tab with a copied address: the browser's cookie lets it in, below the path that the page is at.
   * `at` is the number of the capture: 0 the one that the server began with.
   */
  constructor(private readonly token: string, readonly at = 0) {}

  /** Changes the token for a cookie; the path at which that counts, so that a copied address opens in another tab. */
  async enter(): Promise<string> {
    return ((await (await this.fetch("enter", { method: "POST" })).json()) as { place: string }).place;
  }

  /** What is open, and what can be. */
  async captures(): Promise<Captures> {
    return (await this.fetch("captures")).json() as Promise<Captures>;
  }

  /** Opens a file, or a session of the list, beside the capture; its number. */
  async open(what: File | number): Promise<number> {
    const file = typeof what === "number" ? undefined : what;
    const path = keyOf("open", file === undefined ? { session: what as number } : { name: file.name });
    return ((await (await this.fetch(path, { method: "POST", body: file ?? null })).json()) as { id: number }).id;
  }

  holds(): boolean {
    return true;
  }

  json<T>(path: string, query?: Query): Promise<T> {
    const key = keyOf(path, query);
    return this.kept.get(key, async () => (await this.ask(key)).json() as Promise<T>);
  }

  async bytes(path: string, query?: Query): Promise<ArrayBuffer> {
    return (await this.ask(keyOf(path, query))).arrayBuffer();
  }

  /** The answer, made anew and not kept; given up when `until` says so. */
  async fresh<T>(path: string, query: Query, until: AbortSignal): Promise<T> {
    return (await this.ask(keyOf(path, query), { signal: until })).json() as Promise<T>;
  }

  private ask(key: string, how: RequestInit = {}): Promise<Response> {
    return this.fetch(this.at === 0 ? key : `at/${this.at}/${key}`, how);
  }

  private async fetch(key: string, how: RequestInit = {}): Promise<Response> {
    let answer: Response;
    try {
      answer = this.token === ""
        ? await fetch(`${location.pathname.replace(/[^/]*$/, "")}api/v1/${key}`, { ...how, headers: { "Ridgeline-Page": "1" } })
        : await fetch(`/api/v1/${key}`, { ...how, headers: { Authorization: `Bearer ${this.token}` } });
    } catch {
      throw new NoAnswer("The server doesn't answer.", "Is `ridgeline view` still running?");
    }
    if (answer.ok) return answer;
    if (answer.status === 401 || answer.status === 403) {
      throw new NoAnswer("The server doesn't accept this page.", "Open the address that `ridgeline view` printed, with its token. A copied address opens only in a browser that has opened that one.");
    }
    throw await said(answer);
  }
}

async function said(answer: Response): Promise<NoAnswer> {
  try {
    const body = (await answer.json()) as { error?: string; hints?: string[] };
    const text = body.error ?? `the server answered ${answer.status}`;
    return new NoAnswer(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`, body.hints?.join(" ") || undefined, body.error === undefined ? undefined : { error: body.error, hints: body.hints ?? [] });
  } catch {
    return new NoAnswer(answer.status === 404 ? "This capture has no such view." : `The server answered ${answer.status}.`);
  }
}

interface Index {
  left_out?: string[];
  at?: string | null;
  answers: Record<string, [offset: number, length: number, type: string]>;
}

export class EmbeddedSource implements Source {
  readonly live = false;
  private readonly kept = new Kept();

  private constructor(private readonly index: Index, private readonly bodies: Uint8Array) {}

  get leftOut(): readonly string[] {
    return this.index.left_out ?? [];
  }

  /** Where the report opens: a view with its state; nothing for the first. */
  get opensAt(): string {
    return this.index.at ?? "";
  }

  /** Unpacks what the report's element holds. */
  static async unpack(base64: string): Promise<EmbeddedSource> {
    const packed = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const all = new Uint8Array(await new Response(stream).arrayBuffer());
    const length = new DataView(all.buffer).getUint32(0, true);
    const index = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length))) as Index;
    return new EmbeddedSource(index, all.subarray(4 + length));
  }

  holds(path: string, query?: Query): boolean {
    return Object.hasOwn(this.index.answers, keyOf(path, query));
  }

  json<T>(path: string, query?: Query): Promise<T> {
    const key = keyOf(path, query);
    return this.kept.get(key, async () => JSON.parse(new TextDecoder().decode(this.find(key))) as T);
  }

  async bytes(path: string, query?: Query): Promise<ArrayBuffer> {
    return this.find(keyOf(path, query)).slice().buffer as ArrayBuffer;
  }

  private find(key: string): Uint8Array {
    const place = Object.hasOwn(this.index.answers, key) ? this.index.answers[key] : undefined;
    if (place === undefined) {
      throw new NoAnswer("Not in this report.", "Open the capture itself with `ridgeline view CAPTURE`.");
    }
    return this.bodies.subarray(place[0], place[0] + place[1]);
  }
}
