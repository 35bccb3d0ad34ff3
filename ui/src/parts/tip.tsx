// One tip for the whole page: what is pointed at, or has the keyboard, says what it means.

import { signal } from "@preact/signals";

const tip = signal<{ text: string; left: number; top: number } | undefined>(undefined);

export function watchTips(): void {
  const find = (event: Event) => (event.target instanceof Element ? event.target.closest<HTMLElement>("[data-about]") : null);
  const open = (event: Event) => {
    const at = find(event);
    tip.value = at === null ? undefined : placed(at);
  };
  const shut = () => (tip.value = undefined);
  document.addEventListener("pointerover", open);
  document.addEventListener("focusin", open);
  document.addEventListener("click", open);
  document.addEventListener("scroll", shut, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && shut());
}

function placed(at: HTMLElement) {
  const box = at.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left, window.innerWidth - 328));
  const below = box.bottom + 110 < window.innerHeight;
  at.setAttribute("aria-describedby", "tip");
  return { text: at.dataset["about"] ?? "", left, top: below ? box.bottom + 6 : box.top - 8 - 90 };
}

export function Tip() {
  const now = tip.value;
  return (
    <div id="tip" role="tooltip" class="tip" hidden={now === undefined} style={now === undefined ? {} : { left: `${now.left}px`, top: `${now.top}px` }}>
      {now?.text}
    </div>
  );
}
