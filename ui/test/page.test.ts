import { expect, test } from "vitest";
import { rgb } from "../src/draw/palette";
import { EmbeddedSource, keyOf } from "../src/source/source";
import { arranged } from "../src/parts/rows";
import { boxes, find, nodeOf } from "../src/views/flame/boxes";
import { drawn } from "../src/views/graph/drawn";
import { placeOf } from "../src/views/graph/text";
import { decades } from "../src/parts/scale";
import { frame } from "../src/views/roofline/scale";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

test("colors are read in both forms", () => {
  expect(rgb("#fff")).toEqual([1, 1, 1]);
  expect(rgb("#000080")[2]).toBeCloseTo(128 / 255);
});

test("a report's keys do not depend on the order of parameters", () => {
  expect(keyOf("search", { q: "a b", after: 3, none: undefined })).toBe("search?after=3&q=a%20b");
  expect(keyOf("capture")).toBe("capture");
});

test("a report answers what it holds, and says what it does not", async () => {
  const body = Buffer.from('{"title":"x"}');
  const index = Buffer.from(JSON.stringify({ v: 1, left_out: ["events were left out"], answers: { capture: [0, body.length, "application/json"] } }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  const source = await EmbeddedSource.unpack(gzipSync(Buffer.concat([length, index, body])).toString("base64"));
  expect(await source.json("capture")).toEqual({ title: "x" });
  expect(source.leftOut).toEqual(["events were left out"]);
  await expect(source.json("__proto__")).rejects.toThrow("Not in this report.");
  await expect(source.bytes("tile/0/1/2")).rejects.toThrow("Not in this report.");
});

test("rows are sorted with what is unknown last, both ways, and filtered by any text", () => {
  const answer = { title: "", total: 3, columns: ["op", "ns"].map((id) => ({ id, title: id, about: "", unit: "", basis: null })), rows: [["b", null], ["a", 1], ["ab", 3]], subjects: [null, { kind: "op", text: "a", id: "op:1" }, null] };
  const order = (wish: { sort?: string; descending?: boolean; filter?: string }) => arranged(answer, { sort: wish.sort, descending: wish.descending ?? false, filter: wish.filter ?? "" });
  expect(order({ sort: "ns" }).rows.map((row) => row[0])).toEqual(["a", "ab", "b"]);
  expect(order({ sort: "ns", descending: true }).rows.map((row) => row[0])).toEqual(["ab", "a", "b"]);
  expect(order({ filter: "A" }).rows.map((row) => row[0])).toEqual(["a", "ab"]);
  expect(order({ sort: "op" }).subjects[0]?.id).toBe("op:1");
});

test("an icicle's parts stay within what they are in, also where they add up to more", () => {
  const leaf = (name: string, ns: number) => ({ name, own: ns, total: ns, children: [] });
  const shown = boxes({ name: "all", own: 0, total: 100, children: [leaf("a", 80), leaf("b", 80)] });
  expect(shown.map((box) => [box.node.name, box.left, box.width])).toEqual([["all", 0, 1], ["a", 0, 0.5], ["b", 0.5, 0.5]]);
  expect(find({ ...leaf("aa", 10), children: [leaf("a", 4)] }, "A")).toMatchObject({ nodes: 2, sum: 10 });
  const told = { name: "all", self_bytes: 1, total_bytes: 3, children: [{ name: "a", self_bytes: 2, total_bytes: 2, children: [] }] };
  expect(nodeOf(told)).toEqual({ ...leaf("all", 3), own: 1, children: [leaf("a", 2)] });
});

test("an opened box holds what is inside of it, and nobody stands on another", () => {
  const node = (id: number, x: number, y: number, name = `n${id}`) => ({ id, name, opcode: "add", x, y, text: "", self_ns: null });
  const graph = { nodes: [node(0, 0.5, 0), node(1, 0, 1), node(2, 1, 1), node(3, 0.5, 2)], edges: [[0, 1], [0, 2], [1, 3], [2, 3]] as [number, number][] };
  const wide = { nodes: [node(0, 0, 0, "a"), node(1, 1, 1, "b"), node(2, 2, 1, "c")], edges: [[0, 1]] as [number, number][] };
  const deep = { nodes: [node(0, 0, 0, "d"), node(1, 0, 1, "n1")], edges: [] };
  const { boxes, edges, width, height } = drawn(graph, new Map([["n1", wide], ["b", deep], ["n3", { nodes: [node(0, 0, 0, "e"), node(1, 0, 1, "f")], edges: [] }]]));
  const of = (id: number | string) => boxes.find((box) => box.node.id === id)!;
  const holds = (outer: (typeof boxes)[0], inner: (typeof boxes)[0]) => inner.x > outer.x && inner.y > outer.y && inner.x + inner.width < outer.x + outer.width && inner.y + inner.height < outer.y + outer.height;
  const apart = (one: (typeof boxes)[0], other: (typeof boxes)[0]) => one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
  for (const [outer, inner] of [[1, "1/0"], [1, "1/1"], [1, "1/1/0"], ["1/1", "1/1/1"], [3, "3/1"]] as const) expect(holds(of(outer), of(inner)), `${inner} in ${outer}`).toBe(true);
  for (const level of [[0, 1, 2, 3], ["1/0", "1/1", "1/2"]]) for (const one of level) for (const other of level) if (one !== other) expect(apart(of(one), of(other)), `${one} and ${other}`).toBe(true);
  // What seems to run itself is opened once.
  expect(boxes.length).toBe(4 + 3 + 2 + 2);
  expect(boxes.filter((box) => box.isOpen).map((box) => box.node.id)).toEqual([1, 3, "1/1"]);
  expect(edges.length).toBe(5);
  for (const box of boxes) expect(box.x + box.width <= width && box.y + box.height <= height).toBe(true);
});

test("the line of an operation is the one that defines it", () => {
  const lines = ["HloModule m", "  %a.1 = f32[] add(%a.10, %b)", "  ROOT %a.10 = f32[] add(%a.1, %a.1)", "  b = f32[] parameter(0)"];
  expect(["a.1", "a.10", "b", "a", undefined].map((op) => placeOf(lines, op))).toEqual([1, 2, 3, -1, -1]);
});

test("every point and roof is inside of the roofline's frame", () => {
  const chart = { device: "", basis: "", intensity: "", share_left_out: 0, slopes: [{ name: "m", bytes_per_sec: 1e12 }], roofs: [{ name: "r", flops_per_sec: 1e15 }], points: [{ name: "p", intensity: 0.01, flops_per_sec: 1e6, share: 1, bound: null, others: [] }] };
  const box = frame(chart, { left: 10, right: 110, top: 0, bottom: 100 });
  for (const [x, y] of [[0.01, 1e6], [1000, 1e15]] as const) {
    expect(box.x(x)).toBeGreaterThan(10);
    expect(box.x(x)).toBeLessThan(110);
    expect(box.y(y)).toBeGreaterThan(0);
    expect(box.y(y)).toBeLessThan(100);
  }
  expect(decades([0.5, 2000])).toEqual([1, 10, 100, 1000]);
});

test("a view is a folder and a line, and no folder is forgotten", () => {
  const views = fileURLToPath(new URL("../src/views/", import.meta.url));
  const folders = readdirSync(views, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();
  const registry = readFileSync(`${views}registry.ts`, "utf8");
  const lines = [...registry.matchAll(/^ {2}\{ id: "(\w+)".* component: (\w+)/gm)].map(([, id, component]) => [id!, component!]);
  expect(lines.map(([id]) => id).sort()).toEqual(folders);
  for (const [id, component] of lines) {
    expect(registry).toContain(`import ${component} from "./${id}";`);
    expect(existsSync(`${views}${id}/index.tsx`)).toBe(true);
  }
});
