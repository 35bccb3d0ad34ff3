import { expect, test } from "vitest";
import { count, csvCell, instant, percent, share, short, show, threeDigits, time, timeInterval, visible } from "../src/format";

test("values read with their unit, as the terminal shows them", () => {
  for (const [value, unit, text] of [
    [null, "ns", "–"], [14_344_140, "ns", "14.3 ms"], [999, "ns", "999 ns"], [999_999, "ns", "1 ms"], [0, "ns", "0 ns"], [-1500, "ns", "-1.5 µs"],
    [7.2e12, "ns", "2 h 0 min"], [125e9, "ns", "2 min 5 s"], [45e9, "ns", "45 s"],
    [1 << 20, "bytes", "1 MiB"], [1536, "bytes", "1.5 KiB"], [0.1234, "share", "12.3%"], [0, "share", "0.0%"], [1e-5, "share", "<0.1%"],
    [5.3e12, "bytes/s", "5.3 TB/s"], [32.715e9, "flop", "32.7 GFLOP"], [1e9, "flop/s", "1 GFLOP/s"], [13.9, "flop/byte", "13.9 FLOP/B"],
    [Number.NaN, "number", "–"], [12_345.6, "number", "12,346"], [3e12, "number", "3.00e12"], [5_979_302, "count", "5,979,302"],
    [true, "flag", "yes"], ["a\u001bb", "text", "a\\u{1b}b"],
  ] as const) {
    expect(show(value, unit)).toBe(text);
  }
});

test("three digits matter, and no more", () => {
  expect([0, 0.1234, 1.234, 12.34, 123.4, 99.96, 9.996].map(threeDigits)).toEqual(["0", "0.123", "1.23", "12.3", "123", "100", "10"]);
  expect(count(-1234)).toBe("-1,234");
  expect(share(0.5)).toBe("50.0%");
  expect([0.0312, -0.5, 12.34, 0].map(percent)).toEqual(["+3.1%", "-50.0%", "+1234%", "+0.0%"]);
  expect(timeInterval(59_412_000, 60_830_000)).toBe("[+59.4, +60.8] ms");
  expect(timeInterval(-1500, 0)).toBe("[-1.5, 0] µs");
  expect(threeDigits(1023.6)).toBe("1,024");
  expect(time(1e9)).toBe("1 s");
});

test("long names keep both ends", () => {
  expect(short("void cutlass_80_tensorop_gemm_align4", 16)).toBe("void cutl…align4");
  expect(short("short", 16)).toBe("short");
});

test("what turns text around or hides is made visible", () => {
  expect(visible("a\u202eb\nc")).toBe("a\\u{202e}b\\u{a}c");
});

test("cells of CSV are quoted, and none is a formula", () => {
  expect(['a"b', "a,b", "=HYPERLINK(1)", "plain", null, -3].map((cell) => csvCell(cell))).toEqual(['"a""b"', '"a,b"', "'=HYPERLINK(1)", "plain", "", "-3"]);
});

test("a moment has the digits that tell it from the next", () => {
  expect([[9_722_400_000, 6e6], [39_612_345, 2e5], [0, 1e3], [812, 100], [1_500, 1]].map(([at, step]) => instant(at!, step!))).toEqual(["9.722 s", "39.6 ms", "0 ns", "812 ns", "1.500 µs"]);
});
