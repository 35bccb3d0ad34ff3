// Dark or light: as the system is, or as the reader chose.

import { effect, signal } from "@preact/signals";
import { recall, remember } from "./address";
import { dark } from "./context";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const choice = signal<"dark" | "light" | null>(recall("ridgeline-theme") as "dark" | "light" | null);
const systemDark = signal(system.matches);
/** Paper is white. */
const printing = signal(false);

export function followTheme(): void {
  window.addEventListener("beforeprint", () => (printing.value = true));
  window.addEventListener("afterprint", () => (printing.value = false));
  system.addEventListener("change", () => (systemDark.value = system.matches));
  effect(() => {
    const now = printing.value ? false : choice.value === null ? systemDark.value : choice.value === "dark";
    document.documentElement.dataset["theme"] = now ? "dark" : "light";
    dark.value = now;
  });
}

export function turn(): void {
  choice.value = dark.value ? "light" : "dark";
  remember("ridgeline-theme", choice.value);
}
