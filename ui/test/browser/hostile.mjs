// Names in a capture that would be scripts, markup or addresses: in every view of a report and of the server, none runs or loads.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open, settled, visit } from "./browser.mjs";
import { shows, VIEWS } from "./checks.mjs";
import { hasView, server } from "./real.mjs";

// What each would do is seen from outside: it sets the title, asks another host, opens a dialog, or leaves an element behind.
const HARM = "document.title='harmed'";
const NAMES = [
  `k</script><script>${HARM}</script>`,
  `<img src=x onerror="${HARM}">`,
  `<svg onload="${HARM}"><animate onbegin="${HARM}" attributeName=x dur=1s>`,
  `"><iframe srcdoc="<script>parent.${HARM}</script>"></iframe>`,
  `javascript:${HARM}`,
  `'-alert(1)-'`,
  "{{constructor.constructor('alert(1)')()}}",
  "</style><link rel=stylesheet href=https://example.org/a.css>",
  "<base href=https://example.org/>",
  "--></textarea></title><b id=planted>",
  "kernel\u202Egpj\u2028\u0007evil",
];

/** A trace of PyTorch whose every name is one of these: operators, ranges, kernels, threads, files, devices. */
function trace() {
  const events = [];
  const add = (more) => events.push({ ph: "X", pid: 0, ...more });
  NAMES.forEach((name, number) => {
    const ts = 1000 * number;
    add({ tid: 1, cat: "user_annotation", name, ts, dur: 900 });
    add({ tid: 1, cat: "python_function", name: `${name}.py(${number + 1}): ${name}`, ts: ts + 1, dur: 890 });
    add({ tid: 1, cat: "cpu_op", name, ts: ts + 5, dur: 200, args: { "Input Dims": [[8, 8]], "Ev Idx": number } });
    add({ tid: 1, cat: "cuda_runtime", name: "cudaLaunchKernel", ts: ts + 10, dur: 5, args: { correlation: number + 1 } });
    add({ tid: 7, cat: "kernel", name, ts: ts + 40, dur: 600, args: { stream: 7, device: 0, correlation: number + 1, grid: [1, 1, 1], block: [32, 1, 1] } });
    events.push({ ph: "M", pid: 0, tid: number + 20, name: "thread_name", args: { name } });
    add({ tid: number + 20, cat: "cpu_op", name, ts, dur: 10 });
  });
  events.push({ ph: "M", pid: 0, tid: 0, name: "process_name", args: { name: NAMES[0] } });
  const device = { id: 0, name: `NVIDIA H100 ${NAMES[1]}`, computeMajor: 9, computeMinor: 0, numSms: 132 };
  return JSON.stringify({ schemaVersion: 1, deviceProperties: [device], traceEvents: events });
}

/** Visits every view that there is, and looks for what a name left behind. */
async function look(browser, address, options) {
  const { page, wrong, close } = await open(browser, address, options);
  const dialogs = [];
  page.on("dialog", (dialog) => { dialogs.push(dialog.message()); dialog.dismiss(); });
  await settled(page);
  const links = await page.locator("nav.views a").evaluateAll((all) => all.map((one) => one.getAttribute("href").slice(2)));
  const seen = [];
  for (const view of VIEWS.filter((one) => links.includes(one))) {
    await visit(page, `#/${view}`);
    await shows(page, view);
    seen.push(await page.locator("main").innerText());
    assert.equal(await page.locator("#planted, #page img, #page iframe, #page object, main base, main link").count(), 0, `${view}: an element came out of a name`);
    assert.doesNotMatch(await page.title(), /^harmed$/, `${view}: a name ran`);
    const led = await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.getAttribute("href")).filter((href) => /^\s*javascript:/i.test(href)));
    assert.deepEqual(led, [], `${view}: a link runs a name`);
  }
  // They are there to be read, as text; else this saw nothing.
  assert.match(seen.join("\n"), /<img src=x onerror=/, "no view shows the names");
  assert.deepEqual(dialogs, []);
  assert.deepEqual(wrong, []);
  await close();
}

function capture() {
  const file = join(mkdtempSync(join(tmpdir(), "ridgeline-hostile-")), "hostile.pt.trace.json");
  writeFileSync(file, trace());
  return file;
}

export const TESTS = ({ name, ridgeline }) => (name !== "chromium" ? [] : [
  ["hostile: no name of a capture runs or loads anything in a report", async ({ browser }) => {
    if (ridgeline === undefined || !hasView(ridgeline)) return "no ridgeline with `report` was built; cargo build -p ridge_cli";
    const traced = capture();
    const file = traced.replace(".pt.trace.json", ".html");
    const made = spawnSync(ridgeline, ["report", traced, "-o", file], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    await look(browser, pathToFileURL(file).href, { offline: true });
  }],
  ["hostile: no name of a capture runs or loads anything from the server", async ({ browser }) => {
    if (ridgeline === undefined || !hasView(ridgeline)) return "no ridgeline with `view` was built; cargo build -p ridge_cli";
    const { address, close } = await server(ridgeline, capture());
    try {
      await look(browser, address, {});
    } finally {
      await close();
    }
  }],
]);
