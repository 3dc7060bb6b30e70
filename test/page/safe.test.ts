import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Request } from "playwright-core";
import { describe, expect, it } from "vitest";
import { programFile } from "../../src/system/program-files.ts";
import { openWindow } from "../support/browser.ts";
import { Receiver } from "../support/receiver.ts";
import { TestServer } from "../support/runtime.ts";
import { openPage, untilShown } from "./open-page.ts";

const HOSTILE = [
  "<script>window.hit=1</script>",
  '<img src=x onerror="window.hit=1">',
  '<svg onload="window.hit=1"><a xlink:href="javascript:window.hit=1">x</a></svg>',
  "[link](javascript:window.hit=1)",
  '"><iframe srcdoc="<script>parent.hit=1</script>">',
  "\u202Egnp.exe\u202C",
  "{{constructor.constructor('window.hit=1')()}}",
];

const NASTY = HOSTILE.join(" ");

const CODE = `const nasty = ${JSON.stringify(NASTY)};
export default {
  name: nasty, version: "0.0.1", description: nasty,
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db",
    text: { type: "string", label: nasty, description: nasty, optional: true, options: [{ label: nasty, value: nasty }] },
    note: { type: "alert", alertType: "warning", content: nasty } },
  async run(event) {
    this.db.set(nasty, { __proto__: null, constructor: nasty, list: [nasty] });
    console.log(nasty); console.error("\\u001b[31m" + nasty);
    const evil = JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"toString":"x"}');
    let deep = "end"; for (let n = 0; n < 900; n++) deep = { d: deep };
    this.$emit({ nasty, [nasty]: nasty, evil, deep, large: "x".repeat(2_000_000) }, { id: nasty + Math.random(), summary: nasty, name: event.body?.named ? nasty : undefined });
    this.http.respond({ status: 200, body: nasty });
    if (event.body?.fails) { const error = new Error(nasty); error.name = nasty; throw error; }
  },
};`;

describe("what strangers write", () => {
  it("is text on every view, and runs nowhere", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: CODE, component_path: "nasty.mjs", name: NASTY });
    const receiver = await Receiver.start((response) => response.writeHead(500).end(NASTY));
    const hook = await server.client.webhooks.create({ url: `${receiver.url}?${encodeURIComponent(NASTY)}`, name: NASTY });
    await server.client.subscriptions.create({ emitter_id: source.id, listener_id: hook.id });
    await server.client.accounts.connect({ app: "demo", name: NASTY, credentials: { [NASTY]: "x" } });
    await server.client.dataStores.create({ name: "box" });
    await server.client.dataStores.set("box", NASTY, { value: NASTY });
    for (const body of [{}, { fails: true }, { named: true }])
      await fetch(source.endpoint_url ?? "", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const page = await openPage(server);
    const opened = (path: string): Promise<unknown> => page.goto(server.apiUrl + path).then(() => untilShown(page));
    const isHit = (): Promise<unknown> => page.evaluate("[window.hit, Object.prototype.polluted]");
    for (const path of [
      "/sources",
      "/webhooks",
      `/webhooks/${hook.id}`,
      "/accounts",
      "/stores",
      "/stores/box",
      "/schedule",
      "/status",
      "/actions",
      "/sources/new",
      "/sources/new?by=code",
      `/sources?q=${encodeURIComponent(NASTY)}`,
    ]) {
      await opened(path);
      expect([path, await isHit()]).toEqual([path, [undefined, undefined]]);
    }
    for (const tab of ["events", "runs", "logs", "configuration", "code", "versions", "state", "schedule", "deliveries"]) {
      await opened(`/sources/${source.id}/${tab}`);
      await page.getByText("<script>window.hit=1</script>").first().waitFor();
      const row = page.locator(".long-list .item").first();
      if (tab === "events" || tab === "runs") {
        await row.click();
        await page.locator(".chosen .json").first().waitFor();
        await page.getByRole("button", { name: "Raw" }).first().click();
      }
      expect([tab, await isHit(), await page.locator("main script, main img, main iframe, main svg[onload]").count()]).toEqual([
        tab,
        [undefined, undefined],
        0,
      ]);
    }
    expect(await page.evaluate("[...document.querySelectorAll('a')].filter((link) => link.protocol === 'javascript:').length")).toBe(0);
  });
});

describe("what is large or deep", () => {
  it("is shown and searched: 5 MB of JSON with 240,000 members", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "Large", version: "1", run() {
      this.$emit({ list: Array.from({ length: 60_000 }, (_, n) => ({ n, name: "number " + n, more: "x".repeat(50) })), needle: { at: "the end" } }, { summary: "large" }); } };`;
    const source = await server.client.sources.deploy({ component_code: code, component_path: "large.mjs" });
    await server.client.sources.run(source.id);
    const [event] = (await server.client.events.list(source.id, { expand: "event" })).data;
    expect(JSON.stringify(event?.event).length).toBeGreaterThan(5_000_000);
    const page = await openPage(server, `/sources/${source.id}/events`);
    const row = page.getByRole("option", { name: /large/ });
    await row.waitFor();
    await row.click();
    await page.getByRole("searchbox", { name: "Search in the event" }).fill("number 59999");
    await page.getByText("1 found").waitFor();
    await page.getByText('"number 59999"').waitFor();
  });

  it("is told in words, or shown: requests and events of objects in objects, 10,000 deep", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "Deep", version: "1", props: { http: "$.interface.http" }, run(event) {
      let deep = "end"; for (let n = 0; n < (event.body?.levels ?? 5000); n++) deep = { d: deep };
      this.$emit(deep, { summary: "deep" }); } };`;
    const source = await server.client.sources.deploy({ component_code: code, component_path: "deep.mjs" });
    const send = (body: string): Promise<Response> =>
      fetch(source.endpoint_url ?? "", { method: "POST", headers: { "content-type": "application/json" }, body });
    const bodies = [`${'{"d":'.repeat(10_000)}1${"}".repeat(10_000)}`, '{"levels":10000}', '{"levels":1500}'];
    for (const body of bodies) expect((await send(body)).status).toBe(200);
    const page = await openPage(server, `/sources/${source.id}/runs`);
    const rows = page.locator(".long-list .item");
    await rows.nth(2).waitFor();
    for (const index of [0, 1, 2]) {
      await rows.nth(index).click();
      await page.locator(".chosen .json").first().waitFor();
      await page.locator(".chosen").getByRole("button", { name: "Raw" }).first().click();
      await page.locator(".chosen pre.json").first().waitFor();
    }
    await page.getByRole("link", { name: "Events" }).click();
    await page.getByRole("option", { name: /deep/ }).first().click();
    await page.getByRole("searchbox", { name: "Search in the event" }).fill("end");
    await page.getByText("1 found").waitFor();
  });
});

describe("the page as it is handed out", () => {
  it("allows nothing but its own files, and is no part of another page", async () => {
    const server = await TestServer.inMemory();
    for (const path of ["/", "/sources", "/sources/dc_x/runs", "/status"]) {
      const { headers, status } = await fetch(server.apiUrl + path);
      expect([
        status,
        headers.get("content-security-policy"),
        headers.get("x-content-type-options"),
        headers.get("referrer-policy"),
        headers.get("cache-control"),
        headers.get("set-cookie"),
      ]).toEqual([
        200,
        expect.stringMatching(
          /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';/,
        ),
        "nosniff",
        "no-referrer",
        "no-cache",
        null,
      ]);
    }
    for (const path of ["/assets/..%2f..%2fpackage.json", "/assets/%2e%2e/pd.cjs", "/assets/none.js", "/assets/index.html"])
      expect([401, 404]).toContain((await fetch(server.apiUrl + path)).status);
  });

  it("is at most 120 KB to begin with, loads nothing from elsewhere, and loads the editor only for code", async () => {
    const server = await TestServer.inMemory();
    const { page } = await openWindow();
    const asked: string[] = [];
    const sizes: Promise<number>[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).host + new URL(request.url()).pathname));
    const weigh = (request: Request): void => {
      if (request.url().includes("/assets/") || request.isNavigationRequest()) sizes.push(request.sizes().then((found) => found.responseBodySize));
    };
    page.on("requestfinished", weigh);
    await page.goto(`${server.apiUrl}/sources#key=${server.apiKey}`);
    await page.getByText("No sources yet").waitFor();
    page.off("requestfinished", weigh);
    const size = (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0);
    expect(size).toBeGreaterThan(1000);
    expect(size).toBeLessThanOrEqual(120_000);
    const { host } = new URL(server.apiUrl);
    expect(asked.filter((address) => !address.startsWith(host) || address.includes("editor"))).toEqual([]);
  });

  it("has nothing in its files that leads elsewhere for more", async () => {
    const folder = join(programFile("ui"), "assets");
    const names = (await readdir(folder)).filter((name) => /\.(js|css)$/.test(name));
    expect(names.length).toBeGreaterThan(2);
    for (const name of names)
      expect([name, /\b(import|@import|url)\s*\(?\s*["']?https?:/.exec(await readFile(join(folder, name), "utf8"))?.[0]]).toEqual([name, undefined]);
  });
});
