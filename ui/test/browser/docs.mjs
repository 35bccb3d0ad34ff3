// Pictures for the documents, one of each kind of capture: `node test/browser/docs.mjs [NAME …]`; look at them before they are
// committed. What this machine lacks is said and left out: `ridgeline compile --install`, `make query`.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, settled, visit, open } from "./browser.mjs";
import { smaller } from "./png.mjs";
import { server } from "./real.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const RIDGELINE = process.env.RIDGELINE ?? `${ROOT}target/debug/ridgeline`;
const SIZE = { width: 1100, height: 660 };

/** The file's name, the capture, the view, and what is done before it is taken. */
const PICTURES = [
  // JAX on a GPU.
  ["overview", "real/xplane/mi300_gemm.xplane.pb", "overview"],
  ["timeline", "real/xplane/mi300_gemm.xplane.pb", "timeline?from=2000000&to=7000000", async (page) => {
    // A kernel with the call that launched it, found by its name.
    await page.getByLabel("Find events").fill("MT256x240x64");
    await page.keyboard.press("Enter");
    await page.getByText(/^1 of /).waitFor();
    await page.getByRole("button", { name: "Next match" }).click();
    await page.locator(".panel .pairs").first().waitFor();
    await page.waitForTimeout(300);
  }],
  ["offload", "real/xplane/mi300_conv_08.xplane.pb", "offload"],
  ["whatif", "real/xplane/mi300_te_fused_attn.xplane.pb", "whatif?changes=scale%20*%3D2x"],
  ["jax-cpu", "xplane/train_steps.xplane.pb", "steps"],
  // PyTorch.
  ["idle", "real/kineto/h100_qwen15_0.5b_infer.json.gz", "idle"],
  // What waits on the streams and how fast copies go; then what the duration depended on.
  ["lanes", "real/kineto/h100_qwen15_0.5b_infer.json.gz", "timeline?from=19000000&to=24000000", async (page) => { await page.waitForTimeout(400); }],
  ["critical", "real/kineto/h100_qwen15_0.5b_infer.json.gz", "timeline?from=19000000&to=24000000&a=20000000&b=22000000", async (page) => {
    await page.getByRole("button", { name: "Critical path", exact: true }).click();
    await page.locator(".panel .hits .busy li").first().waitFor();
    await page.locator(".panel .hits").scrollIntoViewIfNeeded();
  }],
  ["query", "real/kineto/h100_qwen15_0.5b_infer.json.gz", `query?sql=${encodeURIComponent("select name, count(*) as events, sum(dur_ns) as total_ns\nfrom event where kind = 'kernel'\ngroup by name order by total_ns desc limit 20")}`],
  ["ranks", "real/kineto/v100_dlrm_8rank", "timeline"],
  ["memory", "torch-snapshot/train_step.pickle", "memory"],
  ["nsys", "real/nsys/h100_2gpu.sqlite", "timeline"],
  ["ncu", "ncu/made_up.ncu-rep", "overview"],
  ["monitor", "monitor/query.csv", "timeline"],
  ["predicted", compiled, "roofline"],
  ["truncated", truncated, "overview"],
  ["empty", empty, "overview"],
];

/** A program compiled for a GPU that is not there; `undefined` where the compiler isn't, either. */
function compiled() {
  const folder = mkdtempSync(join(tmpdir(), "ridgeline-docs-"));
  const program = join(folder, "solver.py");
  writeFileSync(program, "import jax.numpy as jnp\n\n\ndef step(volume, kernel):\n    update = jnp.einsum('aij,jk->aik', volume, kernel)\n    return volume + 0.1 * jnp.tanh(update) * jnp.mean(volume**2)\n");
  const done = spawnSync(RIDGELINE, ["compile", "--for", "h100", `${program}:step`, "--args", "f32[64,512,512] f32[512,512]", "-o", join(folder, "compiled")], { encoding: "utf8" });
  if (done.status !== 0) return console.log(`skipped: predicted: ${done.stderr.trim().split("\n")[0]}`);
  return join(folder, "compiled", "h100");
}

/** A capture whose last part was lost. */
function truncated() {
  const file = join(mkdtempSync(join(tmpdir(), "ridgeline-docs-")), "truncated.xplane.pb");
  const whole = readFileSync(`${ROOT}fixtures/real/xplane/mi300_conv_08.xplane.pb`);
  writeFileSync(file, whole.subarray(0, Math.round(whole.length * 0.6)));
  return file;
}

/** A capture in which nothing ran. */
function empty() {
  const file = join(mkdtempSync(join(tmpdir(), "ridgeline-docs-")), "empty.json");
  writeFileSync(file, '{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}]}');
  return file;
}

const only = process.argv.slice(2);
const browser = await launch();
for (const [name, capture, view, act] of PICTURES.filter(([name]) => only.length === 0 || only.includes(name))) {
  const path = typeof capture === "string" ? `${ROOT}fixtures/${capture}` : capture();
  if (path === undefined) continue;
  // The page shows the path as it was named: not where it is on this machine.
  process.chdir(dirname(path));
  const { address, close: stop } = await server(RIDGELINE, basename(path));
  const { page, close } = await open(browser, address, SIZE);
  await settled(page);
  if (view.startsWith("query") && (await page.getByRole("link", { name: "Query" }).count()) === 0) console.log("skipped: query: `ridgeline-query` is not here");
  else {
    await visit(page, `#/${view}`);
    await act?.(page);
    await page.waitForTimeout(800);
    writeFileSync(`${ROOT}docs/img/view-${name}.png`, await smaller(page, await page.screenshot()));
  }
  await close();
  await stop();
}
await browser.close();
