import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Receiver } from "../support/receiver.ts";
import { TestServer } from "../support/runtime.ts";
import { type Hand, finger, keys, mouse } from "./hands.ts";
import { openPage, order } from "./open-page.ts";
import { withRegistry } from "./with-registry.ts";

const SECOND = `export default { name: "New Order", version: "0.0.2",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  async run(event) { const n = (this.db.get("count") ?? 0) + 1; this.db.set("count", n);
    this.http.respond({ status: 200, body: "two " + n }); this.$emit({ n, ...event.body }, { summary: "It came again" }); } };
`;

interface Setting {
  readonly page: Page;
  readonly hand: Hand;
  readonly server: TestServer;
}

async function deployFromKey({ page, hand }: Setting): Promise<void> {
  await hand.press(page.getByRole("link", { name: "New source" }).first());
  await hand.fill(page.getByRole("searchbox", { name: "Search sources" }), "order");
  await hand.press(page.getByRole("button", { name: /New Order/ }));
  await hand.press(page.getByRole("button", { name: "Connect an account" }));
  await hand.fill(page.getByLabel("Name", { exact: true }), "till");
  await hand.fill(page.getByLabel("api_key"), "s3");
  await hand.press(page.getByRole("button", { name: "Connect", exact: true }));
  await page.getByLabel("shop").locator("option:checked", { hasText: "till" }).waitFor({ state: "attached" });
  await hand.fill(page.getByLabel("Branch", { exact: true }), "");
  await hand.press(page.getByRole("button", { name: "Branch 0 of s3" }));
  await hand.fill(page.getByLabel("Note for b0"), "hi");
  await hand.fill(page.getByLabel("most"), "3");
  await hand.press(page.getByRole("button", { name: "Deploy", exact: true }));
  await page.getByText("No events yet").waitFor();
}

async function editCode({ page, hand }: Setting): Promise<void> {
  await hand.press(page.getByRole("link", { name: "Code" }));
  const editor = page.getByRole("textbox", { name: /^Code of .*new-order\.mjs/ });
  await editor.waitFor();
  await hand.press(editor);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(SECOND);
  await page.keyboard.press("Control+s");
  await page.getByText("Saved: version 2 is running").waitFor();
  await page.keyboard.press("Escape");
}

async function replayAndRollBack({ page, hand }: Setting): Promise<void> {
  await hand.press(page.getByRole("link", { name: "Runs" }));
  await hand.open(page.locator(".long-list .item").last());
  await hand.press(page.getByRole("button", { name: "Compare with current code" }));
  await page.getByText("other 1 event; state count 1 → 2; answer unchanged").waitFor();
  await hand.press(page.getByRole("link", { name: "Versions" }));
  await hand.press(page.getByRole("button", { name: "Roll back" }));
  await page.getByText("Version 3 is running: the same as version 1").waitFor();
  await hand.press(page.getByRole("button", { name: "Undo" }).last());
  await page.getByText("version 4", { exact: true }).first().waitFor();
}

async function breakAndMendWebhook({ page, hand, server }: Setting): Promise<void> {
  let isBroken = true;
  const receiver = await Receiver.start((response) => response.writeHead(isBroken ? 500 : 200).end("said so"));
  await hand.press(page.getByRole("link", { name: "Webhooks" }));
  await hand.press(page.getByRole("button", { name: "New webhook" }));
  await hand.fill(page.getByLabel("Address"), receiver.url);
  await hand.press(page.getByRole("button", { name: "Create" }));
  await hand.press(page.getByRole("button", { name: "Done" }));
  await hand.choose(page.getByLabel("Subscribe to a source"), "New Order");
  await page.getByRole("link", { name: "New Order" }).waitFor();
  const [source] = (await server.client.sources.list()).data;
  await order(source?.endpoint_url, { id: "d" });
  await page.getByText(/failing since/).waitFor();
  await hand.press(page.getByRole("button", { name: /pending/ }));
  await page.getByText("said so").first().waitFor();
  isBroken = false;
  await hand.press(page.getByRole("button", { name: "Deliver now" }));
  await page.getByText("delivering").waitFor();
  await hand.press(page.getByRole("button", { name: "Rotate the key" }));
  await page.getByText(/^whsec_/).waitFor();
  await hand.press(page.getByRole("button", { name: "Done" }));
}

async function editStateAndDelete({ page, hand, server }: Setting): Promise<void> {
  await hand.press(page.getByRole("link", { name: "New Order" }));
  await hand.press(page.getByRole("link", { name: "State" }));
  await hand.press(page.getByRole("button", { name: "Edit count" }));
  await hand.fill(page.getByLabel("Value, as JSON"), "41");
  await hand.press(page.getByRole("button", { name: "Save", exact: true }));
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const [source] = (await server.client.sources.list()).data;
  expect(await order(source?.endpoint_url, {})).toBe("two 42");
  await hand.press(page.getByRole("button", { name: "More" }));
  await hand.press(page.getByRole("button", { name: "Delete…" }));
  await hand.fill(page.getByLabel(/Type new-order/), "new-order");
  await hand.press(page.getByRole("button", { name: "Delete", exact: true }));
  await page.getByText("No sources yet").waitFor();
}

describe("the whole way of a source on the page", () => {
  it.each([
    ["with a mouse", mouse, { width: 1280, height: 800 }],
    ["with a finger, in a window of 360 pixels", finger, { width: 360, height: 780 }],
    ["with the keyboard alone", keys, { width: 1280, height: 800 }],
  ])("%s: deployed, driven, edited, compared, rolled back, delivered, its state edited, deleted", async (_name, handOf, viewport) => {
    const server = await withRegistry();
    const page = await openPage(server, "/sources", { viewport, hasTouch: viewport.width === 360 });
    const setting = { page, hand: handOf(page), server };
    await deployFromKey(setting);
    const [source] = (await server.client.sources.list()).data;
    expect(await order(source?.endpoint_url, { id: "a" })).toBe("b0 3 hi");
    await page.getByRole("option", { name: /It came/ }).waitFor();
    await editCode(setting);
    expect(await order(source?.endpoint_url, { id: "b" })).toBe("two 1");
    await replayAndRollBack(setting);
    expect(await order(source?.endpoint_url, { id: "c" })).toBe("two 2");
    await breakAndMendWebhook(setting);
    await editStateAndDelete(setting);
  });
});
