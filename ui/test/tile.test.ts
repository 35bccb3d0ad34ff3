import { expect, test } from "vitest";
import { answers, random, tile as cut, tracks } from "../mock/capture.mjs";
import { decode, longest, spanAt, split } from "../src/views/timeline/tile";

const bytes = (buffer: Uint8Array) => Uint8Array.from(buffer).buffer as ArrayBuffer;
const color = (category: number) => category;
const SPAN = 80_000_000;
const all = tracks(3, 9000, SPAN);

test("a tile of few events holds them, to the nanosecond", () => {
  const track = all[0]!;
  const level = 8;
  const width = 1024 * 2 ** level;
  const found = decode(bytes(cut(track, level, 3)), level, color);
  const expected = track.events.filter((event) => event.start < 4 * width && event.start + event.duration > 3 * width);
  expect(expected.length).toBeGreaterThan(10);
  expect(Array.from(found.events!.start)).toEqual(expected.map((event) => event.start));
  expect(Array.from(found.events!.duration)).toEqual(expected.map((event) => event.duration));
  expect(Array.from(found.events!.row)).toEqual(expected.map((event) => event.row));
  expect(Array.from(found.events!.name, (at) => found.events!.names[at])).toEqual(expected.map((event) => event.name));
});

test("what tiles of columns draw is the busy time, and no event is invisible", () => {
  const track = all[1]!;
  const level = 17;
  const found = decode(bytes(cut(track, level, 0)), level, color);
  expect(found.columns).toBeDefined();
  const drawn = found.columns!.share.reduce((sum, share) => sum + share * 2 ** level, 0);
  const busy = track.events.reduce((sum, event) => sum + event.duration, 0);
  expect(drawn / busy).toBeCloseTo(1, 5);
  for (const event of track.events) expect(spanAt(found, event.start, event.lane, 0)).toBeGreaterThanOrEqual(0);
  expect(Math.min(...found.spans.height)).toBeGreaterThan(0);
});

test("the shortest of several events under a point is the one that is meant", () => {
  const track = all[2]!;
  const found = decode(bytes(cut(track, 8, 0)), 8, color);
  const event = track.events[20]!;
  const at = spanAt(found, event.start + event.duration / 2, event.lane, 0);
  expect(found.events!.row[at]).toBe(event.row);
  expect(spanAt(found, event.start, 7, 0)).toBe(-1);
});

test("spans by length, longest first", () => {
  const found = decode(bytes(cut(all[0]!, 8, 0)), 8, color);
  const lengths = Array.from(longest(found), (at) => found.events!.duration[at]!);
  expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
});

test("several tiles come as one answer, none as length 0", () => {
  const answer = answers({ count: 2, per: 50, span: 1_000_000 });
  const parts = split(bytes(answer("tiles", new URLSearchParams("want=0/8/0,99/8/0,1/8/0"))));
  expect(parts.map((part) => part === null)).toEqual([false, true, false]);
});

test("damaged bytes are an error and nothing else", () => {
  const good = new Uint8Array(bytes(cut(all[0]!, 8, 0)));
  const next = random(3);
  for (let n = 0; n < 400; n += 1) {
    const bad = good.slice(0, Math.floor(next() * good.length));
    expect(() => decode(bytes(bad), 8, color)).toThrow();
  }
});

test("an event that is in two tiles has one color in both", () => {
  const track = { id: 0, name: "", lanes: 1, events: [{ row: 0, start: 0, duration: 10, lane: 0, category: 2, name: "first" }, { row: 1, start: 200_000, duration: 200_000, lane: 0, category: 2, name: "long" }] };
  const [one, other] = [0, 1].map((index) => decode(bytes(cut(track, 8, index)), 8, color));
  expect(one!.events!.names).not.toEqual(other!.events!.names);
  expect(one!.spans.color[1]).toBe(other!.spans.color[0]);
});
