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

type Change = (store: MemoryStore) => Partial<MemoryStore>;
type MemoryStore = ReturnType<typeof memoryStore>;

async function withStore(change: Change): Promise<TestServer> {
  const [home, runner] = [await temporaryFolder(), new InProcessRunner()];
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const store = memoryStore(new Shelves({ userId: "u_testers", workspaceId: "o_testers" }));
  const flags = { home, port: "0", endpointPort: "0", keyringUse: "never", sandboxUse: "belt" };
  return TestServer.of(
    home,
    await startRuntime(readSettings({ flags, environment: {}, file: {} }), silentLog, { plugs: { store: { ...store, ...change(store) }, runner } }),
  );
}

function withFullDisk(refusals: number): Promise<TestServer> {
  let left = refusals;
  return withStore((store) => ({
    async commit(run) {
      if (run.step !== undefined && left-- > 0) throw new PdError("PD_NOT_STORED", "the disk is full");
      return store.commit(run);
    },
  }));
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

it("a step goes on once the database answers again, and does not fail for it", async () => {
  let refusals = 0;
  const server = await withStore((store) => ({
    async createDataStore(name, at) {
      if (refusals-- > 0) throw new PdError("PD_DATABASE_UNREACHABLE", "Cannot read from PostgreSQL: Connection terminated unexpectedly");
      return store.createDataStore(name, at);
    },
  }));
  const files = workflowOf({ first: codeStep("return 1;", 'ds: { type: "data_store" }') });
  const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": `${files["workflow.yaml"]}  props: { ds: orders }\n` });
  refusals = 1;
  const run = await workflow.run();
  expect(run["state"]).toBe("succeeded");
  expect(refusals).toBeLessThan(0);
});
