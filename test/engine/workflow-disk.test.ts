import { expect, it, onTestFinished } from "vitest";
import { readSettings } from "../../src/config.ts";
import { PdError } from "../../src/domain/errors.ts";
import { startRuntime } from "../../src/runtime.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { silentLog } from "../../src/system/log.ts";
import { temporaryFolder } from "../support/home.ts";
import { startHttpServer } from "../support/http-server.ts";
import { InProcessRunner } from "../../src/testing/in-process-runner.ts";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

async function withFullDisk(refusals: number): Promise<TestServer> {
  const [home, runner] = [await temporaryFolder(), new InProcessRunner()];
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const store = memoryStore(new Shelves({ userId: "u_testers", workspaceId: "o_testers" }));
  let left = refusals;
  const full: typeof store = {
    ...store,
    async commit(run) {
      if (run.step !== undefined && left-- > 0) throw new PdError("PD_NOT_STORED", "the disk is full");
      return store.commit(run);
    },
  };
  const flags = { home, port: "0", endpointPort: "0", keyringUse: "never", sandboxUse: "belt" };
  return TestServer.of(home, await startRuntime(readSettings({ flags, environment: {}, file: {} }), silentLog, { plugs: { store: full, runner } }));
}

it("what a step has done is kept until the disk has room, and not done again", async () => {
  let asked = 0;
  const url = await startHttpServer((_request, response) => response.end(String(++asked)));
  const server = await withFullDisk(2);
  const ask = codeStep(`return await (await fetch("${url}")).text();`);
  const workflow = await deployWorkflow(server, workflowOf({ ask, tell: codeStep("return steps.ask.$return_value;") }, { head: "settings: { retries: 0 }\n" }));
  const run = await workflow.run();
  expect([run["state"], asked, run.steps.map(({ exports }) => exports)]).toEqual(["succeeded", 1, [{ $return_value: "1" }, { $return_value: "1" }]]);
});
