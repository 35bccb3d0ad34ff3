// Serves the built page and the made-up capture on loopback: `npm run mock`, or from the browser tests.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { answers } from "./capture.mjs";

const PAGE = new URL("../../crates/ridge_web/page/index.html", import.meta.url);
export const TOKEN = "mock";
const [PASS, PLACE] = ["pass", `/${"0123456789abcdef".repeat(2)}/`];

/** Listens on `port`, any free one by default; says its address. `evals`: the page may be asked by `eval`. */
export function serve({ port = 0, evals = false, ...size } = {}) {
  const policy = `default-src 'none'; script-src 'unsafe-inline'${evals ? " 'unsafe-eval'" : ""}; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'`;
  const answer = answers(size);
  const answered = (path, query, beside) => {
    if (path === "captures") return { captures: [{ id: 0, title: "first", session: 1 }, { id: 1, title: "dropped.json", session: null }], sessions: ["2026_01", "2026_02"], most_bytes: 2 ** 32 };
    if (path === "open") return { id: 1 };
    const found = answer(path, query);
    return path === "capture" && beside ? { ...found, title: "dropped.json" } : found;
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    const isAtPlace = url.pathname.startsWith(PLACE);
    if (isAtPlace) url.pathname = url.pathname.slice(PLACE.length - 1);
    if (url.pathname === "/") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy });
      return response.end(readFileSync(PAGE));
    }
    const hasToken = request.headers.authorization === `Bearer ${TOKEN}`;
    const hasCookie = isAtPlace && request.headers["ridgeline-page"] !== undefined && (request.headers.cookie ?? "").split("; ").includes(`ridgeline=${PASS}`);
    if (url.pathname === "/api/v1/enter" && hasToken) {
      response.writeHead(200, { "content-type": "application/json", "set-cookie": `ridgeline=${PASS}; Path=${PLACE}; HttpOnly; SameSite=Strict` });
      return response.end(JSON.stringify({ place: PLACE }));
    }
    const beside = /^\/api\/v1\/at\/1\//.test(url.pathname);
    if (beside) url.pathname = url.pathname.replace("/at/1/", "/");
    if (request.method === "POST") request.resume();
    const found = url.pathname.startsWith("/api/v1/") && (hasToken || hasCookie) ? answered(url.pathname.slice(8), url.searchParams, beside) : undefined;
    if (found === undefined) {
      response.writeHead(!hasToken && !hasCookie ? 401 : 404, { "content-type": "application/json" });
      return response.end(JSON.stringify({ error: "nothing is there" }));
    }
    if (typeof found.refused === "string" && Array.isArray(found.hints)) {
      response.writeHead(400, { "content-type": "application/json" });
      return response.end(JSON.stringify({ error: found.refused, hint: found.hints[0], hints: found.hints }));
    }
    response.writeHead(200, { "content-type": Buffer.isBuffer(found) ? "application/octet-stream" : typeof found === "string" ? "text/plain; charset=utf-8" : "application/json" });
    return response.end(Buffer.isBuffer(found) || typeof found === "string" ? found : JSON.stringify(found));
  });
  return new Promise((ready) => server.listen(port, "127.0.0.1", () => ready({ address: `http://127.0.0.1:${server.address().port}/#token=${TOKEN}`, close: () => server.close() })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { address } = await serve({ port: Number(process.env.PORT ?? 5199) });
  console.log(address);
}
