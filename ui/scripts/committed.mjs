// Builds the page again and compares it with the committed one; says where they part.

import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const COMMITTED = fileURLToPath(new URL("../../crates/ridge_web/page/index.html", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ridgeline-page-"));
await build({ root: fileURLToPath(new URL("..", import.meta.url)), logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
const [fresh, committed] = [join(folder, "index.html"), COMMITTED].map((path) => readFileSync(path));
rmSync(folder, { recursive: true });
if (fresh.equals(committed)) {
  console.log(`the committed page is what its source builds, ${committed.length} bytes`);
} else {
  const at = fresh.findIndex((byte, place) => byte !== committed[place]);
  console.error(`the committed page is not what its source builds, from byte ${at} on: run \`make ui\` and commit crates/ridge_web/page`);
  process.exit(1);
}
