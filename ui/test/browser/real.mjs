// Every view on real captures, from the real server.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { open, settled, visit } from "./browser.mjs";
import { accessible, harmless, shows, VIEWS } from "./checks.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FIXTURES = ["fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz", "fixtures/real/nsys/h100_2gpu.sqlite", "fixtures/torch-snapshot/train_step.pickle", "fixtures/nsys-jax/combined.zip", "fixtures/ncu/made_up.ncu-rep"];

/** `ridgeline view` on `capture`: its address, once it says it. */
export async function server(ridgeline, capture, ...more) {
  const child = spawn(ridgeline, ["view", capture, ...more, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  const address = await new Promise((found, fail) => {
    let text = "";
    const read = (part) => {
      text += part;
      const match = /http:\/\/[^\s]+#token=[^\s]+/.exec(text);
      if (match !== null) found(match[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => fail(new Error(`ridgeline view ended with ${code}: ${text}`)));
    child.on("error", fail);
  });
  return { address, close: () => new Promise((done) => { child.once("exit", done); child.kill("SIGINT"); }) };
}

function captures(given) {
  const xplane = existsSync(`${ROOT}fixtures/real/xplane`) ? readdirSync(`${ROOT}fixtures/real/xplane`).filter((name) => name.endsWith(".xplane.pb")).slice(0, 2).map((name) => `fixtures/real/xplane/${name}`) : [];
  return given.length > 0 ? given : [...FIXTURES, ...xplane].map((path) => ROOT + path);
}

/** Whether this binary has the command at all: a build without the page has not. */
export const hasView = (ridgeline) => spawnSync(ridgeline, ["view", "--help"]).status === 0;

export const TESTS = (at) => (at.name !== "chromium" ? [] : [...views(at), ...overviews(at), ...lanes(at), ...paths(at), ...copied(at), ...lines(at), ...unlined(at), ...handed(at), ...tables(at), ...compared(at), ...reports(at)]);

/** What the overview of a capture without a timeline must say, what it must not, and views that are not offered. */
const OVERVIEWS = [
  ["fixtures/ncu/made_up.ncu-rep", /Profiled kernels[\s\S]*memory/, /@url:|@section:/, ["timeline", "idle"]],
  ["fixtures/torch-snapshot/train_step.pickle", /Held by[\s\S]*\.py/, /holds 0 ns/, ["timeline", "roofline", "idle"]],
  ["fixtures/monitor/query.csv", /only counters/, /no verdict/, ["roofline", "idle", "flame"]],
];

const overviews = ({ ridgeline }) => OVERVIEWS.map(([capture, says, never, absent]) => [`real: the overview of ${basename(capture)}`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + capture);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + capture);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    const text = await page.locator("main").innerText();
    assert.match(text, says);
    assert.doesNotMatch(text, never);
    const views = await page.locator("nav.views a").evaluateAll((all) => all.map((one) => one.getAttribute("href").slice(2)));
    assert.deepEqual(views.filter((view) => absent.includes(view)), [], "views that the capture cannot fill");
    // No number stands over its neighbor.
    const over = await page.locator(".list.plain td.n").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length);
    assert.equal(over, 0, "numbers wider than their cells");
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]);

const LANES = "fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz";

const lanes = ({ ridgeline }) => [[`real: queues and rates over time of ${basename(LANES)}`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + LANES);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + LANES);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    const asked = [];
    page.on("response", async (response) => { if (response.url().includes("/counter/queue")) asked.push((await response.body().catch(() => "")).length); });
    await visit(page, "#/timeline");
    const names = await page.locator(".tl-name").evaluateAll((all) => all.map((one) => one.title || one.querySelector("[title]")?.title.split(": ")[0] || ""));
    assert.match(names[names.indexOf("Stream #7") + 1], /^Queue of Stream #7/, names.join());
    assert.ok(names.includes("Rate"), names.join());
    await page.waitForTimeout(500);
    const queue = await page.locator(".tl-name.below").first().boundingBox();
    const box = await page.locator(".tl-box").boundingBox();
    await page.mouse.move(box.x + box.width * 0.9, queue.y + 10);
    await page.getByText(/^Queue of Stream #7: \d+ at /).waitFor();
    // However far one zooms in, a part of the line is asked for.
    for (const [from, to] of [[20e6, 21e6], [20.4e6, 20.41e6]]) {
      await visit(page, `#/timeline?from=${from}&to=${to}`);
      await page.waitForTimeout(400);
    }
    assert.ok(asked.length > 2 && asked.every((bytes) => bytes < 120_000), asked.join());
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]];

const PATHS = "fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz";

const paths = ({ ridgeline }) => [[`real: the critical path and the launches of ${basename(PATHS)}`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + PATHS);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + PATHS);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/timeline?a=20000000&b=21000000");
    await page.getByRole("button", { name: "Launches" }).click();
    await page.locator(".panel").getByText(/^(one in [\d,]+ of [\d,]+|[\d,]+ launch(es)?)$/).waitFor();
    await page.getByRole("button", { name: "Critical path", exact: true }).click();
    await page.locator(".panel .hits").getByText(/on the path that|No critical path: /).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]];

const SMALL = "fixtures/real/xplane/mi300_gemm.xplane.pb";

const copied = ({ ridgeline }) => [["real: a copied address opens in another tab, and its cookie opens nothing elsewhere", async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + SMALL);
  if (why !== undefined) return why;
  const [first, second] = [await server(ridgeline, ROOT + SMALL), await server(ridgeline, ROOT + SMALL)];
  // Another program of this machine, which notes what browsers send it.
  const sent = [];
  const other = createServer((request, response) => { sent.push(request.headers.cookie ?? ""); response.writeHead(200, { "content-type": "text/html" }); response.end("<p>other</p>"); });
  await new Promise((ready) => other.listen(0, "127.0.0.1", ready));
  try {
    const { page, wrong, close } = await open(browser, first.address);
    await settled(page);
    await visit(page, "#/tables?topic=stats&view=op");
    await page.waitForFunction(() => /view=op/.test(location.hash));
    const copied = page.url();
    const tab = await page.context().newPage();
    await page.close();
    await tab.goto(copied);
    await tab.locator("tr[data-row='0']").waitFor();
    // A second capture at another port has a cookie of its own, and both stay.
    const beside = await tab.context().newPage();
    await beside.goto(second.address);
    await settled(beside);
    const answers = await tab.evaluate(async () => {
      const at = location.pathname;
      const status = (path, headers) => fetch(path, { headers }).then((answer) => answer.status);
      return [await status(`${at}api/v1/capture`, { "Ridgeline-Page": "1" }), await status(`${at}api/v1/capture`, {}), await status("/api/v1/capture", { "Ridgeline-Page": "1" })];
    });
    assert.deepEqual(answers, [200, 401, 401]);
    await tab.reload();
    await tab.locator("tr[data-row='0']").waitFor();
    const foreign = await tab.context().newPage();
    await foreign.goto(`http://127.0.0.1:${other.address().port}/`);
    // It is the same site for the browser, and asks with all that it has.
    const got = await foreign.evaluate(async (path) => fetch(path, { credentials: "include", mode: "no-cors" }).then((answer) => [answer.type, answer.status]).catch(() => "refused"), `${new URL(copied).origin}${new URL(copied).pathname}api/v1/capture`);
    assert.ok(got === "refused" || got[0] === "opaque", JSON.stringify(got));
    assert.deepEqual(sent.filter((cookie) => cookie !== ""), [], "another port was sent the cookie");
    assert.deepEqual(wrong.filter((one) => !/401/.test(one)), []);
    await close();
  } finally {
    other.close();
    await first.close();
    await second.close();
  }
}]];

/** A capture, a kernel in it by its name, its line, and why that is known. */
const LINED = [
  ["fixtures/real/xplane/mi300_gemm.xplane.pb", "kind=kernel name~wrapped_broadcast", /generate_gemm_trace\.py:34 /, /measured: recorded by the compiler with the operation/],
  ["fixtures/real/xplane/mi300_conv_08.xplane.pb", "kind=kernel name~loop_transpose_fusion", /generate_conv_trace\.py:23 /, /inferred: moved because it is read in another layout there/],
  ["fixtures/real/kineto/mi300_sglang_decode_hipgraph.json.gz", "kind=kernel name~elementwise_kernel", /[\w/]+\.py:\d+ /, /measured: the Python functions that were running at its launch/],
];

const lines = ({ ridgeline }) => LINED.map(([capture, kernel, line, reason]) => [`real: a kernel of ${basename(capture)} names its line, its stack and how they are known`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + capture);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + capture);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/timeline");
    await page.getByLabel("Find events").fill(kernel);
    await page.keyboard.press("Enter");
    const field = (name) => page.locator(".panel .pairs > div", { has: page.locator(`dt:text-is("${name}")`) }).first();
    await field("Line").waitFor();
    assert.match((await field("Line").innerText()).replaceAll(/\s+/g, " "), line);
    assert.match(await field("Line").innerText(), reason);
    assert.ok((await field("Stack").locator("li").count()) > 0, "no stack");
    // The line leads to its source, as the stack's do.
    assert.ok((await field("Stack").getByRole("link").count()) > 0, "lines of the stack lead nowhere");
    await field("Line").getByRole("link").click();
    await page.waitForURL(/#\/source\?.*line=\d+/);
    await page.locator("tr.wanted").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]);

const unlined = ({ ridgeline }) => [[`real: a kernel of ${basename(LANES)} whose line nothing tells says so`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + LANES);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + LANES);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/timeline");
    await page.getByLabel("Find events").fill("kind=kernel");
    await page.keyboard.press("Enter");
    await page.locator(".panel .pairs").getByText(/Not known: the capture has neither the Python functions/).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]];

const handed = ({ ridgeline }) => [["real: a report opens where it was told, with the sums of the selection, markers and notes", async ({ browser }) => {
  if (ridgeline === undefined || !hasView(ridgeline)) return "this ridgeline has no `report`";
  if (!existsSync(ROOT + SMALL)) return `${SMALL} is not there`;
  const { address, close: stop } = await server(ridgeline, ROOT + SMALL);
  let command;
  try {
    const { page, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/timeline?a=2000000&b=7000000&marks=3000000%3Ahere%20it%20is%20late");
    await page.getByRole("region", { name: "Sums of the range" }).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByText("Save as", { exact: true }).first().click();
    await page.getByRole("button", { name: "command for a report" }).click();
    await page.getByText("copied").waitFor();
    command = await page.evaluate(() => navigator.clipboard.readText());
    await close();
  } finally {
    await stop();
  }
  const folder = mkdtempSync(join(tmpdir(), "ridgeline-report-"));
  assert.match(command, /^ridgeline report '.*mi300_gemm\.xplane\.pb' -o report\.html --at '#\/timeline\?/);
  const made = spawnSync("sh", ["-c", command.replace(/^ridgeline/, JSON.stringify(ridgeline))], { encoding: "utf8", cwd: folder });
  assert.equal(made.status, 0, made.stderr);
  const { page, wrong, close } = await open(browser, pathToFileURL(join(folder, "report.html")).href, { offline: true });
  await settled(page);
  await page.getByRole("region", { name: "Sums of the range" }).waitFor();
  assert.equal(await page.locator(".markers input").inputValue(), "here it is late");
  assert.match(await page.locator(".panel").innerText(), /5 ms/);
  await accessible(page, "report at a place");
  assert.deepEqual(wrong, []);
  await close();
}]];

const TABLED = ["fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz", "fixtures/real/xplane/mi300_gemm.xplane.pb", "fixtures/torch-snapshot/train_step.pickle"];

/** Every table that the capture answers, as `[topic, view]`. */
async function tablesOf(address) {
  const { origin, hash } = new URL(address);
  const answer = await fetch(`${origin}/api/v1/capture`, { headers: { Authorization: `Bearer ${hash.replace("#token=", "")}` } });
  return (await answer.json()).topics.flatMap((topic) => topic.views.filter((view) => view.answered).map((view) => [topic.id, view.id]));
}

const tables = ({ ridgeline }) => TABLED.map((capture) => [`real: every table of ${basename(capture)}`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + capture);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + capture);
  try {
    const all = await tablesOf(address);
    assert.ok(all.length > 2, `${all.length} tables`);
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    let [lit, filled] = [false, 0];
    for (const [topic, view] of all) {
      await visit(page, `#/tables?topic=${topic}&view=${view}`);
      // Rows, or a sentence that there are none.
      await page.locator("tr[data-row='0'], .scroller .empty").first().waitFor({ timeout: 5000 }).catch(() => assert.fail(`nothing by ${view} of ${topic}`));
      filled += Math.min(1, await page.locator("tr[data-row='0']").count());
      const link = page.locator("tr[data-row='0'] .go button");
      if (lit || (await link.count()) === 0) continue;
      await link.click();
      await page.locator(".lit-now", { hasText: /event/ }).waitFor({ timeout: 20_000 });
      lit = true;
    }
    assert.ok(filled > 2, `${filled} of ${all.length} tables have rows`);
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]);

const STEPS = "fixtures/real/kineto/cpu_mlp_3steps.json.gz";

const compared = ({ ridgeline }) => [[`real: steps beside each other, and two captures, of ${basename(STEPS)}`, async ({ browser }) => {
  const why = lacks(ridgeline, ROOT + STEPS);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, ROOT + STEPS, "--against", ROOT + STEPS);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/steps");
    await page.locator(".beside-svg path").first().waitFor();
    await page.locator(".differences tbody tr").first().waitFor();
    await accessible(page, "steps");
    await visit(page, "#/compare");
    await page.getByRole("button", { name: "Show both timelines" }).click();
    await page.locator(".beside-svg path").first().waitFor({ timeout: 20_000 });
    // The same step of the same capture: nothing differs.
    const differ = await page.locator(".differences .totals b").allInnerTexts();
    assert.deepEqual(differ, differ.map(() => "0 ns"));
    await visit(page, "#/whatif");
    await page.getByText(/No finding of this capture has a change that can be replayed/).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]];

const REPORTED = "fixtures/real/xplane/mi300_gemm.xplane.pb";

const reports = ({ ridgeline }) => [[`real: a report of ${basename(REPORTED)}, from disk with the network off`, async ({ browser }) => {
  if (ridgeline === undefined || !hasView(ridgeline)) return "this ridgeline has no `report`";
  if (!existsSync(ROOT + REPORTED)) return `${REPORTED} is not there`;
  const file = join(mkdtempSync(join(tmpdir(), "ridgeline-report-")), "report.html");
  const made = spawnSync(ridgeline, ["report", ROOT + REPORTED, "-o", file], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const { page, wrong, close } = await open(browser, pathToFileURL(file).href, { offline: true });
  await settled(page);
  for (const view of VIEWS) {
    await visit(page, `#/${view}`);
    await shows(page, view);
    // The first module is one of six that have one name; a report need not hold its graph.
    if (view !== "graph") assert.doesNotMatch((await page.locator("main .missing").allInnerTexts()).join(), /Not in this report/, view);
  }
  await visit(page, "#/graph");
  await page.getByRole("button", { name: /jit_/ }).or(page.locator(".node")).first().waitFor();
  await visit(page, "#/timeline?from=2000000&to=7000000");
  await page.waitForTimeout(500);
  assert.ok((await page.locator(".legend li").count()) > 3, "the timeline has no tiles");
  assert.deepEqual(wrong, []);
  await close();
}]];

/** Why a capture cannot be looked at, where it cannot. */
function lacks(ridgeline, capture) {
  if (ridgeline === undefined) return "no ridgeline was built; cargo build -p ridge_cli";
  if (!hasView(ridgeline)) return "this ridgeline has no `view`";
  return existsSync(capture) ? undefined : `${capture} is not there`;
}

const views = ({ captures: given, ridgeline }) => captures(given).map((capture) => [`real: every view of ${basename(capture)}`, async ({ browser }) => {
  const why = lacks(ridgeline, capture);
  if (why !== undefined) return why;
  const { address, close: stop } = await server(ridgeline, capture);
  try {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    const links = await page.locator("nav.views a").evaluateAll((all) => all.map((one) => one.getAttribute("href").slice(2)));
    for (const view of VIEWS.filter((one) => links.includes(one))) {
      await visit(page, `#/${view}`);
      await shows(page, view);
      await harmless(page, view);
      await accessible(page, `${view} of ${basename(capture)}`);
    }
    // Not even a 404: what a capture does not have is not asked.
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    await stop();
  }
}]);
