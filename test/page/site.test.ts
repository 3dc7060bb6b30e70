import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { expect, it } from "vitest";
import { openWindow } from "../support/browser.ts";
import { temporaryFolder } from "../support/home.ts";
import { startHttpServer } from "../support/http-server.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css", woff2: "font/woff2" };

it("the documentation site has every guide, finds words in them, and asks nobody else for anything", async () => {
  const folder = await temporaryFolder();
  execFileSync("npm", ["run", "-s", "site", "--", folder], { cwd: ROOT, stdio: "pipe" });
  const url = await startHttpServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://x").pathname);
    const name = path.endsWith("/") ? `${path}index.html` : /\.\w+$/.test(path) ? path : `${path}.html`;
    readFile(join(folder, name)).then(
      (body) => response.writeHead(200, { "content-type": TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream" }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  const { page } = await openWindow();
  const strangers: string[] = [];
  page.on("request", (request) => !request.url().startsWith(url) && !request.url().startsWith("data:") && strangers.push(request.url()));
  await page.goto(url);
  await page.getByRole("link", { name: "Commands and flags" }).click();
  await page.getByRole("heading", { name: "pd deploy", exact: false }).first().waitFor();
  await page.getByRole("link", { name: "What is promised" }).click();
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox").fill("launch.json");
  await page.getByRole("option").filter({ hasText: "debugg" }).first().click();
  await page.waitForURL(/\/docs\/debugging/);
  // The URL changes before the page does.
  await page.locator("code", { hasText: "--inspect" }).first().waitFor();
  expect(strangers).toEqual([]);
});
