import { expect, test } from "vitest";
import { tsvOf } from "../src/parts/save";
import { numbersIn, queryOf, rangesOf, selectionIn } from "../src/selection";
import type { Timeline } from "../src/source/types";
import { layout, tracksUnder } from "../src/views/timeline/layout";

test("tracks are written as ranges, and read back", () => {
  expect(rangesOf([7, 1, 5, 4, 6, 4])).toBe("1,4-7");
  expect(numbersIn("1,4-7")).toEqual([1, 4, 5, 6, 7]);
  expect(numbersIn("x,-3,2")).toEqual([2]);
  expect(numbersIn("0-999999999999").length).toBe(100_000);
});

test("an address has a selection or none", () => {
  const read = (text: string) => selectionIn(new URLSearchParams(text));
  expect(read("a=5&b=9&tracks=1-2&step=3&where=dur%3E1ms")).toEqual({ from: 5, to: 9, tracks: [1, 2], step: 3, where: "dur>1ms" });
  expect(read("a=5&b=9")).toEqual({ from: 5, to: 9 });
  expect([read("a=9&b=5"), read("a=5"), read("a=x&b=9"), read("")]).toEqual([undefined, undefined, undefined, undefined]);
  expect(queryOf({ from: 5, to: 9 }, [0, 1, 2])).toEqual({ from: 5, to: 9, tracks: "0-2", step: undefined, where: undefined });
});

const track = (id: number) => ({ id, name: `t${id}`, kind: "stream", lanes: 1, events: 1, levels: [0, 20] as [number, number] });
const timeline: Timeline = {
  span_ns: 1000, categories: [], steps: [], counters: [{ id: 0, name: "memory", unit: "bytes" }],
  groups: [{ id: 0, name: "GPU", kind: "device", tracks: [track(0), track(1)] }, { id: 1, name: "host", kind: "host", tracks: [track(2), track(3)] }],
};

test("a drag means the tracks that it touches, and a head alone or a folded group all of its own", () => {
  const { rows } = layout(timeline, new Set(["g1"]));
  // g0 0–26, t0 26–51, t1 51–76, g1 76–102, c0 102–142.
  const under = (one: number, other: number) => tracksUnder(rows, one, other);
  expect(under(30, 40)).toEqual([0]);
  expect(under(60, 30)).toEqual([0, 1]);
  expect(under(10, 40)).toEqual([0]);
  expect(under(5, 10)).toEqual([0, 1]);
  expect(under(60, 90)).toEqual([1, 2, 3]);
  expect(under(110, 120)).toEqual([]);
});

test("cells with tabs and ends of lines stay one cell", () => {
  expect(tsvOf([["a", 1, null], ["b\tc\nd", 2.5, true]])).toBe("a\t1\t\nb c d\t2.5\ttrue\n");
});
