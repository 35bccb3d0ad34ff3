// A browser to test with: the system's Chromium or Firefox, driven by Playwright's library. Nothing is downloaded.

import { existsSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import older from "playwright-core-esr";

const PAGE = new URL("../../../crates/ridge_web/page/index.html", import.meta.url);

const BROWSERS = {
  chromium: {
    places: [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
    start: (executablePath) => chromium.launch({
      executablePath,
      headless: true,
      args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run", "--disable-component-update"],
    }),
  },
  firefox: {
    places: [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"],
    // By WebDriver BiDi, which every Firefox speaks, while Playwright's own Firefox would have to be downloaded. Since 1.56
    // Playwright asks for `network.addDataCollector`, which Debian's Firefox (ESR 140) has not: the release before is for it.
    start: (executablePath) => older._bidiFirefox.launch({ channel: "bidi-firefox-stable", executablePath, headless: true }),
  },
};

export const NAMES = Object.keys(BROWSERS);

/** Where a browser is on this machine, if it is. */
export const executable = (name = "chromium") => BROWSERS[name].places.find((path) => path !== undefined && existsSync(path));

export const launch = (name = "chromium") => BROWSERS[name].start(executable(name));

/** A page that notes what goes wrong in it: errors, and requests to other hosts. */
export async function open(browser, address, options = {}) {
  const { width = 1280, height = 800, dark = false, offline = false, hasTouch = false } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", offline, hasTouch });
  // Drawing without a GPU on a busy machine takes longer than Playwright waits.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => { if (message.type() === "error") wrong.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  const host = new URL(address).host;
  page.on("request", (request) => { if (/^https?:/.test(request.url()) && new URL(request.url()).host !== host) wrong.push(`request: ${request.url()}`); });
  // The page as it was just built, rather than the one within a binary that is older.
  if (process.env.FRESH_PAGE === "1") await page.route((url) => /^\/([0-9a-f]{32}\/)?$/.test(url.pathname), (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: readFileSync(PAGE) }));
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
  await until(page, () => document.querySelector('main [aria-busy="true"]') === null);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)))));
}

/** Waits until a function says yes in the page, also while it is loaded anew. */
export async function until(page, holds, argument) {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    if (await page.evaluate(holds, argument).catch(() => false)) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`it never held that ${holds}`);
}

/** The text of the file that `act` saves. */
export async function downloaded(page, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return readFileSync(await download.path(), "utf8");
}
