// The timeline: what ran when, on every device, stream and thread, at every zoom, with nothing dropped.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { keep, link, place } from "../../address";
import { dark, lit, reason, say, source } from "../../context";
import { count, share, short, time, visible } from "../../format";
import { Answer } from "../../parts/answer";
import type { Timeline } from "../../source/types";
import { fill } from "../../draw/palette";
import { listen } from "./gestures";
import { foldedAtFirst, GROUP_HEIGHT, groupKey, layout, type Row, rowsIn } from "./layout";
import { Panel } from "./panel";
import { RULER, Stage, type Under } from "./stage";
import { choose, chooseGap, chooseRange, chosen, clear, details, find, folded, gap, hits, look, seen, nextHit, numberOf, range, shown, trackOf } from "./state";
import { around, moved, within, zoomed } from "./window";
import { light } from "./state";
import { ask } from "../../context";
import type { EventRef } from "../../source/types";
import { Strip } from "./strip";
import { Files } from "./files";

export default function TimelineView() {
  return <Answer<Timeline> path="timeline">{(timeline) => timeline.span_ns > 0 ? <Drawn timeline={timeline} /> : (
    <div class="missing"><p>Nothing in this capture has a place in time.</p><p class="quiet">What it has is in <a href={link("tables")}>Tables</a> and <a href={link("memory")}>Memory</a>.</p></div>
  )}</Answer>;
}

const cssOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function Drawn({ timeline }: { timeline: Timeline }) {
  const below = useRef<HTMLCanvasElement>(null);
  const above = useRef<HTMLCanvasElement>(null);
  const ground = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | undefined>(undefined);
  const [scroll, setScroll] = useState(0);
  const [size, setSize] = useState({ width: 1, height: 1 });
  const [hover, setHover] = useState<{ x: number; y: number; text: string } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const span = timeline.span_ns;

  useMemo(() => begin(timeline), [timeline]);
  const order = useMemo(() => layout(timeline, folded.value), [timeline, folded.value]);
  const most = Math.max(0, order.height - size.height + RULER);
  const at = Math.min(scroll, most);
  const scrollTo = useRef((_: number) => {});
  scrollTo.current = (by: number) => setScroll((now) => Math.max(0, Math.min(most, Math.min(now, most) + by)));

  useEffect(() => {
    if (below.current === null || above.current === null || ground.current === null || box.current === null) return;
    let made: Stage;
    try {
      made = new Stage(timeline, source(), note, below.current, above.current, ground.current, place.value.params.get("painter"));
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
    const deaf = listen(box.current, RULER, {
      zoom: (factor, x) => look(zoomed(shown.value, factor, made.timeAt(x), span), span),
      pan: (pixels) => look(within({ from: shown.value.from + pixels / made.pixelsPerNs, to: shown.value.to + pixels / made.pixelsPerNs }, span), span),
      scroll: (pixels) => scrollTo.current(pixels),
      click: (x, y) => clicked(made, made.under(x, y), timeline),
      hover: (x, y) => setHover(words(made.under(x, y), timeline, x, y) ?? idleWords(made.idleAt(x, y), x, y)),
      leave: () => setHover(undefined),
      select: (from, to, done) => {
        const [a, b] = [made.timeAt(Math.min(from, to)), made.timeAt(Math.max(from, to))];
        if (!done) range.value = { from: Math.max(0, a), to: b };
        else void chooseRange(a, b, timeline.groups.flatMap((group) => group.tracks));
      },
    });
    return () => {
      watch.disconnect();
      deaf();
      made.close();
      stage.current = undefined;
    };
  }, [timeline]);

  useSignalEffect(() => {
    const isDark = dark.value;
    const inks = { ground: cssOf("--paper"), ink: cssOf("--ink"), quiet: cssOf("--quiet"), line: cssOf("--line"), mark: cssOf("--mark"), band: cssOf("--band") };
    stage.current?.look(isDark, inks);
  });
  useSignalEffect(() => {
    const now = stage.current;
    const marks = { chosen: chosen.value, launch: flows(), gap: gap.value, range: range.value, lit: lit.value?.events, hits: hits.value?.hits };
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
  useEffect(() => showRow(chosen.value?.track, order.rows, size.height, at, setScroll), [chosen.value?.row, order]);

  if (problem !== undefined) return <p class="missing">{problem}</p>;
  return (
    <div class="timeline">
      <Tools timeline={timeline} stage={() => stage.current} />
      <Strip timeline={timeline} />
      <div class="tl-main">
        <div class="tl-left">
          <Names rows={order.rows} scroll={at} height={size.height} />
          <div
            class="tl-box" ref={box} tabIndex={0} role="application" aria-label="Timeline" aria-describedby="tl-keys"
            onKeyDown={(event) => keys(event, stage.current, timeline, (by) => scrollTo.current(by))}
          >
            <canvas ref={ground} aria-hidden="true" />
            <canvas ref={below} aria-hidden="true" />
            <canvas ref={above} aria-hidden="true" />
            {most > 0 && <div class="tl-scroll" aria-hidden="true"><i style={{ height: `${(100 * size.height) / (order.height + RULER)}%`, top: `${(100 * at) / (order.height + RULER)}%` }} /></div>}
            {hover !== undefined && <div class="tl-hover" style={{ left: `${Math.min(hover.x + 12, size.width - 260)}px`, top: `${hover.y + 16 > size.height - 60 ? hover.y - 50 : hover.y + 16}px` }}>{hover.text}</div>}
          </div>
        </div>
        <Panel timeline={timeline} />
      </div>
      <Legend timeline={timeline} />
      <p id="tl-keys" class="quiet hint">
        <kbd>W</kbd> <kbd>S</kbd> zoom, <kbd>A</kbd> <kbd>D</kbd> pan, arrows go from event to event, drag chooses a range, <kbd>Ctrl</kbd> + wheel zooms,{" "}
        <kbd>0</kbd> shows all, <kbd>F</kbd> the chosen event, <kbd>/</kbd> searches, <kbd>N</kbd> next hit, <kbd>M</kbd> its range, <kbd>Esc</kbd> clears.
      </p>
    </div>
  );
}

/** Notes categories that some tile has, for the legend. */
function note(categories: Uint8Array): void {
  let news: Set<number> | undefined;
  for (const category of categories) {
    if (seen.peek().has(category) || news?.has(category) === true) continue;
    news ??= new Set(seen.peek());
    news.add(category);
  }
  if (news !== undefined) seen.value = news;
}

/** Takes what the address says, once for a capture. */
function begin(timeline: Timeline): void {
  const params = place.peek().params;
  const number = (name: string) => (params.has(name) ? Number(params.get(name)) : undefined);
  const [from, to] = [number("from"), number("to")];
  folded.value = foldedAtFirst(timeline);
  shown.value = within(from !== undefined && to !== undefined && to > from ? { from, to } : { from: 0, to: timeline.span_ns }, timeline.span_ns);
  const [a, b, row, subject, text] = [number("a"), number("b"), number("event"), params.get("subject"), params.get("find")];
  clear();
  lit.value = undefined;
  seen.value = new Set();
  if (a !== undefined && b !== undefined) void chooseRange(a, b, timeline.groups.flatMap((group) => group.tracks));
  if (row !== undefined) void choose(row).then(() => {
    const event = chosen.value;
    if (event !== undefined && from === undefined) look(around(event.start, event.end, timeline.span_ns), timeline.span_ns);
  });
  if (text !== null && text !== "") void find(text);
  if (subject !== null) {
    keep({ subject });
    void ask<{ count: number; events: EventRef[] }>("events", { subject })
      .then((answer) => light(params.get("title") ?? subject.slice(subject.indexOf(":") + 1), answer.count, answer.events, timeline))
      .catch((error: unknown) => say(reason(error).text));
  }
}

function flows() {
  const found = details.value;
  const event = chosen.value;
  if (found === undefined || event === undefined) return [];
  const place = (value: unknown) => {
    const other = value as Record<string, unknown> | null | undefined;
    if (typeof other !== "object" || other === null) return undefined;
    const [at, track] = [numberOf(other["start_ns"]), trackOf(other)];
    return at === undefined || track === undefined ? undefined : { at, track };
  };
  const launch = place(found["launch"]);
  const made = Array.isArray(found["launched"]) ? found["launched"].map(place) : [];
  const here = { at: event.start, track: event.track };
  const out = made.filter((one) => one !== undefined).map((to) => ({ from: here, to }));
  return launch === undefined ? out : [{ from: launch, to: here }, ...out];
}

function showRow(track: number | string | undefined, rows: readonly Row[], height: number, at: number, set: (to: number) => void): void {
  const row = rows.find((one) => one.track !== undefined && one.track.id === track);
  if (row === undefined) return;
  if (row.top < at || row.top + row.height > at + height - RULER) set(Math.max(0, row.top - height / 3));
}

function clicked(stage: Stage, under: Under | undefined, timeline: Timeline): void {
  if (under === undefined) return;
  if (under.row.kind === "group" && under.row.group !== undefined) {
    const idle = stage.idleIn(under.row, under.at);
    if (idle === undefined) return fold(groupKey(under.row.group));
    clear();
    gap.value = { prev: -1, next: -1, start: idle.start, end: idle.end, track: "", cause: idle.cause, details: { about: idle.about } };
    return;
  }
  const track = under.row.track;
  if (track === undefined) return;
  if (under.tile?.events !== undefined && under.span >= 0) return pick(under.tile, under.span, track.id);
  if (under.tile?.columns !== undefined && under.span >= 0) {
    const { columns, start, spans } = under.tile;
    const from = start + (spans.ends[2 * under.span] as number);
    look(around(from - columns.width * 20, from + columns.width * 21, timeline.span_ns), timeline.span_ns);
    say(`${count(columns.count[under.span] as number)} events in ${time(columns.width)}: zoomed in`);
    return;
  }
  const found = stage.gapAt(track, under.at);
  if (found !== undefined) void chooseGap({ ...found, track: track.id });
  else clear();
}

function pick(tile: NonNullable<Under["tile"]>, span: number, track: number | string): void {
  const events = tile.events;
  if (events === undefined) return;
  const start = events.start[span] as number;
  void choose(events.row[span] as number, { start, end: start + (events.duration[span] as number), track, name: events.names[events.name[span] as number] ?? "" });
}

function words(under: Under | undefined, timeline: Timeline, x: number, y: number) {
  if (under?.tile === undefined || under.span < 0) return undefined;
  const category = timeline.categories.find((one) => one.id === under.tile?.category[under.span])?.name;
  const { events, columns } = under.tile;
  const of = category === undefined ? "" : `, ${category}`;
  if (events !== undefined) return { x, y, text: `${visible(short(events.names[events.name[under.span] as number] ?? "", 56))} · ${time(events.duration[under.span] as number)}${of}` };
  if (columns === undefined) return undefined;
  const n = columns.count[under.span] as number;
  return { x, y, text: `${count(n)} ${n === 1 ? "event" : "events"}, busy ${share(columns.share[under.span] as number)} of ${time(columns.width)}, mostly${of.replace(",", "")}` };
}

function idleWords(part: ReturnType<Stage["idleAt"]>, x: number, y: number) {
  return part === undefined ? undefined : { x, y, text: `Idle ${time(part.end - part.start)}: ${part.cause}. ${part.about}` };
}

function fold(key: string): void {
  const next = new Set(folded.value);
  if (!next.delete(key)) next.add(key);
  folded.value = next;
}

function keys(event: KeyboardEvent, stage: Stage | undefined, timeline: Timeline, scroll: (by: number) => void): void {
  if (stage === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const span = timeline.span_ns;
  const middle = chosen.value === undefined ? (shown.value.from + shown.value.to) / 2 : Math.min(shown.value.to, Math.max(shown.value.from, chosen.value.start));
  const acts: Record<string, () => void> = {
    w: () => look(zoomed(shown.value, 0.7, middle, span), span),
    s: () => look(zoomed(shown.value, 1 / 0.7, middle, span), span),
    "+": () => look(zoomed(shown.value, 0.7, middle, span), span),
    "-": () => look(zoomed(shown.value, 1 / 0.7, middle, span), span),
    a: () => look(moved(shown.value, -0.15, span), span),
    d: () => look(moved(shown.value, 0.15, span), span),
    "0": () => look({ from: 0, to: span }, span),
    Home: () => look({ from: 0, to: span }, span),
    f: () => chosen.value !== undefined && look(around(chosen.value.start, chosen.value.end, span), span),
    m: () => chosen.value !== undefined && void chooseRange(chosen.value.start, chosen.value.end, timeline.groups.flatMap((group) => group.tracks)),
    n: () => void nextHit(1, timeline),
    N: () => void nextHit(-1, timeline),
    Escape: () => { clear(); lit.value = undefined; },
    ArrowLeft: () => step(stage, timeline, -1),
    ArrowRight: () => step(stage, timeline, 1),
    ArrowUp: () => (chosen.value === undefined ? scroll(-40) : other(stage, timeline, -1)),
    ArrowDown: () => (chosen.value === undefined ? scroll(40) : other(stage, timeline, 1)),
    PageUp: () => scroll(-400),
    PageDown: () => scroll(400),
    Enter: () => chosen.value === undefined && step(stage, timeline, 1),
    "/": () => document.getElementById("tl-find")?.focus(),
  };
  const act = acts[event.key] ?? acts[event.key.toLowerCase()];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** To the next event on the track of the chosen one, or the first that is shown. */
function step(stage: Stage, timeline: Timeline, by: 1 | -1): void {
  const tracks = timeline.groups.filter((group) => !folded.value.has(groupKey(group))).flatMap((group) => group.tracks);
  const now = chosen.value;
  const track = tracks.find((one) => one.id === now?.track);
  const found = now !== undefined && track !== undefined
    ? stage.neighbor(track, now.start, -1, by)
    : tracks.map((one) => stage.neighbor(one, shown.value.from - 1, -1, 1)).find((one) => one !== undefined);
  if (found === undefined) {
    if (now === undefined) say("Zoom in until single events are drawn.");
    look(moved(shown.value, by * 0.15, timeline.span_ns), timeline.span_ns);
    return;
  }
  const on = now !== undefined && track !== undefined ? track : tracks.find((one) => stage.neighbor(one, shown.value.from - 1, -1, 1)?.tile === found.tile);
  pick(found.tile, found.span, on?.id ?? "");
  const start = found.tile.events?.start[found.span] ?? 0;
  if (start < shown.value.from || start > shown.value.to) look(moved(shown.value, by * 0.5, timeline.span_ns), timeline.span_ns);
}

/** To the track above or below, to what runs there at the same time or next. */
function other(stage: Stage, timeline: Timeline, by: 1 | -1): void {
  const tracks = timeline.groups.filter((group) => !folded.value.has(groupKey(group))).flatMap((group) => group.tracks);
  const now = chosen.value;
  if (now === undefined) return;
  for (let at = tracks.findIndex((one) => one.id === now.track) + by; at >= 0 && at < tracks.length; at += by) {
    const track = tracks[at];
    if (track === undefined) return;
    const found = stage.neighbor(track, now.start - 1, -1, 1) ?? stage.neighbor(track, now.start, -1, -1);
    if (found !== undefined) return pick(found.tile, found.span, track.id);
  }
}

function Names(props: { rows: readonly Row[]; scroll: number; height: number }) {
  return (
    <div class="tl-names" style={{ "--ruler": `${RULER}px` }}>
      <div class="tl-ruler-name">{folded.value.size > 0 ? <button type="button" class="plain" onClick={() => (folded.value = new Set())}>Unfold all</button> : ""}</div>
      <div class="tl-rows">
        {rowsIn(props.rows, props.scroll - 200, props.scroll + props.height + 200).map((row) => (
          <div key={row.key} class={`tl-name ${row.kind}`} style={{ top: `${row.top - props.scroll}px`, height: `${row.height}px` }}>
            {row.kind === "group" && row.group !== undefined ? (
              <button type="button" aria-expanded={row.folded !== true} onClick={() => fold(row.key)} style={{ height: `${GROUP_HEIGHT}px` }} title={visible(row.name)}>
                <span class="fold" aria-hidden="true">{row.folded === true ? "▸" : "▾"}</span><b>{visible(row.name)}</b>
                {row.group.busy_share !== undefined && row.group.busy_share !== null && <span class="quiet"> {share(row.group.busy_share)}</span>}
              </button>
            ) : (
              <span title={row.track === undefined ? visible(row.name) : `${visible(row.name)}: ${count(row.track.events)} events`}>{visible(row.name)}</span>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function Tools({ timeline, stage }: { timeline: Timeline; stage: () => Stage | undefined }) {
  const now = hits.value;
  const window = shown.value;
  return (
    <div class="tools">
      <form role="search" class="find" onSubmit={(event) => {
        event.preventDefault();
        const text = (event.currentTarget.elements.namedItem("find") as HTMLInputElement).value.trim();
        if (now !== undefined && now.text === text) void nextHit(1, timeline);
        else void find(text).then(() => nextHit(1, timeline));
      }}>
        <input id="tl-find" name="find" type="search" placeholder="Find events" aria-label="Find events" defaultValue={place.peek().params.get("find") ?? ""} onInput={(event) => event.currentTarget.value === "" && void find("")} />
        <button type="submit">Find</button>
        {now !== undefined && <span class="quiet">{now.count === 0 ? "none" : `${now.at < 0 ? "" : `${count(now.at + 1)} of `}${count(now.count)}`}</span>}
        {now !== undefined && now.count > 0 && <>
          <button type="button" aria-label="Hit before" onClick={() => void nextHit(-1, timeline)}>‹</button>
          <button type="button" aria-label="Next hit" onClick={() => void nextHit(1, timeline)}>›</button>
        </>}
      </form>
      <span class="push" />
      <span class="quiet nowrap">{time(Math.min(timeline.span_ns, window.to - window.from))} of {time(timeline.span_ns)}</span>
      <button type="button" aria-label="Zoom in" onClick={() => look(zoomed(window, 0.5, (window.from + window.to) / 2, timeline.span_ns), timeline.span_ns)}>+</button>
      <button type="button" aria-label="Zoom out" onClick={() => look(zoomed(window, 2, (window.from + window.to) / 2, timeline.span_ns), timeline.span_ns)}>−</button>
      <button type="button" onClick={() => look({ from: 0, to: timeline.span_ns }, timeline.span_ns)}>All</button>
      <Files stage={stage} />
    </div>
  );
}

function Legend({ timeline }: { timeline: Timeline }) {
  const there = seen.value;
  return (
    <ul class="legend" aria-label="Colors" tabIndex={0}>
      {timeline.categories.filter((category) => there.has(category.id)).map((category) => <li key={category.id}><i class="swatch" style={{ background: fill(category.color_index, dark.value) }} />{visible(category.name)}</li>)}
    </ul>
  );
}
