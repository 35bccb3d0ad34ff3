// Hands the capture to Perfetto's page, by its documented protocol: ping until it answers, then post the trace.
//
// https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui

import { reason, say, source } from "../context";

const PERFETTO = "https://ui.perfetto.dev";
const PING_EVERY = 100;
const PATIENCE = 60_000;

/** Opens Perfetto's page and gives it the capture; only ever called by a click. */
export function handOver(title: string): void {
  // At once, within the click: browsers open no page later.
  const page = window.open(PERFETTO, "_blank");
  if (page === null) return say("The browser blocked the new window.");
  void give(page, title).catch((error: unknown) => {
    const { text, hint } = reason(error);
    say(hint === undefined ? text : `${text} ${hint}`);
    page.close();
  });
}

async function give(page: Window, title: string): Promise<void> {
  const [buffer] = await Promise.all([source().bytes("export", { to: "perfetto" }), answered(page)]);
  page.postMessage({ perfetto: { buffer, title, fileName: "ridgeline.pftrace" } }, PERFETTO, [buffer]);
}

function answered(page: Window): Promise<void> {
  return new Promise((done, fail) => {
    const end = (how: () => void) => {
      window.clearInterval(pings);
      window.clearTimeout(late);
      window.removeEventListener("message", hear);
      how();
    };
    const hear = (message: MessageEvent) => message.source === page && message.origin === PERFETTO && message.data === "PONG" && end(done);
    const pings = window.setInterval(() => page.postMessage("PING", PERFETTO), PING_EVERY);
    const late = window.setTimeout(() => end(() => fail(new Error("Perfetto's page did not answer."))), PATIENCE);
    window.addEventListener("message", hear);
  });
}
