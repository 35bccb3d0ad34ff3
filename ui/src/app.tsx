// The frame of the page: what is looked at above, views at the left, one of them in the middle.

import { useEffect, useRef } from "preact/hooks";
import { arrivals, go, link, place } from "./address";
import { capture, dark, said, source } from "./context";
import { visible } from "./format";
import { Guard } from "./parts/guard";
import { KeysHelp } from "./parts/keys-help";
import { Opener } from "./parts/open";
import { Tip } from "./parts/tip";
import { turn } from "./theme";
import { VIEWS } from "./views/registry";

export function App() {
  const now = capture.value;
  const main = useRef<HTMLElement>(null);
  const nav = useRef<HTMLElement>(null);
  const first = useRef(true);
  const views = VIEWS.filter((view) => now === undefined || view.when === undefined || view.when(now));
  const chosen = views.find((view) => view.id === place.value.view) ?? views[0];
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
    // In a narrow window the views are a line that scrolls.
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (link !== null && link !== undefined) nav.current?.scrollTo({ left: link.offsetLeft - nav.current.offsetLeft - (nav.current.clientWidth - link.clientWidth) / 2 });
  }, [chosen?.id]);
  if (now === undefined || chosen === undefined) return null;
  const View = chosen.component;
  const lost = now.lost.filter((note) => note.severity === "lost");
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the view</a>
      <header class="top">
        <a class="brand" href={link("overview")} aria-label="Ridgeline, overview">
          <svg viewBox="0 0 24 16" width="24" height="16" aria-hidden="true"><path d="M1 15 7 5l4 6 5-9 7 13" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" /></svg>
          <span>Ridgeline</span>
        </a>
        <h1 title={visible(now.title)}>{visible(now.title)}</h1>
        {lost.length > 0 && <a class="lost-flag" href={link("overview")}>{lost.length === 1 ? "Data lost" : `Data lost (${lost.length})`}</a>}
        {now.has["predicted"] === true && <span class="tag predicted" title="A compiled program: its times are predicted, not measured">predicted times</span>}
        {!source().live && <span class="tag">report</span>}
        <form role="search" class="find-all" onSubmit={(event) => {
          event.preventDefault();
          const text = (event.currentTarget.elements.namedItem("all") as HTMLInputElement).value.trim();
          if (text !== "") go("tables", { filter: text, topic: place.value.params.get("topic") ?? undefined, view: place.value.params.get("view") ?? undefined });
        }}>
          <input name="all" type="search" placeholder="Find in tables" aria-label="Find in tables" />
        </form>
        <Opener />
        <KeysHelp />
        <button type="button" class="plain theme" onClick={turn} aria-label={dark.value ? "Light colors" : "Dark colors"}>{dark.value ? "☀" : "☾"}</button>
      </header>
      <nav class="views" aria-label="Views" ref={nav}>
        {views.map((view) => (
          <a key={view.id} href={link(view.id)} aria-current={view.id === chosen.id ? "page" : undefined} title={view.about}>{view.title}</a>
        ))}
        <small class="quiet version">Ridgeline {now.ridgeline}</small>
      </nav>
      <main id="main" ref={main} tabIndex={-1} aria-label={chosen.title} class={`view ${chosen.id}`}>
        <Guard key={`${chosen.id} ${arrivals.value}`}><View /></Guard>
      </main>
      <Tip />
      <div class={said.value.shown ? "said" : "sr"} role="status" aria-live="polite">{said.value.text}</div>
    </>
  );
}
