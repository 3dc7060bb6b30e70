import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";
import { keys, mouse } from "./hands.ts";
import { ORDERS, openPage } from "./open-page.ts";

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
  it.each(["mouse", "keyboard"])(
    "by %s: begins as an example, gets an action with what an earlier step left, a branch and a loop; it is undone, and its files deploy elsewhere",
    async (device) => {
      const [server, other] = [await withActions(), await withActions()];
      const page = await openPage(server, "/workflows");
      const hand = device === "mouse" ? mouse() : keys(page);
      await hand.press(page.getByRole("button", { name: "New workflow" }));
      await hand.fill(page.getByLabel("Name"), "Built");
      await hand.press(page.getByRole("button", { name: "Create" }));
      await page.getByRole("heading", { name: "Built" }).waitFor();
      const graph = page.getByRole("list", { name: "Steps" }).first();
      const isDone = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).and(page.locator(":disabled")).waitFor();
      await hand.press(graph.getByRole("button", { name: "code", exact: true }));
      await hand.press(page.locator(".cm-content"));
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText("export default async () => ({ who: 'Ada', lines: [1, 2] });");
      await page.keyboard.press("Control+s");
      await isDone("Save code");
      await page.keyboard.press("Escape");
      const dialog = page.getByRole("dialog");
      const run = async (): Promise<void> => {
        await hand.press(page.getByRole("button", { name: "Run now" }));
        await hand.choose(dialog.getByLabel("Take an event from"), "A sample request");
        await hand.press(dialog.getByRole("button", { name: "Run", exact: true }));
        await page.locator("h2 .state.good", { hasText: "succeeded" }).waitFor();
        await hand.press(page.getByRole("link", { name: "Steps" }));
      };
      await run();
      await hand.press(graph.getByRole("button", { name: "code", exact: true }));
      await page.getByRole("region", { name: "Last result" }).getByText("Ada").waitFor();
      await hand.press(page.getByRole("button", { name: "Add a step after it" }));
      await hand.press(dialog.getByRole("button", { name: /^Action/ }));
      await hand.fill(dialog.getByRole("searchbox"), "greet");
      await hand.press(dialog.getByRole("button", { name: /Greet Person/ }));
      await hand.press(dialog.getByRole("button", { name: "Insert into Who" }));
      await hand.press(dialog.getByRole("button", { name: "{{steps.code.$return_value.who}}" }));
      await hand.press(dialog.getByRole("button", { name: "Add the step" }));
      await graph.getByRole("button", { name: "greet_person", exact: true }).waitFor();
      for (const kind of ["Branch", "Loop"]) {
        await hand.press(page.getByRole("button", { name: "Add a step after it" }));
        await hand.press(dialog.getByRole("button", { name: new RegExp(`^${kind}`) }));
        await dialog.waitFor({ state: "detached" });
      }
      await hand.fill(page.getByRole("textbox", { name: "List" }), "{{steps.code.$return_value.lines}}");
      await page.keyboard.press("Enter");
      await isDone("Save");
      await hand.press(page.getByRole("button", { name: "Move up" }));
      await expect.poll(async () => orderOf(await filesIn(server))).toEqual(["code", "greet_person", "each", "code_3", "branch", "code_2"]);
      await hand.press(page.getByRole("button", { name: "Undo" }));
      await expect.poll(async () => orderOf(await filesIn(server))).toEqual(["code", "greet_person", "branch", "code_2", "each", "code_3"]);
      await hand.press(page.getByRole("button", { name: "Redo" }));
      await expect.poll(async () => orderOf(await filesIn(server))).toEqual(["code", "greet_person", "each", "code_3", "branch", "code_2"]);
      await run();
      await hand.press(graph.getByRole("button", { name: "greet_person", exact: true }));
      await page.getByRole("region", { name: "Last result" }).getByText("Hello Ada").waitFor();
      await hand.press(page.getByRole("button", { name: "Try this step" }));
      await page.getByRole("region", { name: "What the step would do" }).getByText("Hello Ada").waitFor();
      await hand.press(page.getByRole("button", { name: "Rerun from here" }));
      await page.getByText(/^Compared with run_/).waitFor();
      const copy = await other.client.workflows.deploy({ files: { ...(await filesIn(server)) } });
      expect(copy.steps.map(({ namespace }) => namespace)).toEqual(["code", "greet_person", "each", "branch"]);
    },
  );

  it("gets triggers: a schedule, and the events of a source, and loses one", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("return 1;") }, { head }));
    const page = await openPage(server, `/workflows/${workflow.id}/steps`);
    const triggers = page.getByRole("region", { name: "Triggers" });
    for (const [kind, label, choice] of [
      ["A schedule", "Kind of schedule", "Cron expression"],
      ["Events of a source or workflow", "Whose events", `Orders (${source.name_slug})`],
    ] as const) {
      await triggers.getByRole("button", { name: "Add a trigger…" }).click();
      await page.getByRole("dialog").getByLabel("Kind of trigger").selectOption(kind);
      await page.getByRole("dialog").getByLabel(label).selectOption(choice);
      await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    page.once("dialog", (dialog) => void dialog.accept());
    await triggers.getByRole("button", { name: "Remove the trigger HTTP 1" }).click();
    await expect.poll(async () => (await server.client.workflows.get(workflow.id)).triggers.map(({ kind }) => kind)).toEqual(["schedule", "events"]);
    await server.client.sources.run(source.id, { event: { body: { id: "z" } } });
    await workflow.runsOnce(1);
  });

  it("keeps what is typed while the page looks for news", async () => {
    const { server, workflow } = await withFailedRun();
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    await page.getByRole("button", { name: "Add a step after it" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Action/ })
      .click();
    await page.getByRole("dialog").getByRole("searchbox").and(page.locator(":focus")).waitFor();
    await page.getByRole("textbox", { name: "App" }).focus();
    await page.keyboard.type("help");
    const looked = page.waitForResponse(/\/steps$/);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await looked;
    await page.getByRole("textbox", { name: "App" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("er_functions");
    expect(await page.getByRole("textbox", { name: "App" }).inputValue()).toBe("helper_functions");
  });

  it("is renamed with what reads it, deleted when it is an action, and shows each item of a loop in the version that ran", async () => {
    const server = await withActions();
    const yaml = `schema: workflow/2022.04
name: Loops
settings: { retries: 0 }
triggers:
- http: {}
steps:
- namespace: list
  uses: ./list/entry.mjs
- namespace: greet
  uses: greet-person
  props: { who: "{{steps.list.$return_value[0]}}" }
- namespace: each
  for_each: "{{steps.list.$return_value}}"
  steps:
  - namespace: part
    uses: ./part/entry.mjs
`;
    const workflow = await deployWorkflow(server, {
      "workflow.yaml": yaml,
      "list/entry.mjs": codeStep("return ['cup', 'pot', 'pan'];"),
      "part/entry.mjs": codeStep("if (steps.each.item === 'pot') throw new Error('no ' + steps.each.item); return steps.list.$return_value.length;"),
    });
    await workflow.run({ body: 1 });
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=part`);
    // The failed item is tried, not the first.
    await page.getByRole("button", { name: "Try this step" }).click();
    const tried = page.getByRole("region", { name: "What the step would do" });
    await tried.getByText("Tried with item 2, nothing was stored").waitFor();
    await tried.getByText("Error: no pot").waitFor();
    await page.getByRole("button", { name: "list", exact: true }).click();
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByRole("button", { name: "Rename…" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("greet");
    await page.getByText("A step has this name").waitFor();
    await page.getByRole("dialog").getByLabel("Name").fill("goods");
    await page.getByRole("dialog").getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("heading", { name: "goods" }).waitFor();
    const renamed = await filesIn(server);
    expect(renamed["workflow.yaml"]).toContain('for_each: "{{steps.goods.$return_value}}"');
    expect(renamed["part/entry.mjs"]).toContain("steps.goods.$return_value.length");
    await page.getByRole("button", { name: "greet", exact: true }).click();
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Choose a step").waitFor();
    await page.getByRole("button", { name: "part", exact: true }).click();
    await page.getByRole("heading", { name: "part" }).waitFor();
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("list", { name: "Runs" }).getByRole("button").first().click();
    // The failed step, of the version that ran.
    const detail = page.getByRole("region", { name: "Step part" });
    await detail.getByText("Error: no pot").waitFor();
    await page.getByRole("list", { name: "Steps" }).getByText("greet-person").waitFor();
    await detail.getByLabel("Item").selectOption("item 1: done");
    await detail.getByText("3", { exact: true }).first().waitFor();
    await detail.getByRole("link", { name: "Edit this step" }).click();
    await page.getByRole("heading", { name: "part" }).waitFor();
    await page.getByRole("region", { name: "Last result" }).getByText("no pot").waitFor();
  });

  it("tells of a change that somebody else has made meanwhile, and loses nothing", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("return 1;"), two: codeStep("return 2;") }));
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    await page.getByRole("button", { name: "Step", exact: true }).click();
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
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByRole("button", { name: "Duplicate" }).click();
    await page.getByRole("heading", { name: "two_2" }).waitFor();
    expect(JSON.stringify(await filesIn(server))).toContain("return 9;");
  });
});

/** With a workflow whose step `two` fails on what `one` left. */
async function withFailedRun() {
  const server = await TestServer.inMemory();
  const workflow = await deployWorkflow(
    server,
    workflowOf({ one: codeStep("return { n: 20 };"), two: codeStep("return steps.one.$return_value.m.k;") }, { head }),
  );
  await workflow.run();
  return { server, workflow };
}

async function type(page: Page, code: string, path = "two/entry.js"): Promise<void> {
  // An editor of another file may still be there.
  await page.getByRole("textbox", { name: `Code of ${path}` }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(code);
}

describe("what is typed in the builder", () => {
  it("is tried with what an earlier run gave the step, and saved and rerun from there in one action", async () => {
    const { server, workflow } = await withFailedRun();
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    await type(page, codeStep("console.log('got', steps.one.$return_value.n); return steps.one.$return_value.n + 1;"));
    await page.getByRole("button", { name: "Try this step" }).click();
    const tried = page.getByRole("region", { name: "What the step would do" });
    await tried.getByText("got 20").waitFor();
    await tried.getByText("21").first().waitFor();
    expect([(await workflow.runs()).length, (await server.client.workflows.get(workflow.id)).version]).toEqual([1, 1]);
    await page.getByRole("button", { name: "Save and rerun from here" }).click();
    await page.locator("h2 .state.good", { hasText: "succeeded" }).waitFor();
    expect((await server.client.workflows.get(workflow.id)).version).toBe(2);
  });

  it("survives a reload of the page, and is shown beside a change that was made meanwhile", async () => {
    const { server, workflow } = await withFailedRun();
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    page.on("dialog", (dialog) => void dialog.accept());
    await type(page, codeStep("return 'typed';"));
    await page.getByRole("list", { name: "Steps" }).getByText("not saved").waitFor();
    await page.getByRole("button", { name: "one", exact: true }).click();
    await page.reload();
    await page.getByRole("button", { name: "two", exact: true }).click();
    await page.locator(".cm-content").getByText("typed").waitFor();
    await server.client.workflows.update(workflow.id, {
      files: workflowOf({ one: codeStep("return { n: 20 };"), two: codeStep("return 'other';") }, { head }),
    });
    await page.reload();
    await page.locator(".cm-content").getByText("typed").waitFor();
    await page.getByText("This was changed elsewhere after you typed here.").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.locator(".cm-content").getByText("other").waitFor();
    await page.reload();
    await page.locator(".cm-content").getByText("other").waitFor();
  });

  it("survives a refused save and the reload after it", async () => {
    const { server, workflow } = await withFailedRun();
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    page.on("dialog", (dialog) => void dialog.accept());
    await type(page, codeStep("return 'mine';"));
    await server.client.workflows.update(workflow.id, {
      files: workflowOf({ one: codeStep("return { n: 20 };"), two: codeStep("return 'theirs';") }, { head }),
    });
    await page.getByRole("button", { name: "Save code" }).click();
    await page.getByRole("alert").filter({ hasText: "PD_CONFLICT" }).waitFor();
    await page.getByRole("button", { name: "Load it and keep what I typed" }).click();
    await page.getByText("This was changed elsewhere after you typed here.").waitFor();
    await page.locator(".cm-content").getByText("mine").waitFor();
    await page.reload();
    await page.getByText("This was changed elsewhere after you typed here.").waitFor();
    await page.locator(".cm-content").getByText("mine").waitFor();
    await page.getByRole("button", { name: "Save code" }).click();
    await page.getByText("Saved: version 3 is running").waitFor();
    expect((await filesIn(server))["two/entry.js"]).toContain("mine");
  });

  it("is not given to a new step, after its step was deleted", async () => {
    const { server, workflow } = await withFailedRun();
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=two`);
    await page.getByRole("button", { name: "Add a step after it" }).click();
    const addCode = page.getByRole("dialog").getByRole("button", { name: /^Code/ });
    await addCode.click();
    await page.getByRole("heading", { name: "code", exact: true }).waitFor();
    await type(page, "export default async () => 'lost';", "code/entry.mjs");
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Choose a step").waitFor();
    await page.getByRole("button", { name: "Add a first step" }).click();
    await addCode.click();
    await page.getByRole("heading", { name: "code", exact: true }).waitFor();
    await page.locator(".cm-content").getByText("defineComponent").waitFor();
  });

  it("keeps an action's props over a reload, but not its secrets", async () => {
    const server = await withActions();
    const workflow = await deployWorkflow(server, {
      "workflow.yaml": "schema: workflow/2022.04\nname: Acts\nsteps:\n- namespace: greet\n  uses: greet-person\n  props: { who: Ada, word: s3cret }\n",
    });
    const page = await openPage(server, `/workflows/${workflow.id}/steps?step=greet`);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByLabel("Who", { exact: true }).fill("Grace");
    await page.getByRole("textbox", { name: "Word" }).fill("0ther");
    await page.getByRole("list", { name: "Steps" }).getByText("not saved").waitFor();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toMatch(/0ther|s3cret/);
    await page.reload();
    await expect.poll(() => page.getByLabel("Who", { exact: true }).inputValue()).toBe("Grace");
    const files = await filesIn(server);
    await server.client.workflows.update(workflow.id, { files: { "workflow.yaml": (files["workflow.yaml"] ?? "").replace("Ada", "Bob") } });
    await page.reload();
    await page.getByText("This was changed elsewhere after you typed here.").waitFor();
    await page.getByRole("button", { name: "Save props" }).click();
    await expect.poll(async () => (await filesIn(server))["workflow.yaml"]).toMatch(/who: Grace, word: s3cret/);
  });
});

describe("the files of a workflow", () => {
  it("are added and deleted, also over a reload, and a step uses the new one", async () => {
    const { server, workflow } = await withFailedRun();
    const page = await openPage(server, `/workflows/${workflow.id}/files`);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "New file…" }).click();
    await page.getByLabel("Path in the folder").fill("../outside.mjs");
    await page.getByText("Expected a path inside the folder").waitFor();
    await page.getByLabel("Path in the folder").fill("lib/price.mjs");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await type(page, "export const price = 42;", "lib/price.mjs");
    await page.getByRole("button", { name: "two/entry.js" }).click();
    await type(page, `import { price } from "../lib/price.mjs";\n${codeStep("return price;")}`);
    await page.reload();
    await page.getByRole("button", { name: "lib/price.mjs ●" }).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved: version 2 is running").waitFor();
    expect(exportsOf(await workflow.run(), "two")).toEqual({ $return_value: 42 });
    await page.getByRole("button", { name: "lib/price.mjs" }).click();
    await page.getByRole("button", { name: "Delete file" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "lib/price.mjs" }).waitFor();
    await page.getByRole("button", { name: "two/entry.js" }).click();
    await type(page, codeStep("return 1;"));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved: version 3 is running").waitFor();
    expect(Object.keys(await filesIn(server)).toSorted()).toEqual(["one/entry.js", "two/entry.js", "workflow.yaml"]);
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
    'export default { key: "greet-person", name: "Greet Person", description: "Greets", version: "0.0.1", type: "action", props: { who: { type: "string", label: "Who" }, word: { type: "string", label: "Word", secret: true, optional: true } }, run() { return "Hello " + this.who; } };',
  );
  const server = await TestServer.inMemory();
  await server.client.registries.remove("pipedream");
  await server.client.registries.add({ name: "mine", kind: "folder", location: folder });
  return server;
}
