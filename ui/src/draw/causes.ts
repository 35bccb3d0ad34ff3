// Colors of why devices are idle: the same in every view.

import { fill, NO_CATEGORY } from "./palette";

const COLORS: Record<string, number> = {
  "host late": 3, "in the launch call": 11, "launch latency": 7, "waiting for a copy": 8, "waiting for another stream": 4,
  "inside a graph replay": 5, "inside a program run": 12, "between queued work": 2, "profiler overhead": 6,
  "before the first work": 9, "after the last work": 14,
};

/** A cause of idle time always has the same color; what nothing explains is gray. */
export function causeFill(cause: string | undefined, dark: boolean): string {
  return fill(COLORS[cause ?? ""] ?? NO_CATEGORY, dark);
}
