import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { openPage } from "./open-page.ts";

describe("a server without sources", () => {
  it("offers examples that are deployed by one click and emit; their code and what to try next are shown", async () => {
    const server = await TestServer.inMemory();
    const page = await openPage(server);
    for (const [title, heading] of [
      ["An HTTP endpoint", "Hello HTTP"],
      ["A timer", "Every 10 seconds"],
      ["A feed", "New entries of a feed"],
    ] as const) {
      await page.goto(`${server.apiUrl}/sources`);
      const card = page.getByRole("article").filter({ hasText: title });
      await card.getByText("Next: ").waitFor();
      await card.getByText("Code", { exact: true }).click();
      await card.getByText("export default {").waitFor();
      await card.getByRole("button", { name: "Deploy" }).click();
      await page.getByRole("heading", { name: heading }).waitFor();
      const source = (await server.client.sources.list()).data.find(({ name }) => name === heading);
      if (source === undefined) throw new Error(`${heading} is not deployed`);
      if (source.endpoint_url === undefined) await server.client.sources.run(source.id);
      else expect(await (await fetch(source.endpoint_url, { method: "POST", body: "hello" })).json()).toEqual({ received: "hello", count: 1 });
      await expect.poll(async () => (await server.client.events.list(source.id, {})).data.length).toBeGreaterThan(0);
      await server.client.sources.delete(source.id, {});
    }
  });

  it("offers nothing to deploy to a key that may only read", async () => {
    const server = await TestServer.inMemory();
    const { key } = await server.client.keys.create({ name: "viewer", read_only: true });
    const page = await openPage(server, `/sources`);
    await page.evaluate(`localStorage.setItem("headwater-key", ${JSON.stringify(key)})`);
    await page.goto(`${server.apiUrl}/sources`);
    await page.getByText("read-only").waitFor();
    await page.getByText("No sources yet").waitFor();
    expect(await page.getByRole("button", { name: "Deploy" }).count()).toBe(0);
  });
});
