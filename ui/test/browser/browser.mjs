// A browser to test with: the system's Chromium, driven by Playwright's library. Nothing is downloaded.

import { existsSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const PAGE = new URL("../../../crates/ridge_web/page/index.html", import.meta.url);
const KNOWN = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const executable = () => KNOWN.find((path) => path !== undefined && existsSync(path));

export async function launch() {
  return chromium.launch({
    executablePath: executable(),
    headless: true,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run", "--disable-component-update"],
  });
}

/** A page that notes what goes wrong in it: errors, and requests to other hosts. */
export async function open(browser, address, options = {}) {
  const { width = 1280, height = 800, dark = false, offline = false } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", offline });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => { if (message.type() === "error") wrong.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  const host = new URL(address).host;
  page.on("request", (request) => { if (/^https?:/.test(request.url()) && new URL(request.url()).host !== host) wrong.push(`request: ${request.url()}`); });
  // The page as it was just built, rather than the one within a binary that is older.
  if (process.env.FRESH_PAGE === "1") await page.route((url) => url.pathname === "/", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: readFileSync(PAGE) }));
  await page.goto(address);
  return { page, wrong, close: () => context.close() };
}

/** A page at a view, once it shows something. */
export async function shown(browser, address, hash, options) {
  const opened = await open(browser, address, options);
  await settled(opened.page);
  await visit(opened.page, hash);
  return opened;
}

/** Goes to a view by its address and waits until it shows something. */
export async function visit(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await settled(page);
}

export async function settled(page) {
  await page.waitForSelector("main");
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)))));
}
