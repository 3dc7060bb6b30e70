import type { Page } from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import { type Window, closeBrowser, openWindow } from "../support/browser.ts";
import { TestServer } from "../support/runtime.ts";

afterAll(closeBrowser);

/** Opens the page as `pd open` does. Errors of the page fail the test. */
export async function openPage(server: TestServer, path = "/sources", options: Parameters<typeof openWindow>[0] = {}): Promise<Window["page"]> {
  const { page, complaints } = await openWindow(options);
  onTestFinished(() => expect(complaints).toEqual([]));
  const { ticket } = await server.client.page.ticket();
  await page.goto(`${server.apiUrl}${path}#ticket=${ticket}`);
  // Earlier, the page ignores keys.
  await page.locator("main .content, main .empty").first().waitFor();
  return page;
}

export const ORDERS = `export default {
  name: "Orders",
  version: "0.0.1",
  dedupe: "unique",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  async run(event) {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    console.log("order", event.body.id);
    if (event.body.fails) throw new Error("no customer");
    this.http.respond({ status: 200, body: "one" });
    this.$emit({ order: event.body, count }, { id: event.body.id, summary: "Order " + event.body.id });
  },
};
`;

export async function order(endpoint: string | undefined, body: object): Promise<string> {
  const answer = await fetch(endpoint ?? "", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return answer.text();
}

export async function untilShown(page: Page): Promise<void> {
  await page.locator("main .content, main .empty").first().waitFor();
  await page.locator("main [aria-busy]").first().waitFor({ state: "detached" });
}
