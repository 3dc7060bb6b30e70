import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openWindow } from "../support/browser.ts";
import { TestServer } from "../support/runtime.ts";
import { ORDERS, openPage, order, untilShown } from "./open-page.ts";

/** What a checker of WCAG 2.2 AA finds wrong. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 200) + " " + nodes[0].failureSummary))`);
}

async function fullServer() {
  const server = await TestServer.inMemory();
  const source = await server.client.sources.deploy({
    component_code: ORDERS.replace(
      'db: "$.service.db"',
      'db: "$.service.db", size: { type: "string", options: ["s", "l"], optional: true, description: "A **size**" }, timer: { type: "$.interface.timer", default: { cron: "0 9 * * 1" } }',
    ),
    component_path: "orders.mjs",
  });
  for (const id of ["a", "b", "a"]) await order(source.endpoint_url, { id });
  await order(source.endpoint_url, { id: "c", fails: true });
  const hook = await server.client.webhooks.create({ url: "http://127.0.0.1:9/", name: "Books" });
  await server.client.accounts.connect({ app: "demo", name: "mine", credentials: { api_key: "x" } });
  await server.client.dataStores.create({ name: "box" });
  const tabs = ["events", "runs", "logs", "configuration", "code", "versions", "state", "schedule", "deliveries"].map((tab) => `/sources/${source.id}/${tab}`);
  return {
    server,
    paths: [
      "/sources",
      "/sources/new",
      "/sources/new?by=code",
      ...tabs,
      "/webhooks",
      `/webhooks/${hook.id}`,
      "/accounts",
      "/stores",
      "/stores/box",
      "/actions",
      "/schedule",
      "/status",
    ],
  };
}

describe("every view", () => {
  it.each(["light", "dark"] as const)("is accessible in %s", async (colorScheme) => {
    const { server, paths } = await fullServer();
    const { page } = await openWindow({ colorScheme, bypassCSP: true });
    await page.goto(`${server.apiUrl}/#key=${server.apiKey}`);
    await untilShown(page);
    for (const path of paths) {
      await page.goto(server.apiUrl + path);
      await untilShown(page);
      const row = page.locator(".long-list .item").first();
      if (await row.isVisible()) await row.click();
      expect([path, await faultsOf(page)]).toEqual([path, []]);
    }
  });

  it.each([360, 768, 1920])("fits a window of %d pixels", async (width) => {
    const { server, paths } = await fullServer();
    const page = await openPage(server, "/sources", { viewport: { width, height: 780 }, hasTouch: width === 360 });
    for (const path of paths) {
      await page.goto(server.apiUrl + path);
      await untilShown(page);
      const wide = await page.evaluate(
        "[document.documentElement, document.querySelector('main')].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)",
      );
      expect([path, wide]).toEqual([path, [0, 0]]);
    }
  });
});
