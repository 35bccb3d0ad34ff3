// Which rows of a long list are in view. Rows have one height, so nothing has to be measured.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Of `total` rows, each `high` pixels, those that `box` shows and `spare` more at both ends; `height` is that of the box. */
export function useRowsInView(box: RefObject<HTMLElement | null>, total: number, high: number, spare: number): { first: number; last: number; height: number } {
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const on = box.current;
    if (on === null) return;
    const see = () => setView({ top: on.scrollTop, height: on.clientHeight });
    const watch = new ResizeObserver(see);
    watch.observe(on);
    on.addEventListener("scroll", see, { passive: true });
    return () => {
      watch.disconnect();
      on.removeEventListener("scroll", see);
    };
  }, []);
  return {
    first: Math.max(0, Math.floor(view.top / high) - spare),
    last: Math.min(total, Math.ceil((view.top + view.height) / high) + spare),
    height: view.height,
  };
}
