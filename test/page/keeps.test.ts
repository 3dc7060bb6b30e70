import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";
import { ORDERS, openPage } from "./open-page.ts";

/** As a server that fails, with a message as long as a stack. */
async function failing(page: Page, method: string, path: RegExp): Promise<() => Promise<void>> {
  const message = `Cannot do this:\n${"a-very-long-word-without-any-space/".repeat(60)}`;
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    await route.fulfill({ status: 500, json: { error: message, code: "PD_FAILED", details: { fix: "Run pd doctor" } } });
  });
  return () => page.unroute(path);
}

async function typeCode(page: Page, text: string): Promise<void> {
  await page.getByLabel("Code of the component").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const GOOD = 'export default { name: "Pasted", version: "0.0.1", run() { this.$emit(1); } };';

describe("what a person typed stays", () => {
  it("as pasted code that does not compile: its line is marked, and Retry sends what stands there now", async () => {
    const server = await TestServer.inMemory();
    const page = await openPage(server, "/sources/new?by=code");
    await typeCode(page, `// mine\n${GOOD.replace("};", "}")}\n}}`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").filter({ hasText: "component.mjs:3" }).waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    expect(await page.getByLabel("Code of the component").textContent()).toContain("// mine");
    await typeCode(page, GOOD);
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("heading", { name: "Pasted" }).waitFor();
    await page.getByRole("button", { name: "Choose another" }).click();
    await expect.poll(() => page.getByLabel("Code of the component").textContent()).toContain("Pasted");
  });

  it("in the form of a new source whose deploy fails", async () => {
    const server = await TestServer.inMemory();
    const page = await openPage(server, "/sources/new?by=code");
    await typeCode(page, GOOD.replace("run()", 'props: { city: "string" }, run()'));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("city").fill("Rome");
    await page.getByLabel("Name").fill("Cities");
    const heal = await failing(page, "POST", /\/v1\/sources$/);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "Cannot do this" }).waitFor();
    expect([await page.getByLabel("city").inputValue(), await page.getByLabel("Name").inputValue()]).toEqual(["Rome", "Cities"]);
    await heal();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByRole("heading", { name: "Cities" }).waitFor();
  });

  it("in each form of a source's configuration", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({
      component_code: GOOD.replace("run()", 'props: { city: "string" }, run()'),
      configured_props: { city: "Rome" },
    });
    const page = await openPage(server, `/sources/${source.id}/configuration`);
    const heal = await failing(page, "PUT", /\/v1\/sources\//);
    const fields = [
      { field: page.getByLabel("city"), typed: "Oslo", button: "Save" },
      { field: page.getByLabel("Slug"), typed: "other", button: "Save name" },
      { field: page.getByLabel("Concurrent runs"), typed: "4", button: "Save settings" },
      { field: page.getByLabel("Name of the variable"), typed: "TOKEN", button: "Add" },
    ];
    for (const [index, { field, typed, button }] of fields.entries()) {
      await field.fill(typed);
      await page.getByRole("button", { name: button, exact: true }).click();
      await expect.poll(() => page.getByRole("alert").filter({ hasText: "Cannot do this" }).count()).toBe(index + 1);
      expect(await field.inputValue()).toBe(typed);
    }
    await heal();
    for (const { button } of fields) await page.getByRole("button", { name: button, exact: true }).click();
    await page.getByRole("alert").first().waitFor({ state: "detached" });
    await expect
      .poll(() => server.client.sources.get(source.id))
      .toMatchObject({ configured_props: { city: "Oslo" }, name_slug: "other", max_concurrency: 4, env: ["TOKEN"] });
  });

  it("in the files of a source and of a workflow", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("return 1;") }));
    const page = await openPage(server, `/sources/${source.id}/code`);
    const editor = page.locator(".cm-content");
    for (const [path, comment, pattern] of [
      [`/sources/${source.id}/code`, "// typed here", /\/v1\/sources\//],
      [`/workflows/${workflow.id}/files`, "# typed here", /\/v1\/workflows\//],
    ] as const) {
      await page.goto(`${server.apiUrl}${path}`);
      await editor.click();
      await page.keyboard.press("Control+End");
      await page.keyboard.insertText(`\n${comment}`);
      const heal = await failing(page, "PUT", pattern);
      await page.keyboard.press("Control+s");
      await page.getByRole("alert").filter({ hasText: "Cannot do this" }).waitFor();
      expect(await editor.textContent()).toContain(comment);
      await heal();
      await page.keyboard.press("Control+s");
      await page.getByRole("alert").waitFor({ state: "detached" });
    }
  });

  it.each([360, 768, 1280])("in every dialog, which shows what failed and fits %i pixels", async (width) => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    await server.client.dataStores.create({ name: "box" });
    const workflow = await deployWorkflow(server, workflowOf({ bad: codeStep("throw new Error('x'.repeat(2000));") }, { head: "settings: { retries: 0 }\n" }));
    await workflow.run();
    const page = await openPage(server, "/sources", { viewport: { width, height: 800 } });
    const open = async (path: string, ...buttons: string[]): Promise<void> => {
      await page.goto(server.apiUrl + path);
      for (const name of buttons) await page.getByRole("button", { name, exact: true }).first().click();
      await page.getByRole("dialog").waitFor();
    };
    const fits = async (): Promise<void> => {
      const sizes = await page.getByRole("dialog").evaluate((dialog) => {
        const { left, right, top, bottom } = dialog.getBoundingClientRect();
        return { left, right, top, bottom, over: dialog.scrollWidth - dialog.clientWidth };
      });
      expect(sizes.left >= 0 && sizes.right <= width && sizes.top >= 0 && sizes.bottom <= 800 && sizes.over <= 0, JSON.stringify(sizes)).toBe(true);
    };
    const fails = async (submit: string): Promise<void> => {
      await page.getByRole("dialog").getByRole("button", { name: submit, exact: true }).click();
      const alert = page.getByRole("dialog").getByRole("alert").filter({ hasText: "Cannot do this" });
      await alert.waitFor();
      expect(await alert.textContent()).not.toContain("pd doctor");
      await fits();
    };
    await open("/webhooks?new=1");
    await page.getByLabel("Address").fill("https://example.com/hook");
    await failing(page, "POST", /\/v1\/webhooks$/);
    await fails("Create");
    expect(await page.getByLabel("Address").inputValue()).toBe("https://example.com/hook");
    // Escape asks before what was typed is lost.
    page.once("dialog", (dialog) => void dialog.dismiss());
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor();

    await open("/stores", "New data store");
    await page.getByLabel("Name").fill("other");
    await failing(page, "POST", /\/v1\/data_stores/);
    await fails("Create");
    expect(await page.getByLabel("Name").inputValue()).toBe("other");

    await open("/stores/box", "Delete…");
    await page.getByLabel(/to confirm/).fill("box");
    await failing(page, "DELETE", /\/v1\/data_stores/);
    await fails("Delete");

    await open(`/sources/${source.id}`, "Run now");
    await page.getByLabel("Event, as JSON").fill('{"a":1}');
    await failing(page, "POST", /\/run$/);
    await fails("Run");
    expect(await page.getByLabel("Event, as JSON").inputValue()).toBe('{"a":1}');

    await open(`/workflows/${workflow.id}/runs`, "Retry failed runs…");
    await page.getByRole("dialog").getByText("0 of 1 would succeed").waitFor();
    await page.getByRole("dialog").locator("summary").first().click();
    await fits();
    await failing(page, "POST", /\/rerun$/);
    await fails("Retry");
  });
});

describe("an address of the page", () => {
  it("has its title, also one of what does not exist", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    const page = await openPage(server);
    const titles = async (path: string, text: string): Promise<string> => {
      await page.goto(server.apiUrl + path);
      await page.getByText(text).first().waitFor();
      return page.title();
    };
    expect(await titles(`/sources/${source.id}/logs`, "Orders")).toBe("Orders · Logs · Headwater");
    expect(await titles("/webhooks", "No webhooks yet")).toBe("Webhooks · Headwater");
    expect(await titles("/nowhere", "There is nothing at /nowhere")).toBe("Page not found · Headwater");
    for (const [path, what] of [
      ["/sources/dc_none", "source"],
      ["/workflows/p_none", "workflow"],
      ["/webhooks/wh_none", "webhook"],
      ["/stores/none", "data store"],
    ] as const)
      await titles(path, `There is no such ${what}`);
    await titles(`/sources/${source.id}/nothing`, 'This source has no part "nothing"');
  });
});
