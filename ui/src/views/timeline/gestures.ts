// Mouse, touch and wheel on the timeline, told apart and handed on as what the reader meant.

export interface Spot { x: number; y: number }

export interface Meant {
  zoom(factor: number, x: number): void;
  pan(pixels: number): void;
  scroll(pixels: number): void;
  /** `isSecond`: with the Shift key, to measure from what is chosen. */
  click(x: number, y: number, isSecond: boolean): void;
  hover(x: number, y: number): void;
  leave(): void;
  /** A range is being drawn from one place to another. */
  selecting(from: Spot, to: Spot): void;
  /** It is drawn. */
  selected(from: Spot, to: Spot): void;
}

const STILL = 4;

export function listen(on: HTMLElement, ruler: number, meant: Meant): () => void {
  const fingers = new Map<number, { x: number; y: number }>();
  let drag: { kind: "select" | "pan"; x: number; y: number; moved: boolean; last: { x: number; y: number } } | undefined;
  const place = (event: MouseEvent) => {
    const box = on.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const { x, y } = place(event);
    const step = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey || y < ruler) meant.zoom(Math.exp(event.deltaY * step * 0.0022), x);
    else if (event.shiftKey) meant.pan((event.deltaY + event.deltaX) * step);
    else {
      if (event.deltaX !== 0) meant.pan(event.deltaX * step);
      if (event.deltaY !== 0) meant.scroll(event.deltaY * step);
    }
  };

  const down = (event: PointerEvent) => {
    const at = place(event);
    fingers.set(event.pointerId, at);
    on.setPointerCapture(event.pointerId);
    const panning = event.pointerType === "touch" || event.shiftKey || event.button === 1 || at.y < ruler;
    drag = { kind: panning ? "pan" : "select", ...at, moved: false, last: at };
  };

  const move = (event: PointerEvent) => {
    const at = place(event);
    const before = fingers.get(event.pointerId);
    if (before === undefined || drag === undefined) {
      meant.hover(at.x, at.y);
      return;
    }
    if (fingers.size === 2) pinch(event.pointerId, before, at);
    else {
      drag.moved ||= Math.hypot(at.x - drag.x, at.y - drag.y) > STILL;
      if (drag.moved && drag.kind === "select") meant.selecting(drag, at);
      if (drag.moved && drag.kind === "pan") {
        meant.pan(drag.last.x - at.x);
        meant.scroll(drag.last.y - at.y);
      }
      drag.last = at;
    }
    fingers.set(event.pointerId, at);
  };

  const pinch = (id: number, before: { x: number; y: number }, at: { x: number; y: number }) => {
    const other = [...fingers].find(([one]) => one !== id)?.[1];
    if (other === undefined || drag === undefined) return;
    drag.moved = true;
    const apart = (one: { x: number }) => Math.max(8, Math.abs(one.x - other.x));
    meant.zoom(apart(before) / apart(at), (at.x + other.x) / 2);
    meant.pan((before.x - at.x) / 2);
  };

  const up = (event: PointerEvent) => {
    const at = place(event);
    fingers.delete(event.pointerId);
    if (drag !== undefined && fingers.size === 0) {
      if (!drag.moved) meant.click(at.x, at.y, event.shiftKey);
      else if (drag.kind === "select") meant.selected(drag, at);
      drag = undefined;
    }
  };

  const cancel = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    if (fingers.size === 0) drag = undefined;
  };
  const leave = () => meant.leave();

  on.addEventListener("wheel", wheel, { passive: false });
  on.addEventListener("pointerdown", down);
  on.addEventListener("pointermove", move);
  on.addEventListener("pointerup", up);
  on.addEventListener("pointercancel", cancel);
  on.addEventListener("pointerleave", leave);
  return () => {
    on.removeEventListener("wheel", wheel);
    on.removeEventListener("pointerdown", down);
    on.removeEventListener("pointermove", move);
    on.removeEventListener("pointerup", up);
    on.removeEventListener("pointercancel", cancel);
    on.removeEventListener("pointerleave", leave);
  };
}
