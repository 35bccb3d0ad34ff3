// The page in a real browser: on the made-up capture, and on real ones where the binary is there.
//
//     node test/browser/run.mjs [--browser NAME] [--ridgeline PATH] [--capture PATH …] [--only TEXT]
//
// Says each test's result and ends with the counts, in the form that `make test` reads.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { executable, launch, NAMES } from "./browser.mjs";
import { serve } from "../../mock/server.mjs";
import { TESTS as ABSENT } from "./absent.mjs";
import { TESTS as ALONG } from "./along.mjs";
import { TESTS as BESIDE } from "./beside.mjs";
import { TESTS as FLEET } from "./fleet.mjs";
import { TESTS as PAGE } from "./page.mjs";
import { TESTS as TIMELINE } from "./timeline.mjs";
import { TESTS as QUERY } from "./query.mjs";
import { TESTS as TABLES } from "./tables.mjs";
import { TESTS as KEYBOARD } from "./keyboard.mjs";
import { TESTS as PICTURES } from "./pictures.mjs";
import { TESTS as REPORT } from "./report.mjs";
import { TESTS as REAL } from "./real.mjs";
import { TESTS as HOSTILE } from "./hostile.mjs";

const options = parse(process.argv.slice(2));
/** A test that ends no earlier hangs; on a busy machine one that opens every view takes minutes. */
const PATIENCE = 300_000;
const counts = { passed: 0, failed: 0, skipped: 0 };

if (executable(options.browser) === undefined) {
  console.log(`skipped: page in a browser: no ${options.browser} is here; \`make test-ui\` installs Chromium`);
  console.log("test result: ok. 1 passed; 0 failed; 0 ignored");
  process.exit(0);
}
const browser = await launch(options.browser);
// Playwright asks Firefox by `eval`, which the page's own policy forbids; what needs that policy is tested in Chromium.
const mock = await serve({ evals: options.browser !== "chromium" });
const at = { ...options, browser, name: options.browser, address: mock.address, ridgeline: existsSync(options.ridgeline) ? options.ridgeline : undefined };
for (const [name, test] of [...PAGE, ...ABSENT, ...ALONG, ...BESIDE, ...TIMELINE, ...TABLES, ...QUERY, ...KEYBOARD, ...FLEET, ...PICTURES(at), ...REPORT(at), ...REAL(at), ...HOSTILE(at)]) {
  if (options.only !== undefined && !name.includes(options.only)) continue;
  const begun = Date.now();
  try {
    const skipped = await limited(test(at), PATIENCE);
    if (typeof skipped === "string") {
      counts.skipped += 1;
      console.log(`skipped: ${name}: ${skipped}`);
    } else {
      counts.passed += 1;
      console.log(`ok ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    }
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED ${name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
await browser.close();
mock.close();
// As Rust's runner counts: a test that skips itself has passed, and said so.
console.log(`test result: ${counts.failed === 0 ? "ok" : "FAILED"}. ${counts.passed + counts.skipped} passed; ${counts.failed} failed; 0 ignored`);
process.exit(counts.failed === 0 ? 0 : 1);

function limited(work, milliseconds) {
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`no end after ${milliseconds / 1000} s`)), milliseconds); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function parse(words) {
  const found = { ridgeline: fileURLToPath(new URL("../../../target/debug/ridgeline", import.meta.url)), captures: [], only: undefined, browser: "chromium" };
  for (let n = 0; n < words.length; n += 1) {
    if (words[n] === "--ridgeline") found.ridgeline = words[++n];
    else if (words[n] === "--capture") found.captures.push(words[++n]);
    else if (words[n] === "--only") found.only = words[++n];
    else if (words[n] === "--browser" && NAMES.includes(words[n + 1])) found.browser = words[++n];
    else throw new Error(`expected --browser ${NAMES.join(" or ")}, --ridgeline, --capture or --only, found ${words[n]}`);
  }
  return found;
}
