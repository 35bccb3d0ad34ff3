// Pictures of every view, to look at: `node test/browser/shots.mjs ADDRESS FOLDER [view …]`.

import { mkdirSync } from "node:fs";
import { launch, open, settled, visit } from "./browser.mjs";
import { VIEWS } from "./checks.mjs";

const [address, folder, ...only] = process.argv.slice(2);
const LOOKS = [["wide", { width: 1280, height: 800 }], ["narrow", { width: 400, height: 800 }], ["dark", { width: 1280, height: 800, dark: true }]];
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [name, look] of LOOKS) {
  const { page, wrong, close } = await open(browser, address, look);
  await settled(page);
  for (const view of VIEWS.filter((one) => only.length === 0 || only.includes(one.split("?")[0]))) {
    await visit(page, `#/${view}`);
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${folder}/${view}-${name}.png` });
  }
  if (wrong.length > 0) console.log(name, wrong);
  await close();
}
await browser.close();
