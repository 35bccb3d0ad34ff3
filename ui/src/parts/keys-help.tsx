// Every key in one place: `?` opens it anywhere but in a field.

import { useEffect, useRef } from "preact/hooks";

const KEYS: [title: string, keys: [key: string, does: string][]][] = [
  ["Everywhere", [["?", "this list"], ["Tab", "to the next part of the page"], ["Esc", "closes, clears"]]],
  ["Timeline", [
    ["W S", "zoom in, out"], ["A D", "pan"], ["0", "show all"], ["← →", "event before, behind"], ["↑ ↓", "event on the track above, below; scroll"], ["Page ↑ ↓", "scroll"],
    ["F", "zoom to the chosen event"], ["M", "select its time on all tracks"], ["B", "set a marker at it"], ["/", "search events"], ["N, Shift N", "next match, the one before"],
    ["drag", "select time and tracks"], ["Shift drag", "pan"], ["Shift click", "measure from the chosen event"], ["Ctrl wheel", "zoom"],
  ]],
  ["Tables", [["↑ ↓", "row"], ["Page ↑ ↓, Home, End", "far rows"], ["Enter", "show the row's events in the timeline"]]],
  ["Flame", [["arrows", "from box to box"], ["Enter", "look into a box"]]],
];

export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const at = event.target instanceof Element ? event.target.closest("input, select, textarea") : null;
      if (event.key !== "?" || at !== null || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      dialog.current?.showModal();
    };
    document.addEventListener("keydown", open);
    return () => document.removeEventListener("keydown", open);
  }, []);
  return (
    <>
      <button type="button" class="plain theme" onClick={() => dialog.current?.showModal()} aria-label="Keyboard help" title="Keys (?)">?</button>
      <dialog ref={dialog} aria-label="Keys" class="keys-help" onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
        <button type="button" class="plain close" onClick={() => dialog.current?.close()} aria-label="Close">×</button>
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h2>{title}</h2>
            <dl>{keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl>
          </section>
        ))}
      </dialog>
    </>
  );
}
