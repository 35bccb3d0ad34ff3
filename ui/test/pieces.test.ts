import { expect, test } from "vitest";
import { band, type BesideAnswer, boxAt, boxesOf, pairs, paths, type Piece, placed, ticks } from "../src/parts/pieces";

const piece = (start: number, duration: number, name: number, nth: number, count = 1, lane = 0): Piece => [lane, start, duration, 0, name, nth, count, duration / count, start];
const half = (title: string, long_ns: number, ...tracks: Piece[][]) => ({ title, row: null, start_ns: 0, long_ns, deeper_left_out: 0, tracks: tracks.map((pieces, at) => ({ name: `stream ${at}`, pieces })) });
const answer: BesideAnswer = {
  long_ns: 1000, from_ns: 0, to_ns: 1000, names: ["gemm", "copy"], categories: [{ name: "matmul", color_index: 0 }], tracks_left_out: 0,
  halves: [half("a", 800, [piece(0, 100, 0, 0), piece(200, 100, 0, 1), piece(500, 200, 1, 0, 4)], []), half("b", 1000, [piece(50, 300, 0, 0), piece(600, 100, 0, 1), piece(900, 50, 0, 2)], [piece(0, 10, 0, 0, 1, 2)])],
};

test("both halves of a track stand one below the other, and no row on another", () => {
  const { rows, height } = placed(answer);
  expect(rows.map((row) => [row.name, row.strips[0].lanes, row.strips[1].lanes])).toEqual([["stream 0", 1, 1], ["stream 1", 1, 3]]);
  for (const row of rows) expect(row.strips[1].top).toBeGreaterThan(row.strips[0].top);
  expect(rows[1]!.top).toBe(rows[0]!.top + rows[0]!.height);
  expect(height).toBeGreaterThan(rows[1]!.top + rows[1]!.height - 1);
});

test("what belongs together is the n-th of a name on a track; joined events belong to nothing", () => {
  const { rows } = placed(answer);
  const boxes = boxesOf(answer, rows, 10, 1000);
  const found = pairs(boxes);
  const said = [...found].filter(([box]) => box.half === 0).map(([one, other]) => [one.piece[1], other.piece[1]]);
  expect(said).toEqual([[0, 50], [200, 600]]);
  const [one, other] = [...found][0]!;
  expect(found.get(other)).toBe(one);
  expect(band(one, other)).toMatch(/^M10 .*z$/);
});

test("one nanosecond is as wide in both halves, and several events are as high as they are busy", () => {
  const boxes = boxesOf(answer, placed(answer).rows, 10, 1000);
  expect(boxes.map((box) => [box.x, box.width])).toEqual([[10, 100], [210, 100], [510, 200], [60, 300], [610, 100], [910, 50], [10, 10]]);
  expect(boxes[2]!.height).toBeCloseTo(boxes[0]!.height / 4);
  expect(paths(boxes, (box) => String(box.half)).map(([, path]) => path.match(/M/g)!.length)).toEqual([3, 4]);
  const over = boxes[3]!;
  expect(boxAt(boxes, over.x + 5, over.y + 3)).toBe(over);
  expect(boxAt(boxes, over.x + 5, over.y + 500)).toBeUndefined();
});

test("times on the axis are round and apart", () => {
  expect(ticks(0, 1000, 900)).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  expect(ticks(12_345, 12_745, 500).every((at) => at % 100 === 0)).toBe(true);
});
