// The timeline as files, and to Perfetto.

import { useRef } from "preact/hooks";
import { currentPlace } from "../../address";
import { capture, reason, say, source } from "../../context";
import { handOver } from "../../parts/perfetto";
import { copy, save, saveCanvas } from "../../parts/save";
import { asCanvas, asSvg } from "./picture";
import type { Stage } from "./stage";

const FORMS = [["perfetto", "Perfetto", ".pftrace"], ["chrome", "Chrome trace", ".chrome.json"], ["csv", "every event as CSV", ".csv"]] as const;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** What a reader types to hand the timeline on as it is, with notes. */
const reportCommand = () => `ridgeline report ${quoted(capture.value?.path ?? "CAPTURE")} -o report.html --at ${quoted(currentPlace())}`;

export function Files({ stage }: { stage: () => Stage | undefined }) {
  const asked = useRef<HTMLDialogElement>(null);
  const menu = useRef<HTMLDetailsElement>(null);
  const shut = () => { if (menu.current !== null) menu.current.open = false; };
  const file = (to: string, suffix: string) => {
    shut();
    say("making the file …");
    source().bytes("export", { to })
      .then((bytes) => save(`ridgeline${suffix}`, bytes, "application/octet-stream"))
      .catch((error: unknown) => say([reason(error).text, reason(error).hint ?? ""].join(" ")));
  };
  const picture = (make: (of: Stage) => void) => {
    shut();
    const now = stage();
    if (now !== undefined) make(now);
  };
  return (
    <>
      <details class="menu" ref={menu} onKeyDown={(event) => { if (event.key === "Escape") { shut(); menu.current?.querySelector("summary")?.focus(); } }}>
        <summary>Save as</summary>
        <div class="sheet">
          <button type="button" class="plain" onClick={() => picture((of) => void saveCanvas(asCanvas(of), "timeline"))}>what is shown, as PNG</button>
          <button type="button" class="plain" onClick={() => picture((of) => save("timeline.svg", asSvg(of), "image/svg+xml"))}>what is shown, as SVG</button>
          {source().live && FORMS.map(([to, title, suffix]) => <button key={to} type="button" class="plain" onClick={() => file(to, suffix)}>{title}</button>)}
          {source().live && <button type="button" class="plain" title="A report of one file that opens here, with the selection, the markers and their notes" onClick={() => { shut(); void copy(reportCommand(), "report.sh"); }}>command for a report that opens here</button>}
          {source().live && <button type="button" class="plain" onClick={() => { shut(); asked.current?.showModal(); }}>Open in Perfetto …</button>}
        </div>
      </details>
      <dialog ref={asked} aria-label="Open in Perfetto">
        <h2>Open in Perfetto</h2>
        <p>This opens the capture in <code>ui.perfetto.dev</code>, a third-party page that runs in your browser. Ridgeline uploads nothing; what that page does with the data is up to it.</p>
        <p class="quiet">Host, user and process names, home directories and tokens are removed first.</p>
        <div class="actions">
          <button type="button" onClick={() => { asked.current?.close(); handOver(capture.value?.title ?? "capture"); }}>Open ui.perfetto.dev</button>
          <button type="button" onClick={() => asked.current?.close()}>Cancel</button>
        </div>
      </dialog>
    </>
  );
}
