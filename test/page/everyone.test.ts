import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openWindow } from "../support/browser.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";
import { TestServer } from "../support/runtime.ts";
import { ORDERS, order, untilShown } from "./open-page.ts";

/** Returns violations of WCAG 2.2 AA. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 200) + " " + nodes[0].failureSummary))`);
}

async function fullServer() {
  const server = await TestServer.inMemory({ search: "true" });
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
  await server.client.dataStores.set("box", "answer", { value: { of: "everything", is: 42 } });
  const tabs = ["events", "runs", "logs", "trends", "configuration", "code", "versions", "state", "schedule", "subscribers", "deliveries"];
  const paths: Readonly<Record<string, string>> = {
    sources: "/sources",
    new: "/sources/new",
    "new-code": "/sources/new?by=code",
    ...Object.fromEntries(tabs.map((tab) => [`source-${tab}`, `/sources/${source.id}/${tab}`])),
    webhooks: "/webhooks",
    webhook: `/webhooks/${hook.id}`,
    "webhook-new": "/webhooks?new=1",
    accounts: "/accounts",
    "account-new": "/accounts?new=1",
    stores: "/stores",
    store: "/stores/box",
    actions: "/actions",
    schedule: "/schedule",
    status: "/status",
    search: "/search?q=order",
  };
  return { server, paths: { ...paths, ...(await workflowPaths(server)) } };
}

/** A branch, a loop, and a name that is longer than its box. */
const BLOCKS = {
  "workflow.yaml": `schema: workflow/2022.04
name: Orders of the shop
settings: { retries: 0 }
triggers:
- http: {}
steps:
- namespace: order
  uses: ./order/entry.mjs
- namespace: is_the_order_large_enough
  if: "{{steps.order.$return_value.lines.length > 1}}"
  then:
  - namespace: warn
    uses: ./warn/entry.mjs
- namespace: each
  for_each: "{{steps.order.$return_value.lines}}"
  steps:
  - namespace: line
    uses: ./line/entry.mjs
`,
  "order/entry.mjs": codeStep("return steps.trigger.event.body;"),
  "warn/entry.mjs": codeStep("return 'warned';"),
  "line/entry.mjs": codeStep("if (steps.each.item.sku === 'pot') throw new Error('no pot'); return steps.each.item.sku;"),
};

async function workflowPaths(server: TestServer): Promise<Record<string, string>> {
  const steps = {
    ask: codeStep("console.log('asked'); if (steps.trigger.event.fails) throw new Error('no'); $.flow.suspend(); return { of: [1, 2] };"),
    tell: codeStep("return 1;"),
  };
  const workflow = await deployWorkflow(server, workflowOf(steps, { head: "settings: { retries: 0 }\ntriggers:\n- http: {}\n" }));
  await workflow.run({ fails: true });
  const run = await workflow.run({ fails: false });
  const path = `/workflows/${workflow.id}`;
  const blocks = await deployWorkflow(server, BLOCKS);
  const failed = await blocks.run({ body: { customer: "kettle-co", lines: [{ sku: "cup" }, { sku: "pot" }] } });
  return {
    workflows: "/workflows",
    "workflow-runs": path,
    "workflow-run": `${path}/runs?run=${String(run["id"])}`,
    "workflow-steps": `${path}/steps?step=ask`,
    "workflow-block": `/workflows/${blocks.id}/steps?step=each`,
    "workflow-item": `/workflows/${blocks.id}/steps?step=line`,
    "workflow-failed": `/workflows/${blocks.id}/runs?run=${String(failed["id"])}`,
    "workflow-new": "/workflows?new=1",
    "workflow-trends": `${path}/trends`,
    "workflow-files": `${path}/files`,
  };
}

const WIDTHS = [360, 390, 768, 1280, 2560];
const SCHEMES = ["light", "dark"] as const;

/** Screenshots for a person. */
const PICTURES = join(import.meta.dirname, "..", "..", "build", "pictures");

describe.each(SCHEMES)("every view in %s", (colorScheme) => {
  it.each(WIDTHS)("is accessible and fits a window of %d pixels; its picture is kept", async (width) => {
    const { server, paths } = await fullServer();
    const { page } = await openWindow({ colorScheme, bypassCSP: true, viewport: { width, height: 800 }, hasTouch: width < 400 });
    const folder = join(PICTURES, `${colorScheme}-${width}`);
    await mkdir(folder, { recursive: true });
    await page.goto(`${server.apiUrl}/#key=${server.apiKey}`);
    await untilShown(page);
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(server.apiUrl + path);
      await untilShown(page);
      const row = page.locator(".long-list .item").first();
      if (await row.isVisible()) await row.click();
      const wide = await page.evaluate(
        "[document.documentElement, document.querySelector('main')].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)",
      );
      expect([path, wide, await faultsOf(page)]).toEqual([path, [0, 0], []]);
      await page.screenshot({ path: join(folder, `${name}.png`) });
    }
  });
});
