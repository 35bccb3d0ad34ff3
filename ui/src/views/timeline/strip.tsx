// The whole capture as one strip above the timeline, and the part of it that is shown; drag it to go elsewhere.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { dark, source } from "../../context";
import { fill, NO_CATEGORY } from "../../draw/palette";
import type { Timeline } from "../../source/types";
import { look, shown } from "./state";
import { levelFor, Tiles } from "./tiles";

const HEIGHT = 34;
const MOST_TRACKS = 64;

export function Strip({ timeline }: { timeline: Timeline }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const draw = useRef(() => {});
  useEffect(() => {
    const on = canvas.current;
    const context = on?.getContext("2d");
    if (on === null || context === null || context === undefined) return;
    const colors = new Map(timeline.categories.map((category) => [category.id, category.color_index]));
    const tiles = new Tiles(source(), (category) => colors.get(category) ?? NO_CATEGORY, () => draw.current(), () => {});
    const devices = timeline.groups.filter((group) => group.kind === "device");
    const tracks = (devices.length > 0 ? devices : timeline.groups).flatMap((group) => group.tracks).slice(0, MOST_TRACKS);
    let planned = 0;
    const paint = () => {
      planned = 0;
      const width = on.clientWidth;
      if (on.width !== width) on.width = width;
      on.height = HEIGHT;
      context.clearRect(0, 0, width, HEIGHT);
      const scale = width / timeline.span_ns;
      const level = levelFor(1 / scale);
      const room = (HEIGHT - 4) / Math.max(1, tracks.length);
      tracks.forEach((track, place) => {
        for (const { tile } of tiles.pieces(track, level, 0, timeline.span_ns)) {
          for (let at = 0; at < tile.spans.length; at += 1) {
            const left = (tile.start + (tile.spans.ends[2 * at] as number)) * scale;
            const right = (tile.start + (tile.spans.ends[2 * at + 1] as number)) * scale;
            context.fillStyle = fill((tile.spans.color[at] as number) & 15, dark.peek());
            const tall = Math.max(1, room * ((tile.spans.height[at] as number) / 255));
            context.fillRect(left, 2 + place * room + room - tall, Math.max(0.6, right - left), tall);
          }
        }
      });
    };
    draw.current = () => {
      if (planned === 0) planned = requestAnimationFrame(paint);
    };
    const watch = new ResizeObserver(() => draw.current());
    watch.observe(on);
    return () => {
      watch.disconnect();
      cancelAnimationFrame(planned);
      draw.current = () => {};
    };
  }, [timeline]);
  useSignalEffect(() => {
    void dark.value;
    draw.current();
  });

  const span = timeline.span_ns;
  const part = (at: number) => `${Math.max(0, Math.min(100, (at / span) * 100))}%`;
  const move = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    if ((event.buttons & 1) === 0) return;
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * span;
    const half = (shown.value.to - shown.value.from) / 2;
    look({ from: at - half, to: at + half });
  };
  return (
    <div class="strip" onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); move(event); }} onPointerMove={move}>
      <canvas ref={canvas} role="img" aria-label="The whole capture" style={{ height: `${HEIGHT}px` }} />
      {shown.value.from > 0 && <i class="veil before" style={{ left: 0, width: part(shown.value.from) }} />}
      {shown.value.to < span && <i class="veil after" style={{ left: part(shown.value.to), right: 0 }} />}
    </div>
  );
}
