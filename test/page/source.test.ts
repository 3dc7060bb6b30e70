import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { ORDERS, openPage, order } from "./open-page.ts";

async function withOrders() {
  const server = await TestServer.inMemory();
  const source = await server.client.sources.deploy({ component_code: ORDERS, component_path: "orders.mjs" });
  return { server, source };
}

describe("a source on the page", () => {
  it("shows events as they come, and the chosen one whole", async () => {
    const { server, source } = await withOrders();
    const page = await openPage(server, `/sources/${source.id}`);
    await page.getByText("No events yet").waitFor();
    await order(source.endpoint_url, { id: "a", note: "x".repeat(3000) });
    await page.getByRole("option", { name: /Order a/ }).click();
    await page.getByText("3000").or(page.getByText("more characters")).first().waitFor();
    await order(source.endpoint_url, { id: "b" });
    await page.getByRole("option", { name: /Order b/ }).waitFor();
    expect(new URL(page.url()).searchParams.get("event")).toMatch(/^\d+-1$/);
    await page.reload();
    await page.getByRole("heading", { name: "Order a" }).waitFor();
  });

  it("has events deleted one by one and by a range that is said before", async () => {
    const { server, source } = await withOrders();
    for (const id of ["a", "b", "c", "d"]) await order(source.endpoint_url, { id });
    const page = await openPage(server, `/sources/${source.id}`);
    const choose = async (name: string, verb: string): Promise<void> => {
      await page.getByRole("option", { name }).click();
      await page.getByRole("heading", { name }).waitFor();
      await page.getByRole("button", { name: "Actions", exact: true }).click();
      await page.getByRole("button", { name: verb, exact: true }).click();
    };
    const left = async (): Promise<string[]> => (await server.client.events.list(source.id)).data.map(({ metadata }) => String(metadata.summary));
    await choose("Order d", "Delete");
    await expect.poll(left).toEqual(["Order c", "Order b", "Order a"]);
    const [, second] = (await server.client.events.list(source.id)).data;
    await choose("Order c", "Delete a range…");
    await page.getByLabel(/^From the event/).fill("b");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    expect(await left()).toHaveLength(3);
    await page.getByLabel(/^From the event/).fill(second?.id ?? "");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await expect.poll(left).toEqual(["Order a"]);
    await page.getByRole("option", { name: "Order c" }).waitFor({ state: "detached" });
    expect(await page.getByRole("option").count()).toBe(1);
  });

  it("is edited, and the running source is the new code; an error is told at its line, and a version is gone back to", async () => {
    const { server, source } = await withOrders();
    expect(await order(source.endpoint_url, { id: "a" })).toBe("one");
    const page = await openPage(server, `/sources/${source.id}/code`);
    const editor = page.getByRole("textbox", { name: "Code of orders.mjs" });
    await editor.click();
    await page.keyboard.press("Control+a");
    // Typing over coloured text makes Chromium set an inline style, which the policy blocks.
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("export default {");
    await page.keyboard.press("Control+s");
    await page.getByRole("alert").filter({ hasText: "PD_BUILD_FAILED" }).waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    expect(await order(source.endpoint_url, { id: "b" })).toBe("one");
    await editor.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(ORDERS.replace('"one"', '"two"'));
    await page.keyboard.press("Control+s");
    await page.getByText("Saved: version 2 is running").waitFor();
    await page.getByText("version 2", { exact: true }).waitFor();
    // The cursor and the saved text stay.
    await page.keyboard.press("Control+End");
    await page.keyboard.type("// and on");
    await page.getByText("// and on").waitFor();
    await page.keyboard.press("Control+z");
    await page.getByText("// and on").waitFor({ state: "detached" });
    expect(await order(source.endpoint_url, { id: "c" })).toBe("two");
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("version 3", { exact: true }).waitFor();
    await page.getByText('body: "one"').waitFor();
    expect(await order(source.endpoint_url, { id: "undone" })).toBe("one");
    await page.getByRole("link", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Roll back" }).first().click();
    await page.getByText("Version 4 is running: the same as version 2").waitFor();
    await page.getByRole("link", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Difference" }).first().click();
    await page.getByText('+    this.http.respond({ status: 200, body: "two" });').waitFor();
    await page.getByRole("button", { name: "Roll back" }).first().click();
    await page.getByText("Version 5 is running: the same as version 3").waitFor();
    expect(await order(source.endpoint_url, { id: "d" })).toBe("one");
  });

  it("takes what is typed into its code for code, and keeps it while another file is looked at or somebody else updates", async () => {
    const server = await TestServer.inMemory();
    const files = { "lib.mjs": 'export const by = "lib";\n' };
    const code =
      'import { by } from "./lib.mjs";\nexport default { name: "two", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ status: 200, body: by }); } };\n';
    const source = await server.client.sources.deploy({ component_code: code, component_path: "two.mjs", component_files: files });
    const page = await openPage(server, `/sources/${source.id}/code`);
    await page.getByRole("button", { name: "lib.mjs" }).click();
    await page.getByRole("textbox", { name: "Code of lib.mjs" }).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("// e i r / ? g s");
    await page.getByRole("button", { name: "two.mjs" }).click();
    await page.getByRole("button", { name: /lib\.mjs/ }).click();
    await page.getByText("// e i r / ? g s").waitFor();
    await server.client.sources.update(source.id, {
      component_code: code,
      component_path: "two.mjs",
      component_files: { "lib.mjs": 'export const by = "other";\n' },
    });
    await page.getByText("The code was replaced while you edited it: version 2 is running.").waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Keep my changes" }).click();
    await page.getByText("// e i r / ? g s").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved: version 3 is running").waitFor();
    expect(await order(source.endpoint_url, {})).toBe("lib");
  });

  it("asks before what was typed is lost, by a link as by Back, and goes where one wanted once that is agreed", async () => {
    const { server, source } = await withOrders();
    const page = await openPage(server, `/sources/${source.id}/events`);
    await page.getByRole("link", { name: "State" }).click();
    await page.getByText("No state yet").waitFor();
    await page.getByRole("link", { name: "Code" }).click();
    const editor = page.getByRole("textbox", { name: "Code of orders.mjs" });
    await editor.click();
    await page.keyboard.type("// mine");
    await page.getByRole("link", { name: "Webhooks" }).click();
    const asked = page.getByRole("dialog", { name: "Leave without saving?" });
    await asked.getByRole("button", { name: "Stay" }).click();
    await page.goBack();
    await asked.getByRole("button", { name: "Stay" }).click();
    await page.getByText("// mine").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/sources/${source.id}/code`);
    await page.goBack();
    await asked.getByRole("button", { name: "Leave" }).click();
    await page.getByText("No state yet").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/sources/${source.id}/state`);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByText("No webhooks yet").waitFor();
  });

  it("compares a run with today's code, keeps nothing of that, and replays it", async () => {
    const { server, source } = await withOrders();
    await order(source.endpoint_url, { id: "a" });
    await server.client.sources.update(source.id, { component_code: ORDERS.replace("count }", "count, more: true }"), component_path: "orders.mjs" });
    const page = await openPage(server, `/sources/${source.id}/runs`);
    await page.getByRole("option", { name: /POST/ }).click();
    await page.getByRole("button", { name: "Compare with current code" }).click();
    await page.getByText("other 1 event; state count 1 → 2; answer unchanged").waitFor();
    expect(await server.client.state.all(source.id)).toEqual({ count: 1 });
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText('unique: id "a" was emitted before').waitFor();
    expect(await server.client.state.all(source.id)).toEqual({ count: 2 });
  });

  it("tells runs apart by what arrived, and shows the event that the component received beside the request as it came", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    for (const id of ["a7", "b8"]) await order(source.endpoint_url, { id });
    const page = await openPage(server, `/sources/${source.id}/runs`);
    await page.getByRole("option", { name: /POST \/ {"id":"b8"}/ }).waitFor();
    await page.getByRole("option", { name: /POST \/ {"id":"a7"}/ }).click();
    const event = page.getByRole("tree", { name: "the event" });
    await event.getByText('"a7"', { exact: true }).waitFor();
    await page.getByText("The request as it came").click();
    await page
      .getByRole("tree", { name: "trigger" })
      .getByText(/clientIp/)
      .waitFor();
  });

  it("has its name, slug and variables on its page; a variable is added, replaced and removed, and never shown", async () => {
    const server = await TestServer.inMemory();
    const code =
      'export default { name: "Vars", description: "Reads **variables**", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ status: 200, body: String(process.env.CITY) }); } };';
    const source = await server.client.sources.deploy({ component_code: code });
    const answer = async (): Promise<string> => (await fetch(source.endpoint_url ?? "")).text();
    const page = await openPage(server, `/sources/${source.id}/configuration`);
    await page.getByRole("form", { name: "About" }).locator("strong", { hasText: "variables" }).waitFor();
    const form = page.getByRole("form", { name: "Variables" });
    const save = async (name: string, value: string): Promise<void> => {
      await form.getByLabel("Name of the variable").fill(name);
      await form.getByLabel("Value of the variable").fill(value);
      await form.getByLabel("Value of the variable").press("Enter");
    };
    await save("CITY", "Rome");
    await form.getByText("CITY", { exact: true }).waitFor();
    expect(await answer()).toBe("Rome");
    await form.getByRole("button", { name: "Replace CITY" }).click();
    await save("CITY", "Oslo");
    await expect.poll(answer).toBe("Oslo");
    expect(await page.content()).not.toContain("Oslo");
    await form.getByRole("button", { name: "Remove CITY" }).click();
    await form.getByText("CITY", { exact: true }).waitFor({ state: "detached" });
    expect(await answer()).toBe("undefined");
    await page.getByLabel("Name", { exact: true }).fill("Cities");
    await page.getByRole("button", { name: "Save name" }).click();
    await page.getByRole("heading", { name: "Cities" }).waitFor();
    expect(await server.client.sources.get(source.id)).toMatchObject({ name: "Cities", name_slug: source.name_slug, env: [] });
  });

  it("shows why a run failed, and its log as it comes", async () => {
    const { server, source } = await withOrders();
    const page = await openPage(server, `/sources/${source.id}/logs`);
    await page.getByText("No log lines yet").waitFor();
    await order(source.endpoint_url, { id: "a", fails: true });
    await page.getByRole("log").getByText("order a").waitFor();
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("option", { name: /failed/ }).click();
    await page.getByText("Error: no customer").first().waitFor();
  });

  it("has its state edited, and a deleted key brought back", async () => {
    const { server, source } = await withOrders();
    await order(source.endpoint_url, { id: "a" });
    const page = await openPage(server, `/sources/${source.id}/state`);
    await page.getByRole("button", { name: "Edit count" }).click();
    await page.getByLabel("Value, as JSON").fill("41");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("cell", { name: "41" }).waitFor();
    expect(await server.client.state.all(source.id)).toEqual({ count: 41 });
    await page.getByRole("button", { name: "Delete count" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("cell", { name: "41" }).waitFor();
    expect(await server.client.state.all(source.id)).toEqual({ count: 41 });
  });

  it("is run with an event of one's own, deactivated and brought back, and deleted once its name is typed", async () => {
    const { server, source } = await withOrders();
    const page = await openPage(server, `/sources/${source.id}`);
    await page.getByText("No events yet").waitFor();
    await page.keyboard.press("r");
    await page.getByLabel("Event, as JSON").fill('{"body":{"id":"mine"}}');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("link", { name: "Order mine" }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Deactivate" }).click();
    await page.locator(".state", { hasText: "inactive" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".state.good", { hasText: "active" }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    expect(await page.getByRole("button", { name: "Delete", exact: true }).isDisabled()).toBe(true);
    await page.getByLabel(/Type orders/).fill("orders");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("No sources yet").waitFor();
    expect((await server.client.sources.list()).data).toEqual([]);
  });
});
