import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { openPage } from "./open-page.ts";
import { settingsIn } from "../../src/domain/source-settings/read-settings.ts";
import { SOURCE_SETTINGS } from "../../src/domain/source-settings/settings.ts";
import { withRegistry } from "./with-registry.ts";

describe("a new source on the page", () => {
  it("is found, connected, configured with choices of the component and deployed; what it emits is seen", async () => {
    const server = await withRegistry();
    const page = await openPage(server);
    await page.keyboard.press("n");
    await page.getByRole("searchbox", { name: "Search sources" }).fill("order");
    await page.getByRole("button", { name: /New Order/ }).click();
    await page.getByRole("link", { name: "orders" }).waitFor();
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await page.getByRole("button", { name: "Connect an account" }).click();
    await page.getByLabel("Name", { exact: true }).fill("till");
    await page.getByLabel("api_key").fill("s3");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByLabel("shop").locator("option:checked", { hasText: "till" }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("Required", { exact: true }).first().waitFor();
    await page.getByLabel("Branch").click();
    await page.getByRole("button", { name: "More choices" }).click();
    await page.getByRole("button", { name: "Branch 1 of s3" }).click();
    await page.getByLabel("Note for b1").fill("hello");
    await page.getByLabel("most").fill("3");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("No events yet").waitFor();
    const [source] = (await server.client.sources.list()).data;
    expect(await (await fetch(source?.endpoint_url ?? "")).text()).toBe("b1 3 hello");
    await page.getByRole("option", { name: /It came/ }).waitFor();
    await page.getByRole("link", { name: "Configuration" }).click();
    await page.getByLabel("most").fill("");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.locator(".problem").waitFor();
    await page.getByLabel("most").fill("7");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved: the source uses the new values").waitFor();
    expect(await (await fetch(source?.endpoint_url ?? "")).text()).toBe("b1 7 hello");
  });

  it("is found by its app in the catalogue, by a mistyped app, and by words; an app without components says so", async () => {
    const server = await withRegistry();
    const page = await openPage(server, "/sources/new");
    const apps = page.getByRole("region", { name: "Apps" });
    await apps.getByRole("button", { name: /shop 1 source/ }).click();
    await page.getByRole("button", { name: /New Order/ }).waitFor();
    await page.getByRole("button", { name: "All apps" }).click();
    await apps.getByRole("button", { name: /GitHub/ }).click();
    await page.getByText("The registries have no source of GitHub").waitFor();
    await page.getByLabel("App", { exact: true }).fill("shops");
    await page.getByLabel("App", { exact: true }).press("Enter");
    await page.getByRole("button", { name: "shop", exact: true }).click();
    await page.getByRole("button", { name: /New Order/ }).waitFor();
    await page.getByRole("button", { name: "All apps" }).click();
    await page.getByRole("searchbox", { name: "Search sources" }).fill("new issue");
    await apps
      .getByRole("button", { name: /Linear/ })
      .first()
      .waitFor();
  });

  it("shows every setting, in the form of a deploy and of a source, and changes it", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: 'export default { name: "Set", version: "1", run() {} };', max_concurrency: 2 });
    const page = await openPage(server, `/sources/${source.id}/configuration`);
    const form = page.getByRole("form", { name: "Settings" });
    for (const { label } of Object.values(SOURCE_SETTINGS)) await form.getByLabel(label).waitFor();
    expect(await form.getByLabel("Concurrent runs").inputValue()).toBe("2");
    await form.getByLabel("Concurrent runs").fill("5");
    await form.getByLabel("May start programs").check();
    await form.getByRole("button", { name: "Save settings" }).click();
    await page.getByText("Saved: the source uses the new settings").waitFor();
    expect(await server.client.sources.get(source.id)).toMatchObject({ max_concurrency: 5, allow_run: true, version: 1 });
    await form.getByLabel("Concurrent runs").fill("");
    await form.getByLabel("May start programs").uncheck();
    await form.getByRole("button", { name: "Save settings" }).click();
    await expect.poll(async () => settingsIn(await server.client.sources.get(source.id))).toEqual({});
  });

  it("keeps what nobody is shown, also when an account is connected or another value saved", async () => {
    const server = await TestServer.inMemory();
    const code =
      'export default { name: "Keeps", version: "1", props: { http: { type: "$.interface.http", customResponse: true }, pin: { type: "string", secret: true, optional: true }, size: { type: "string", optional: true }, demo: { type: "app", app: "demo", optional: true }, timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } } }, run() { this.http.respond({ status: 200, body: [this.pin, this.size, this.demo?.$auth?.api_key].join(" ") }); } };';
    const source = await server.client.sources.deploy({
      component_code: code,
      configured_props: { pin: "s3cret", size: "l", timer: { intervalSeconds: 60, catchUp: "all" } },
    });
    const answer = async (): Promise<string> => (await fetch(source.endpoint_url ?? "")).text();
    const page = await openPage(server, `/sources/${source.id}/configuration`);
    expect([await page.getByLabel("pin").inputValue(), await page.getByLabel("pin").getAttribute("placeholder")]).toEqual(["", "set; type to replace it"]);
    await page.getByLabel("pin").fill("x");
    await page.getByLabel("pin").fill("");
    await page.getByLabel("size").fill("m");
    await page.getByRole("button", { name: "Connect an account" }).click();
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("till");
    await page.getByLabel("api_key").fill("k9");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByLabel("demo").locator("option:checked", { hasText: "till" }).waitFor({ state: "attached" });
    expect(await answer()).toBe("s3cret l ");
    await page.getByRole("spinbutton", { name: "timer" }).fill("120");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved: the source uses the new values").waitFor();
    expect(await answer()).toBe("s3cret m k9");
    expect((await server.client.sources.get(source.id)).timers).toMatchObject([{ intervalSeconds: 120, catch_up: "all" }]);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(answer).toBe(" m k9");
  });

  it("is begun by the addresses that the contract names, and by pasted code", async () => {
    const server = await withRegistry();
    const page = await openPage(server, "/sources?action=create&key=shop-new-order");
    const loads: string[] = [];
    page.on("request", (request) => request.method() === "POST" && loads.push(request.url()));
    // A stranger may have written the URL, so the page asks first.
    await page.getByRole("heading", { name: "Load shop-new-order?" }).waitFor();
    await page.goto(`${server.apiUrl}/actions?key=shop-create-order`);
    await page.getByRole("heading", { name: "Load shop-create-order?" }).waitFor();
    await page.goto(`${server.apiUrl}/sources?action=create&key=shop-new-order`);
    expect(loads).toEqual([]);
    await page.getByRole("button", { name: "Load it" }).click();
    await page.getByRole("heading", { name: "New Order" }).waitFor();
    expect(loads).not.toEqual([]);
    await page.goto(`${server.apiUrl}/sources?action=create&url=${encodeURIComponent("http://127.0.0.1:9/x.js")}`);
    expect(await page.getByLabel("Address of the code").inputValue()).toBe("http://127.0.0.1:9/x.js");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").filter({ hasText: "PD_CODE_UNREACHABLE" }).waitFor();
    await page.goto(`${server.apiUrl}/sources/new?by=code`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("No events yet").waitFor();
    expect((await server.client.sources.list()).data).toMatchObject([{ name: "Hello" }]);
  });
});
