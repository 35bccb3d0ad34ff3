// A value that follows another once that stays as it is.

import { useEffect, useState } from "preact/hooks";

/** `value` after it was the same for so many milliseconds; at first at once. */
export function useSettled<T>(value: T, milliseconds: number): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const waiting = window.setTimeout(() => settle(value), milliseconds);
    return () => window.clearTimeout(waiting);
  }, [value]);
  return settled;
}
