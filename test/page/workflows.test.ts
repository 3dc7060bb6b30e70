import { describe, expect, it } from "vitest";
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
