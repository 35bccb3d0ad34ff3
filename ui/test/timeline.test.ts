import { expect, test } from "vitest";
import type { Timeline } from "../src/source/types";
import { flowsOf } from "../src/views/timeline/details";
import { AS_IT_CAME, foldedAtFirst, layout, matcher, rowAt, rowsIn } from "../src/views/timeline/layout";
import { readMarkers, writtenMarkers } from "../src/views/timeline/markers";
import { around, moved, ticks, within, zoomed } from "../src/views/timeline/window";
import { levelFor } from "../src/views/timeline/tiles";

const track = (id: number, lanes = 1) => ({ id, name: `t${id}`, kind: "stream", lanes, events: 1, levels: [0, 20] as [number, number] });
const timeline: Timeline = {
  span_ns: 1000, categories: [], steps: [], counters: [{ id: 0, name: "memory", unit: "bytes" }],
  groups: [
    { id: 0, name: "GPU", kind: "device", tracks: [track(0), track(1, 3)] },
    { id: 1, name: "host", kind: "host", tracks: Array.from({ length: 40 }, (_, n) => track(n + 2)) },
  ],
};

test("rows stand under one another without a gap", () => {
  const { rows, height } = layout(timeline, new Set(["g1"]));
  expect(rows.map((row) => `${row.key} ${row.top}+${row.height}`)).toEqual(["g0 0+26", "t0 26+25", "t1 51+53", "g1 104+26", "c0 130+40"]);
  expect(height).toBe(170);
});

test("a folded track has its lanes on one, and a counter stands below the device that it is of", () => {
  expect(layout(timeline, new Set(["g1", "t1"])).rows.map((row) => `${row.key} ${row.top}+${row.height}`)).toEqual(["g0 0+26", "t0 26+25", "t1 51+25", "g1 76+26", "c0 102+40"]);
  const [gpu, host] = timeline.groups;
  const counters = [{ id: "a", name: "power", unit: "W", of: "GPU", device: 0 }, { id: "b", name: "load", unit: "", of: "host", device: null }];
  const { rows } = layout({ ...timeline, groups: [{ ...gpu!, row: 0 }, { ...host!, row: 0 }], counters }, new Set(["g1"]));
  expect(rows.map((row) => row.name)).toEqual(["GPU", "t0", "t1", "power", "host", "host: load"]);
});

test("the queue of a stream stands below it, goes where it goes, and filters take counters by their names", () => {
  const [gpu] = timeline.groups;
  const counters = [{ id: "r", name: "Rate: memset", unit: "bytes/s", device: 0 }, { id: "q", name: "Queue of t1", unit: "", device: 0, track: 1 }];
  const rows = (how: Partial<typeof AS_IT_CAME>) => layout({ ...timeline, groups: [{ ...gpu!, row: 0 }], counters }, new Set(), { ...AS_IT_CAME, ...how }).rows.map((row) => row.name);
  expect(rows({})).toEqual(["GPU", "t0", "t1", "Queue of t1", "Rate: memset"]);
  expect(rows({ pinned: [1] })).toEqual(["Pinned", "t1 · GPU", "Queue of t1", "GPU", "t0", "Rate: memset"]);
  expect(rows({ hidden: new Set([1]) })).toEqual(["GPU", "t0", "Rate: memset"]);
  expect(rows({ only: "t1" })).toEqual(["GPU", "t1", "Queue of t1"]);
});

test("an event leads to its launch, and a launch to all that it launched", () => {
  const place = (start_ns: number, track: number) => ({ row: 1, start_ns, duration_ns: 5, track });
  const flows = (found: Record<string, unknown>) => flowsOf(found, { start: 50, track: 3 }).map(({ from, to }) => `${from.track}@${from.at} to ${to.track}@${to.at}`);
  expect(flows({ launch: place(10, 7) })).toEqual(["7@10 to 3@50"]);
  expect(flows({ launched: { count: 9, events: [place(60, 0), place(70, 1)] } })).toEqual(["3@50 to 0@60", "3@50 to 1@70"]);
  expect(flows({ launch: null, launched: { count: 0 } })).toEqual([]);
});

test("the row at a height, and the rows in view", () => {
  const { rows } = layout(timeline, new Set(["g1"]));
  expect([0, 25, 26, 103, 169, 170, -1].map((y) => rowAt(rows, y)?.key)).toEqual(["g0", "g0", "t0", "t1", "c0", undefined, undefined]);
  expect(rowsIn(rows, 30, 60).map((row) => row.key)).toEqual(["t0", "t1"]);
});

test("a host of many threads begins folded beside a device, and open where it is all there is", () => {
  expect([...foldedAtFirst(timeline)]).toEqual(["g1"]);
  expect([...foldedAtFirst({ ...timeline, groups: timeline.groups.slice(1) })]).toEqual([]);
});

test("zooming keeps what is under the pointer, and ends at the whole and at some nanoseconds", () => {
  const next = zoomed({ from: 0, to: 1000 }, 0.5, 250, 1000);
  expect(next).toEqual({ from: 125, to: 625 });
  expect(zoomed(next, 1e9, 300, 1000)).toEqual(within({ from: -1e12, to: 1e12 }, 1000));
  const least = zoomed({ from: 100, to: 130 }, 1e-9, 110, 1000);
  expect(least.to - least.from).toBeCloseTo(20);
});

test("moving stops at the ends, with a little room", () => {
  expect(moved({ from: 0, to: 100 }, -5, 1000)).toEqual({ from: -21, to: 79 });
  expect(around(500, 500, 1000)).toEqual({ from: 480, to: 520 });
});

test("ticks are round, and about as far apart as asked", () => {
  expect(ticks({ from: 0, to: 1e6 }, 1000, 100)).toEqual({ at: Array.from({ length: 11 }, (_, n) => n * 1e5), step: 1e5 });
});

test("columns are at most a pixel wide", () => {
  expect([0.5, 1, 2, 3, 1024, 1500].map(levelFor)).toEqual([0, 0, 1, 1, 10, 10]);
});

test("tracks are pinned in their order, hidden, and filtered by their name or their group's", () => {
  const rows = (how: Partial<typeof AS_IT_CAME>) => layout({ ...timeline, counters: [] }, new Set(), { ...AS_IT_CAME, ...how }).rows.map((row) => row.name);
  expect(rows({ pinned: [1, 3], hidden: new Set([0]), only: "1$" })).toEqual(["Pinned", "t1 · GPU", "t3 · host", "host", "t11", "t21", "t31", "t41"]);
  expect(rows({ only: "gpu" })).toEqual(["GPU", "t0", "t1"]);
  expect(rows({ only: "none such" })).toEqual([]);
  expect(["a(b", "xA(Bx", "ab"].map(matcher("a(b"))).toEqual([true, true, false]);
});

test("markers are written into an address and read back, in order", () => {
  const text = writtenMarkers([{ at: 2400.4, note: "" }, { at: 1500, note: "a~b: c" }]);
  expect(text).toBe("2400:~1500:a-b: c");
  expect(readMarkers(text)).toEqual([{ at: 1500, note: "a-b: c" }, { at: 2400, note: "" }]);
  expect(readMarkers("x~5~:~")).toEqual([]);
});
