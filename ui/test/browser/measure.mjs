// What pictures of the timeline cost: `node test/browser/measure.mjs [ADDRESS]`, else on 200 000 made-up rectangles.
//
// For each painter, while somebody pans and zooms: script and layout of each frame by the browser's own tracing, the time
// from one picture to the next, calls for tiles as the page waits for them, and the memory of the browser's processes.

import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { serve } from "../../mock/server.mjs";
import { launch, shown } from "./browser.mjs";

const address = process.argv[2] ?? (await serve({ count: 60, per: 3600, span: 80_000_000 })).address;
const FRAMES = Number(process.env.FRAMES ?? 300);
/** What a frame does on the main thread; what is inside of another counts once. */
const WORK = new Set(["FireAnimationFrame", "EventDispatch", "FunctionCall", "TimerFire", "RunMicrotasks", "EvaluateScript", "UpdateLayoutTree", "Layout", "MinorGC", "MajorGC"]);

for (const painter of (process.env.PAINTERS ?? "webgl2 canvas2d").split(" ")) {
  const browser = await launch();
  const begun = Date.now();
  const { page, close } = await shown(browser, address, `#/timeline?painter=${painter}`);
  const first = Date.now() - begun;
  await page.waitForTimeout(3000);
  await page.locator(".tl-box").focus();
  await page.evaluate(() => performance.setResourceTimingBufferSize(20_000));
  await browser.startTracing(page, { categories: ["devtools.timeline", "v8", "blink.user_timing"] });
  const apart = await page.evaluate(async (frames) => {
    performance.clearMeasures();
    const box = document.querySelector(".tl-box");
    const times = [];
    let last = performance.now();
    for (let n = 0; n < frames; n += 1) {
      // In for a while, along, out again, back: every level is come by.
      const key = ["w", "d", "s", "a"][Math.floor(n / 15) % 4];
      box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times;
  }, FRAMES);
  const work = perFrame(JSON.parse((await browser.stopTracing()).toString()).traceEvents);
  const { script, tiles, heap } = await page.evaluate(() => ({
    script: performance.getEntriesByName("timeline-draw").map((entry) => entry.duration),
    tiles: performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/tiles?")).map((entry) => entry.duration),
    heap: performance.memory?.usedJSHeapSize ?? 0,
  }));
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const memory = processInfo.map((one) => `${one.type} ${megabytes(pss(one.id))}`).join(", ");
  console.log(`${painter}: load ${loadavg()[0].toFixed(1)}; first picture within ${first} ms of an empty browser`);
  console.log(`  script and layout of a frame: ${said(work.wall)}; of the processor: ${said(work.own)} (${work.wall.length} frames)`);
  console.log(`  of it drawing: ${said(script)}`);
  console.log(`  from picture to picture: ${said(apart)}`);
  console.log(`  calls for tiles: ${said(tiles)} (${tiles.length} calls)`);
  console.log(`  memory: script's heap ${megabytes(heap / 1024)}; processes by their share: ${memory}`);
  await close();
  await browser.close();
}
process.exit(0);

function said(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part) => (sorted.length === 0 ? "–" : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(1));
  return `median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`;
}

/** Milliseconds of work between one animation frame and the next, on the thread that has them: by the clock, and without the time in which others had the processor. */
function perFrame(events) {
  const calls = events.filter((event) => event.name === "FireAnimationFrame" && event.dur !== undefined).sort((a, b) => a.ts - b.ts);
  // One frame calls everybody who asked for it, one right after the other.
  const frames = calls.filter((call, at) => at === 0 || call.ts > calls[at - 1].ts + calls[at - 1].dur + 2000);
  const work = events.filter((event) => event.tid === frames[0]?.tid && event.pid === frames[0]?.pid && WORK.has(event.name) && event.dur !== undefined).sort((a, b) => a.ts - b.ts);
  const [wall, own] = [new Array(frames.length).fill(0), new Array(frames.length).fill(0)];
  let [frame, until] = [0, 0];
  for (const { ts, dur, tdur } of work) {
    while (frame + 1 < frames.length && frames[frame + 1].ts <= ts) frame += 1;
    // What is inside of another counts with it.
    if (ts < until) continue;
    wall[frame] += dur / 1000;
    own[frame] += (tdur ?? dur) / 1000;
    until = ts + dur;
  }
  return { wall: wall.slice(0, -1), own: own.slice(0, -1) };
}

/** Kilobytes of a process, what it shares with others in parts. */
function pss(id) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function megabytes(kilobytes) {
  return `${Math.round(kilobytes / 1024)} MiB`;
}
