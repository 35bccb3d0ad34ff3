// Opens captures beside the one that the server began with: files that are dropped on the page or chosen, sessions of a log folder.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { recall, remember } from "../address";
import { reason, say, source } from "../context";
import { bytes, visible } from "../format";
import { type Captures, HttpSource } from "../source/source";

const KEY = "ridgeline-capture";
const known = signal<Captures | undefined>(undefined);
const opening = signal<string | undefined>(undefined);
const over = signal(false);

/** The capture that was looked at before the page was loaded. */
export const numberOfCapture = () => Number(recall(KEY) ?? 0) || 0;

/** Shows another capture: everything begins anew with it. */
function turnTo(id: number): void {
  remember(KEY, String(id));
  history.replaceState(null, "", "#/overview");
  location.reload();
}

async function open(what: File | number, name: string): Promise<void> {
  const from = source();
  if (!(from instanceof HttpSource) || opening.value !== undefined) return;
  if (typeof what !== "number" && known.value !== undefined && what.size > known.value.most_bytes) {
    return say(`${visible(name)} has ${bytes(what.size)}, more than the ${bytes(known.value.most_bytes)} that a page opens: \`ridgeline view\` opens it.`);
  }
  opening.value = name;
  try {
    turnTo(await from.open(what));
  } catch (error) {
    const { text, hint } = reason(error);
    say(hint === undefined ? text : `${text} ${hint}`);
  } finally {
    opening.value = undefined;
  }
}

export function Opener() {
  const input = useRef<HTMLInputElement>(null);
  const from = source();
  useEffect(() => {
    if (!(from instanceof HttpSource)) return;
    from.captures().then((found) => (known.value = found)).catch(() => undefined);
    const brings = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const enter = (event: DragEvent) => { if (brings(event)) { event.preventDefault(); over.value = true; } };
    const leave = (event: DragEvent) => { if (event.relatedTarget === null) over.value = false; };
    const drop = (event: DragEvent) => {
      over.value = false;
      const file = event.dataTransfer?.files[0];
      if (file === undefined) return;
      event.preventDefault();
      if ((event.dataTransfer?.files.length ?? 0) > 1) say("One file at a time: open several of one program together with `ridgeline view A B`.");
      void open(file, file.name);
    };
    document.addEventListener("dragover", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  if (!(from instanceof HttpSource)) return null;
  const all = known.value;
  const there = all?.captures ?? [];
  const closed = (all?.sessions ?? []).map((name, at) => ({ name, at })).filter(({ at }) => there.every((one) => one.session !== at));
  const title = (one: Captures["captures"][number]) => (one.session === null ? one.title : all?.sessions[one.session] ?? one.title);
  return (
    <div class="opener">
      {there.length + closed.length > 1 && (
        <select aria-label="Capture" value={`c${from.at}`} onChange={(event) => {
          const value = event.currentTarget.value;
          if (value.startsWith("c")) turnTo(Number(value.slice(1)));
          else void open(Number(value.slice(1)), all?.sessions[Number(value.slice(1))] ?? "");
        }}>
          {there.map((one) => <option key={`c${one.id}`} value={`c${one.id}`}>{visible(title(one))}</option>)}
          {closed.length > 0 && <optgroup label="Other sessions">{closed.map(({ name, at }) => <option key={`s${at}`} value={`s${at}`}>{visible(name)}</option>)}</optgroup>}
        </select>
      )}
      <input ref={input} class="sr" type="file" tabIndex={-1} aria-hidden="true" onChange={(event) => {
        const file = event.currentTarget.files?.[0];
        if (file !== undefined) void open(file, file.name);
        event.currentTarget.value = "";
      }} />
      <button type="button" onClick={() => input.current?.click()} title="A capture from any supported tool; or drop it anywhere on the page">Open a file</button>
      {(over.value || opening.value !== undefined) && (
        <div class="over" role="status">{opening.value === undefined ? "Drop the capture to open it" : `Reading ${visible(opening.value)} …`}<span class="quiet">It is read on the machine that runs `ridgeline view` and goes nowhere else.</span></div>
      )}
    </div>
  );
}
