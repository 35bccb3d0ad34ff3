// Pictures for the documents, of captures in fixtures/real: `node test/browser/docs.mjs`; look at them before they are committed.

import { fileURLToPath } from "node:url";
import { launch, settled, visit, open } from "./browser.mjs";
import { server } from "./real.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const RIDGELINE = process.env.RIDGELINE ?? `${ROOT}target/debug/ridgeline`;
const SIZE = { width: 1200, height: 720 };

/** The file's name, the capture, the view, and what is done before it is taken. */
const PICTURES = [
  ["overview", "xplane/mi300_gemm.xplane.pb", "overview"],
  ["timeline", "xplane/mi300_gemm.xplane.pb", "timeline?from=2000000&to=7000000", async (page) => {
    // A kernel with the call that launched it, found by its name.
    await page.getByLabel("Find events").fill("MT256x240x64");
    await page.keyboard.press("Enter");
    await page.getByText(/^1 of /).waitFor();
    await page.getByRole("button", { name: "Next match" }).click();
    await page.locator(".panel .pairs").first().waitFor();
    await page.waitForTimeout(300);
  }],
  ["idle", "kineto/h100_qwen15_0.5b_infer.json.gz", "idle"],
  ["offload", "xplane/mi300_conv_08.xplane.pb", "offload"],
];

const browser = await launch();
for (const [name, capture, view, act] of PICTURES) {
  const { address, close: stop } = await server(RIDGELINE, `${ROOT}fixtures/real/${capture}`);
  const { page, close } = await open(browser, address, SIZE);
  await settled(page);
  await visit(page, `#/${view}`);
  await act?.(page);
  await page.waitForTimeout(800);
  await page.screenshot({ path: `${ROOT}docs/img/view-${name}.png` });
  await close();
  await stop();
}
await browser.close();
