import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";

/** Most homes are outside /tmp. */
async function homeElsewhere(): Promise<string> {
  const home = await mkdtemp(join("/var/tmp", "headwater-test-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

it("native code of a step sees the files of its run in /tmp, and what it writes there is seen by the next step", async () => {
  const server = await TestServer.start({ home: await homeElsewhere(), allowAddons: "true" });
  const imports = 'import fs from "node:fs"; import sharp from "sharp"; ';
  const draw = `${imports}${codeStep("fs.writeFileSync('/tmp/a.svg', '<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"' + steps.trigger.event.n + '\" height=\"2\"/>'); await sharp('/tmp/a.svg').png().toFile('/tmp/b.png');")}`;
  const look = `${imports}${codeStep("return (await sharp('/tmp/b.png').metadata()).width + fs.readdirSync('/tmp').length;")}`;
  const workflow = await deployWorkflow(server, workflowOf({ draw, look }));
  const runs = await Promise.all([10, 20, 30].map((n) => workflow.run({ n })));
  expect(runs.map((run) => exportsOf(run, "look"))).toEqual([12, 22, 32].map(($return_value) => ({ $return_value })));
});

it("a workflow, and an action that is run once, load native code of packages where they were let, on a server that does not", async () => {
  const server = await TestServer.start({ home: await homeElsewhere() });
  const draw = `import sharp from "sharp"; ${codeStep('return (await sharp(Buffer.from(\'<svg xmlns="http://www.w3.org/2000/svg" width="7" height="2"/>\')).png().toBuffer({ resolveWithObject: true })).info.width;')}`;
  await expect(deployWorkflow(server, workflowOf({ draw }))).rejects.toMatchObject({
    code: "PD_LOAD_FAILED",
    fix: expect.stringContaining("give this flag to the workflow"),
  });
  const workflow = await deployWorkflow(server, workflowOf({ draw }), { allow_addons: true });
  expect(exportsOf(await workflow.run(), "draw")).toEqual({ $return_value: 7 });
  const action = draw.replace("defineComponent({", 'defineComponent({ key: "draw", name: "Draw", version: "0.0.1", type: "action",');
  expect(await server.api.post("/v1/actions/run", { component_code: action, allow_addons: true })).toMatchObject({ ret: 7 });
});
