// The timeline: what ran when, on every device, stream and thread, at every zoom, with nothing dropped.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { link, place } from "../../address";
import { dark, lit, reason, source } from "../../context";
import { Answer } from "../../parts/answer";
import type { Selection } from "../../selection";
import type { Timeline } from "../../source/types";
import { flowsOf } from "./details";
import { listen, type Spot } from "./gestures";
import { keys } from "./keys";
import { layout, type Row, tracksUnder } from "./layout";
import { Grip, Names, namesWidth } from "./names";
import { Panel } from "./panel";
import { asCanvas } from "./picture";
import { click, wordsOf } from "./pointer";
import { restore } from "./restore";
import { type Inks, RULER, type TrackId } from "./sheet";
import { Stage } from "./stage";
import { arrangement, choosePart, chosen, details, folded, gap, hits, launches, markers, pan, range, seen, shown, zoom } from "./state";
import { Strip } from "./strip";
import { Keys, Legend, Tools } from "./tools";
import "./style.css";

export default function TimelineView() {
  return <Answer<Timeline> path="timeline">{(timeline) => timeline.span_ns > 0 ? <Drawn timeline={timeline} /> : (
    <div class="missing"><p>Nothing in this capture has a place in time.</p><p class="quiet">What it has is in <a href={link("tables")}>Tables</a> and <a href={link("memory")}>Memory</a>.</p></div>
  )}</Answer>;
}

function Drawn({ timeline }: { timeline: Timeline }) {
  const [below, above, ground] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const box = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | undefined>(undefined);
  const [scroll, setScroll] = useState(0);
  const [size, setSize] = useState({ width: 1, height: 1 });
  const [hover, setHover] = useState<{ x: number; y: number; text: string } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);

  useMemo(() => restore(timeline), [timeline]);
  const order = useMemo(() => layout(timeline, folded.value, arrangement.value), [timeline, folded.value, arrangement.value]);
  const most = Math.max(0, order.height - size.height + RULER);
  const at = Math.min(scroll, most);
  const scrollBy = useRef((_: number) => {});
  scrollBy.current = (pixels: number) => setScroll((now) => Math.max(0, Math.min(most, Math.min(now, most) + pixels)));

  useEffect(() => {
    if (below.current === null || above.current === null || ground.current === null || box.current === null) return;
    let made: Stage;
    try {
      made = new Stage(timeline, source(), noteCategories, below.current, above.current, ground.current, place.value.params.get("painter"));
    } catch (error) {
      setProblem(reason(error).text);
      return;
    }
    stage.current = made;
    box.current.dataset["painter"] = made.painter.name;
    const watch = new ResizeObserver(([entry]) => {
      const { width, height } = entry?.contentRect ?? { width: 1, height: 1 };
      made.resize(width, height);
      setSize({ width, height });
    });
    watch.observe(box.current);
    const deaf = follow(box.current, made, (pixels) => scrollBy.current(pixels), setHover);
    // What a graphics card drew is not there when the page is printed: a copy is.
    let copy: HTMLCanvasElement | undefined;
    const printed = (): void => {
      made.look(false, inks());
      copy?.remove();
      copy = asCanvas(made);
      copy.className = "printed";
      box.current?.closest(".tl-main")?.before(copy);
    };
    const unprinted = (): void => {
      copy?.remove();
      made.look(dark.peek(), inks());
    };
    window.addEventListener("beforeprint", printed);
    window.addEventListener("afterprint", unprinted);
    return () => {
      window.removeEventListener("beforeprint", printed);
      window.removeEventListener("afterprint", unprinted);
      watch.disconnect();
      deaf();
      made.close();
      stage.current = undefined;
    };
  }, [timeline]);

  useSignalEffect(() => {
    const isDark = dark.value;
    stage.current?.look(isDark, inks());
  });
  useSignalEffect(() => {
    const now = stage.current;
    const marks = { chosen: chosen.value, flows: [...flowsOf(details.value, chosen.value), ...(range.value === undefined ? [] : (launches.value?.flows ?? []).map(([from, caller, to, track]) => ({ from: { at: from, track: caller }, to: { at: to, track } })))], gap: gap.value, range: range.value, lit: lit.value?.events, hits: hits.value?.hits, markers: markers.value };
    const window = shown.value;
    if (now === undefined) return;
    now.window = window;
    now.marks = marks;
    now.later();
  });
  useEffect(() => {
    if (stage.current === undefined) return;
    stage.current.layout = order;
    stage.current.scroll = at;
    stage.current.later();
  }, [order, at]);
  useEffect(() => {
    const to = scrollShowing(chosen.value?.track, order.rows, size.height, at);
    if (to !== undefined) setScroll(to);
  }, [chosen.value?.row, order]);

  if (problem !== undefined) return <p class="missing">{problem}</p>;
  return (
    <div class="timeline" style={namesWidth.value === undefined ? {} : { "--names": `${namesWidth.value}px` }}>
      <Tools timeline={timeline} stage={() => stage.current} />
      {timeline.groups.length > 0 && <Strip timeline={timeline} />}
      <div class="tl-main">
        <div class="tl-left">
          <Names rows={order.rows} scroll={at} height={size.height} />
          <Grip />
          <div
            class="tl-box" ref={box} tabIndex={0} role="application" aria-label="Timeline" aria-describedby="tl-keys"
            onKeyDown={(event) => keys(event, stage.current, (pixels) => scrollBy.current(pixels))}
          >
            <canvas ref={ground} aria-hidden="true" />
            <canvas ref={below} aria-hidden="true" />
            <canvas ref={above} aria-hidden="true" />
            {most > 0 && <div class="tl-scroll" aria-hidden="true"><i style={{ height: `${(100 * size.height) / (order.height + RULER)}%`, top: `${(100 * at) / (order.height + RULER)}%` }} /></div>}
            {hover !== undefined && <div class="tl-hover" style={{ left: `${Math.min(hover.x + 12, size.width - 260)}px`, top: `${hover.y + 16 > size.height - 60 ? hover.y - 50 : hover.y + 16}px` }}>{hover.text}</div>}
          </div>
        </div>
        <Panel />
      </div>
      <Legend timeline={timeline} />
      <Keys id="tl-keys" />
    </div>
  );
}

/** Does what mouse and fingers mean. */
function follow(box: HTMLElement, stage: Stage, scroll: (pixels: number) => void, hover: (said: { x: number; y: number; text: string } | undefined) => void): () => void {
  const part = (one: Spot, other: Spot): Selection => {
    const [from, to] = [stage.timeAt(Math.min(one.x, other.x)), stage.timeAt(Math.max(one.x, other.x))];
    const height = (spot: Spot) => spot.y - RULER + stage.scroll;
    const tracks = tracksUnder(stage.order.rows, height(one), height(other)).map(Number);
    return { from: Math.max(0, from), to, ...(tracks.length > 0 && { tracks }) };
  };
  return listen(box, RULER, {
    zoom: (factor, x) => zoom(factor, stage.timeAt(x)),
    pan: (pixels) => pan(pixels / stage.size.width),
    scroll,
    click: (x, y, isSecond) => click(stage, stage.under(x, y), isSecond),
    hover: (x, y) => {
      const text = wordsOf(stage, stage.under(x, y));
      hover(text === undefined ? undefined : { x, y, text });
    },
    leave: () => hover(undefined),
    selecting: (one, other) => {
      range.value = part(one, other);
    },
    selected: (one, other) => void choosePart(part(one, other)),
  });
}

function inks(): Inks {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return { ground: of("paper"), ink: of("ink"), quiet: of("quiet"), line: of("line"), mark: of("mark"), band: of("band") };
}

/** Notes categories that some tile has, for the legend. */
function noteCategories(categories: Uint8Array): void {
  let news: Set<number> | undefined;
  for (const category of categories) {
    if (seen.peek().has(category) || news?.has(category) === true) continue;
    news ??= new Set(seen.peek());
    news.add(category);
  }
  if (news !== undefined) seen.value = news;
}

/** How far to scroll so that the row of a track is in sight; nothing where it is. */
function scrollShowing(track: TrackId | undefined, rows: readonly Row[], height: number, at: number): number | undefined {
  const row = rows.find((one) => one.track !== undefined && one.track.id === track);
  if (row === undefined) return undefined;
  const isSeen = row.top >= at && row.top + row.height <= at + height - RULER;
  return isSeen ? undefined : Math.max(0, row.top - height / 3);
}
