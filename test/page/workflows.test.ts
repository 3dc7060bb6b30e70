import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";
import { openPage } from "./open-page.ts";

const head = "settings: { retries: 0 }\ntriggers:\n- http: {}\n";
const broken = { first: codeStep("console.log('counting'); return 20;"), second: codeStep("return steps.first.$return_value + missing;") };

describe("a workflow on the page", () => {
  it("is in the list, runs by hand, and shows where a run is and what its steps left", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ first: broken.first, wait: codeStep("$.flow.suspend();"), last: codeStep("return steps.wait.$resume_data;") }, { head }),
    );
    const page = await openPage(server, "/workflows");
    await page.getByRole("link", { name: "Test flow" }).click();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { name: "waiting" }).waitFor();
    await page.getByRole("button", { name: "first", exact: true }).click();
    await page.getByRole("region", { name: "Step first" }).getByText("counting").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("heading", { name: "succeeded" }).waitFor();
    const [run] = await workflow.runs();
    expect(exportsOf(await workflow.rest(run ?? {}), "first")).toEqual({ $return_value: 20 });
  });

  it("is mended in its files; a run goes again from a step beside how it was, and failed ones are tried and let go together", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf(broken, { head }));
    for (const n of [1, 2]) await workflow.run({ n });
    const page = await openPage(server, `/workflows/${workflow.id}/files`);
    await page.getByRole("button", { name: "second/entry.js" }).click();
    await page.getByRole("textbox", { name: "Code of second/entry.js" }).click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(codeStep("return steps.first.$return_value + 1;"));
    await page.keyboard.press("Control+s");
    await page.getByText("Saved: version 2 is running").waitFor();
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("list", { name: "Runs" }).getByRole("button").first().click();
    await page.getByRole("button", { name: "Rerun from where it ended" }).click();
    await page.getByRole("heading", { name: "succeeded" }).waitFor();
    await page.getByText('+ second {"$return_value":21}').waitFor();
    await page.getByRole("button", { name: "Retry failed runs…" }).click();
    await page.getByText("1 of 1 would succeed.").waitFor();
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    expect(await workflow.runsOnce(2)).toHaveLength(2);
  });
});

describe("a workflow in the builder", () => {
  it("begins as an example, gets an action with what an earlier step left, a branch and a loop; it is undone, and its files deploy elsewhere as they are", async () => {
    const [server, other] = [await withActions(), await withActions()];
    const page = await openPage(server, "/workflows");
    await page.getByRole("button", { name: "New workflow" }).click();
    await page.getByLabel("Name").fill("Built");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Built" }).waitFor();
    const graph = page.getByRole("list", { name: "Steps" }).first();
    await graph.getByRole("button", { name: "code", exact: true }).click();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText("export default async () => ({ who: 'Ada', lines: [1, 2] });");
    await page.getByRole("button", { name: "Save code" }).click();
    await page.getByRole("button", { name: "Save code" }).and(page.locator(":disabled")).waitFor();
    const run = async (): Promise<void> => {
      await page.getByRole("button", { name: "Run now" }).click();
      await page.getByRole("dialog").getByLabel("Take an event from").selectOption("A sample request");
      await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
      await page.locator("h2 .state.good", { hasText: "succeeded" }).waitFor();
      await page.getByRole("link", { name: "Steps" }).click();
    };
    await run();
    await graph.getByRole("button", { name: "code", exact: true }).click();
    await page.getByRole("region", { name: "Last result" }).getByText("Ada").waitFor();
    await page.getByRole("button", { name: "Add a step after it" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /^Action/ }).click();
    await dialog.getByRole("searchbox").fill("greet");
    await dialog.getByRole("button", { name: /Greet Person/ }).click();
    await dialog.getByLabel("Insert into Who").selectOption("{{steps.code.$return_value.who}}");
    await dialog.getByRole("button", { name: "Add the step" }).click();
    await graph.getByRole("button", { name: "greet_person", exact: true }).waitFor();
    for (const kind of ["Branch", "Loop"]) {
      await page.getByRole("button", { name: "Add a step after it" }).click();
      await dialog.getByRole("button", { name: new RegExp(`^${kind}`) }).click();
      await dialog.waitFor({ state: "detached" });
    }
    await page.getByLabel("List").fill("{{steps.code.$return_value.lines}}");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Save", exact: true }).and(page.locator(":disabled")).waitFor();
    await page.getByRole("button", { name: "Move up" }).click();
    await expect.poll(async () => orderOf(await filesIn(server))).toEqual(["code", "greet_person", "each", "code_3", "branch", "code_2"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => orderOf(await filesIn(server))).toEqual(["code", "greet_person", "branch", "code_2", "each", "code_3"]);
    await page.getByRole("button", { name: "Redo" }).click();
    await expect.poll(async () => orderOf(await filesIn(server))).toEqual(["code", "greet_person", "each", "code_3", "branch", "code_2"]);
    await run();
    await graph.getByRole("button", { name: "greet_person", exact: true }).click();
    await page.getByRole("region", { name: "Last result" }).getByText("Hello Ada").waitFor();
    await page.getByRole("button", { name: "Rerun the last run from here" }).click();
    await page.getByText(/^Compared with run_/).waitFor();
    const copy = await other.client.workflows.deploy({ files: { ...(await filesIn(server)) } });
    expect(copy.steps.map(({ namespace }) => namespace)).toEqual(["code", "greet_person", "each", "branch"]);
  });

  it("tells of a change that somebody else has made meanwhile, and loses nothing", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("return 1;"), two: codeStep("return 2;") }));
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    await page.getByRole("button", { name: "Duplicate" }).waitFor();
    let isFirst = true;
    await page.route(/\/v1\/workflows\//, async (route) => {
      if (route.request().method() !== "PUT" || !isFirst) return route.fallback();
      isFirst = false;
      await server.client.workflows.update(workflow.id, { files: workflowOf({ one: codeStep("return 9;"), two: codeStep("return 2;") }) });
      await route.continue();
    });
    await page.getByRole("button", { name: "Duplicate" }).click();
    await page.getByRole("alert").filter({ hasText: "PD_CONFLICT" }).waitFor();
    await page.getByText("version 2", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Duplicate" }).click();
    await page.getByRole("heading", { name: "two_2" }).waitFor();
    expect(JSON.stringify(await filesIn(server))).toContain("return 9;");
  });
});

async function filesIn(server: TestServer): Promise<Readonly<Record<string, string>>> {
  const [workflow] = (await server.client.workflows.list()).data;
  return (await server.client.workflows.files(workflow?.id ?? "")).files;
}

function orderOf(files: Readonly<Record<string, string>>): string[] {
  return [...(files["workflow.yaml"] ?? "").matchAll(/namespace: (\w+)/g)].map(([, name = ""]) => name);
}

async function withActions(): Promise<TestServer> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "components", "greet", "actions", "person"), { recursive: true });
  await writeFile(
    join(folder, "components", "greet", "actions", "person", "person.mjs"),
    'export default { key: "greet-person", name: "Greet Person", description: "Greets", version: "0.0.1", type: "action", props: { who: { type: "string", label: "Who" } }, run() { return "Hello " + this.who; } };',
  );
  const server = await TestServer.inMemory();
  await server.client.registries.remove("pipedream");
  await server.client.registries.add({ name: "mine", kind: "folder", location: folder });
  return server;
}
