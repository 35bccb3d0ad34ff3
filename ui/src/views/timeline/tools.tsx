// Above and below the timeline: search, zoom, files; what the colors mean, and which keys do what.

import { place } from "../../address";
import { capture, dark, source } from "../../context";
import { fill } from "../../draw/palette";
import { count, time, visible } from "../../format";
import type { Timeline } from "../../source/types";
import { Files } from "./files";
import type { Stage } from "./stage";
import { arrange, arrangement, chosen, critical, find, hits, listed, lookAtAll, mark, nextHit, seen, shown, zoom } from "./state";

export function Tools({ timeline, stage }: { timeline: Timeline; stage: () => Stage | undefined }) {
  const window = shown.value;
  const span = timeline.span_ns;
  return (
    <div class="tools">
      <Search />
      <Tracks />
      <span class="push" />
      <span class="quiet nowrap">{time(Math.min(span, window.to - window.from))} of {time(span)}</span>
      <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>+</button>
      <button type="button" aria-label="Zoom out" onClick={() => zoom(2)}>−</button>
      <button type="button" onClick={lookAtAll}>All</button>
      <button type="button" onClick={() => mark(Math.round(chosen.value?.start ?? (window.from + window.to) / 2), "")} title="At the chosen event, else in the middle">Marker</button>
      {source().live && capture.value?.has["collectives"] === true && <button type="button" aria-pressed={listed.value} onClick={() => { listed.value = !listed.value; }} title="Collectives that ran while nothing else did on their device">Collectives</button>}
      {source().live && capture.value?.has["devices"] !== false && timeline.groups.length > 0 && <button type="button" aria-pressed={critical.value} onClick={() => { critical.value = !critical.value; }} title="What the duration depended on, in all or of the chosen range">Critical path</button>}
      <Files stage={stage} />
    </div>
  );
}

/** Which tracks are seen. */
function Tracks() {
  const { only, hidden, pinned } = arrangement.value;
  return (
    <>
      <input type="search" class="only" placeholder="Filter tracks" aria-label="Filter tracks" defaultValue={only} onInput={(event) => arrange({ only: event.currentTarget.value })} />
      {hidden.size > 0 && <button type="button" onClick={() => arrange({ hidden: new Set() })}>Show {count(hidden.size)} hidden</button>}
      {pinned.length > 1 && <button type="button" onClick={() => arrange({ pinned: [] })}>Unpin all</button>}
    </>
  );
}

function Search() {
  const now = hits.value;
  return (
    <form role="search" class="find" onSubmit={(event) => {
      event.preventDefault();
      const text = (event.currentTarget.elements.namedItem("find") as HTMLInputElement).value.trim();
      if (now !== undefined && now.text === text) void nextHit(1);
      else void find(text).then(() => nextHit(1));
    }}>
      <input id="tl-find" name="find" type="search" placeholder="Find events" title="A part of a name, or terms: dur>1ms name~flash.*fwd track~stream kind=kernel op~dot range~step bytes>1MiB occupancy<50; - turns one round" aria-label="Find events" defaultValue={place.peek().params.get("find") ?? ""} onInput={(event) => event.currentTarget.value === "" && void find("")} />
      <button type="submit">Find</button>
      {now !== undefined && <span class="quiet">{now.count === 0 ? "none" : `${now.at < 0 ? "" : `${count(now.at + 1)} of `}${count(now.count)}`}</span>}
      {now !== undefined && now.count > 0 && <>
        <button type="button" aria-label="Previous match" onClick={() => void nextHit(-1)}>‹</button>
        <button type="button" aria-label="Next match" onClick={() => void nextHit(1)}>›</button>
      </>}
    </form>
  );
}

export function Legend({ timeline }: { timeline: Timeline }) {
  const there = seen.value;
  return (
    <ul class="legend" aria-label="Colors" tabIndex={0}>
      {timeline.categories.filter((category) => there.has(category.id)).map((category) => <li key={category.id}><i class="swatch" style={{ background: fill(category.color_index, dark.value) }} />{visible(category.name)}</li>)}
    </ul>
  );
}

export function Keys({ id }: { id: string }) {
  return (
    <p id={id} class="quiet hint">
      <kbd>W</kbd> <kbd>S</kbd> zoom, <kbd>A</kbd> <kbd>D</kbd> pan, arrows go from event to event, drag chooses a range, <kbd>Ctrl</kbd> + wheel zooms,{" "}
      <kbd>0</kbd> shows all, <kbd>F</kbd> the chosen event, <kbd>/</kbd> searches, <kbd>N</kbd> next match, <kbd>M</kbd> its range, <kbd>Esc</kbd> clears.
    </p>
  );
}
