// How soon a capture is seen: `node test/browser/first.mjs CAPTURE [ROUNDS]`, with RIDGELINE as the binary.
//
// From the command to its address, to the answers that the page needs first, and to the timeline drawn with its tiles, in a
// browser that is open already; and the most memory that the server took until then.

import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";

const [capture, rounds = "5"] = process.argv.slice(2);
const RIDGELINE = process.env.RIDGELINE ?? fileURLToPath(new URL("../../../target/release/ridgeline", import.meta.url));
const browser = await launch();
// The first page of a browser takes longer than those that follow.
await (await browser.newPage()).close();
for (let round = 0; round < Number(rounds); round += 1) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const begun = performance.now();
  const since = () => `${((performance.now() - begun) / 1000).toFixed(2)} s`;
  const child = spawn(RIDGELINE, ["view", capture, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((found) => child.stdout.on("data", (part) => found(String(part).trim())));
  const said = [`address ${since()}`];
  page.on("response", (response) => {
    const path = new URL(response.url()).pathname.replace(/^.*api\/v1\//, "");
    if (["capture", "timeline", "tiles"].includes(path) && !said.some((one) => one.startsWith(`${path} `))) said.push(`${path} ${since()}`);
  });
  await page.goto(address.replace("#token=", "#/timeline?token="));
  // The legend names what is in tiles that came.
  await page.locator(".legend li").first().waitFor({ timeout: 120_000 });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  said.push(`drawn ${since()}`);
  const most = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  console.log(`load ${loadavg()[0].toFixed(1)}: ${said.join(", ")}; server at most ${Math.round(Number(most) / 1000)} MB`);
  await context.close();
  await new Promise((done) => { child.once("exit", done); child.kill("SIGINT"); });
}
await browser.close();
