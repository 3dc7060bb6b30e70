import { describe, expect, it } from "vitest";
import { openWindow } from "../support/browser.ts";
import { Receiver } from "../support/receiver.ts";
import { TestServer } from "../support/runtime.ts";
import { ORDERS, openPage, order } from "./open-page.ts";

describe("webhooks on the page", () => {
  it("are made, subscribed, broken, mended and given another key", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    let isBroken = true;
    const receiver = await Receiver.start((response) => response.writeHead(isBroken ? 500 : 200).end("said so"));
    const page = await openPage(server, "/webhooks");
    await page.keyboard.press("n");
    await page.getByLabel("Address").fill(receiver.url);
    await page.getByRole("button", { name: "Create" }).click();
    const key = (await page.getByText(/^whsec_/).textContent()) ?? "";
    await page.getByRole("button", { name: "I have it" }).click();
    await page.getByLabel("Subscribe to a source").selectOption({ label: "Orders" });
    await page.getByRole("link", { name: "Orders" }).waitFor();
    await order(source.endpoint_url, { id: "a" });
    await page.getByText(/fails since/).waitFor();
    await page.getByRole("button", { name: /pending/ }).click();
    await page.getByText("500", { exact: true }).first().waitFor();
    await page.getByText("said so").first().waitFor();
    isBroken = false;
    await page.getByRole("button", { name: "Deliver now" }).click();
    await page.getByText("takes them").waitFor();
    await page.getByRole("button", { name: /delivered/ }).waitFor();
    await page.getByRole("button", { name: "Rotate the key" }).click();
    const next = (await page.getByText(/^whsec_/).textContent()) ?? "";
    expect(next).not.toBe(key);
    await page.getByRole("button", { name: "I have it" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/It answered 200/).waitFor();
  });
});

describe("the page", () => {
  it("asks for a key when it has none, keeps it for the tab alone, and has none in its address", async () => {
    const server = await TestServer.inMemory();
    const { page } = await openWindow();
    await page.goto(`${server.apiUrl}/sources/new`);
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("PD_UNAUTHORIZED").waitFor();
    await page.getByLabel("API key").fill(server.apiKey);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { name: "New source" }).waitFor();
    expect(page.url()).toBe(`${server.apiUrl}/sources/new`);
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "New source" }).waitFor();
    const other = await page.context().newPage();
    await other.goto(server.apiUrl);
    await other.getByLabel("API key").waitFor();
  });

  it("opens with a ticket once", async () => {
    const server = await TestServer.inMemory();
    const { ticket } = await server.client.page.ticket();
    const [first, second] = [await openWindow(), await openWindow()];
    await first.page.goto(`${server.apiUrl}/#ticket=${ticket}`);
    await first.page.getByText("No sources yet").waitFor();
    expect(first.page.url()).not.toContain("ticket");
    await second.page.goto(`${server.apiUrl}/#ticket=${ticket}`);
    await second.page.getByText("was used before").waitFor();
  });

  it("offers nothing that changes anything to a key that may only read", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    await order(source.endpoint_url, { id: "a" });
    const { key } = await server.client.keys.create({ name: "viewer", read_only: true });
    const { page } = await openWindow();
    await page.goto(`${server.apiUrl}/sources/${source.id}#key=${key}`);
    await page.getByRole("option", { name: /Order a/ }).click();
    await page.getByText("may only read").waitFor();
    for (const path of [
      "",
      `/sources/${source.id}/runs`,
      `/sources/${source.id}/state`,
      `/sources/${source.id}/configuration`,
      `/sources/${source.id}/versions`,
      "/webhooks",
      "/accounts",
      "/stores",
      "/sources/new",
      "/actions",
    ]) {
      await page.goto(server.apiUrl + path);
      await page.locator("main h1, main .empty").first().waitFor();
      expect(await page.getByRole("button", { name: /^(New|Run|Save|Edit|Delete|Replay|Roll back|Deploy|Connect)/ }).count()).toBe(0);
    }
  });

  it("says when the server is gone, and goes on where it was when it is back", async () => {
    const first = await TestServer.start();
    const source = await first.client.sources.deploy({ component_code: ORDERS });
    const page = await openPage(first, `/sources/${source.id}`);
    await order(source.endpoint_url, { id: "a" });
    await page.getByRole("option", { name: /Order a/ }).waitFor();
    const { port } = new URL(first.apiUrl);
    await first.stop();
    await page.getByText("The server does not answer").waitFor();
    const second = await TestServer.start({ home: first.home, port });
    const again = await second.client.sources.get(source.id);
    await order(again.endpoint_url, { id: "b" });
    await page.getByRole("option", { name: /Order b/ }).waitFor();
    await page.getByText("The server does not answer").waitFor({ state: "detached" });
    expect(await page.getByRole("option").allTextContents()).toEqual([expect.stringContaining("Order b"), expect.stringContaining("Order a")]);
  });

  it("is driven by keys alone", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    await order(source.endpoint_url, { id: "a" });
    await order(source.endpoint_url, { id: "b" });
    const page = await openPage(server);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("orders");
    await page.getByRole("option", { name: "Orders" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: /Order b/ }).waitFor();
    await page.getByRole("listbox", { name: "Events" }).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "Order a" }).waitFor();
    await page.keyboard.press("i");
    await page.getByRole("listbox", { name: "Runs" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.getByText("No webhooks yet").waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("Address").waitFor();
  });
});
