import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, pythonWorkflow, workflowOf } from "../support/workflows.ts";

const HEAP = `import v8 from "node:v8"; ${codeStep("return Math.round(v8.getHeapStatistics().heap_size_limit / 2 ** 20);")}`;
const NATIVE = `export default defineComponent({ async run() { try { process.dlopen({ exports: {} }, "/nowhere.node"); } catch (error) { return error.code; } } });`;
const ENDLESS = codeStep("await new Promise(() => {});");
/** Native code may not load. */
const REFUSED = "ERR_DLOPEN_DISABLED";

describe("limits that whoever deploys a workflow gives it", () => {
  it("are its own memory: its steps have it, and those of others do not", async () => {
    const server = await TestServer.start();
    const [large, ordinary] = [
      await deployWorkflow(server, workflowOf({ heap: HEAP }), { memory_mb: 700 }),
      await deployWorkflow(server, workflowOf({ heap: HEAP })),
    ];
    const heaps = [];
    for (const workflow of [large, ordinary, large]) heaps.push(exportsOf(await workflow.run(), "heap"));
    const [first, second, third] = heaps.map((heap) => Number((heap as { $return_value: number }).$return_value));
    expect(first).toBeGreaterThan(690);
    expect(second).toBeLessThan(400);
    expect(third).toBe(first);
    expect(large.record).toMatchObject({ memory_mb: 700 });
    await large.update({ memory_mb: null });
    expect(exportsOf(await large.run(), "heap")).toEqual({ $return_value: second });
  });

  it("are the memory of its steps in Python too", async () => {
    const server = await TestServer.start();
    const code = "def handler(pd):\n    text = bytearray(600 * 2 ** 20)\n    return len(text) // 2 ** 20\n";
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: code }));
    expect(await workflow.run()).toMatchObject({ state: "failed" });
    await workflow.update({ memory_mb: 900 });
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: 600 });
  });

  it("say that a step ran out of the memory that it had", async () => {
    const server = await TestServer.start();
    const hungry = codeStep("const all = []; for (;;) all.push(new Array(1e5).fill(1.5));");
    const run = await (await deployWorkflow(server, workflowOf({ hungry }), { memory_mb: 64 })).run();
    expect(run["failure"]).toMatchObject({ message: expect.stringContaining("64 MB") });
  });

  it("let its steps load native code, and those of no other", async () => {
    const server = await TestServer.start();
    const [trusted, other] = [
      await deployWorkflow(server, workflowOf({ load: NATIVE }), { allow_addons: true }),
      await deployWorkflow(server, workflowOf({ load: NATIVE })),
    ];
    const codes = [];
    for (const workflow of [trusted, other]) codes.push(exportsOf(await workflow.run(), "load"));
    expect(codes).toEqual([{ $return_value: "ERR_DLOPEN_FAILED" }, { $return_value: REFUSED }]);
    await trusted.update({ allow_addons: false });
    expect(exportsOf(await trusted.run(), "load")).toEqual({ $return_value: REFUSED });
  });

  it("do not let native code out where no wall holds it", async () => {
    const server = await TestServer.start({ sandboxUse: "belt" });
    await expect(deployWorkflow(server, workflowOf({ load: NATIVE }), { allow_addons: true })).rejects.toThrow(/this needs the wall/);
    expect(exportsOf(await (await deployWorkflow(server, workflowOf({ load: NATIVE }))).run(), "load")).toEqual({ $return_value: REFUSED });
  });

  it("are how long a step may take, whatever its file says", async () => {
    const server = await TestServer.start();
    const files = workflowOf({ endless: ENDLESS }, { head: "settings: { timeout: 3000 }\n" });
    const workflow = await deployWorkflow(server, files, { timeout_seconds: 0.3 });
    expect(await workflow.run()).toMatchObject({ state: "failed", failure: { message: expect.stringContaining("0.3 s") } });
    expect(workflow.record).toMatchObject({ timeout_seconds: 0.3, settings: { timeout: 0.3 } });
    expect((await workflow.update({ timeout_seconds: null }))["settings"]).toMatchObject({ timeout: 3000 });
  });

  it("stay with the workflow over other files and a start of the server", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(server, workflowOf({ heap: HEAP }), { memory_mb: 300, timeout_seconds: 9, allow_addons: true });
    await workflow.update({ files: workflowOf({ heap: HEAP, more: codeStep("return 1;") }) });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get(workflow.path)).toMatchObject({ version: 2, memory_mb: 300, timeout_seconds: 9, allow_addons: true });
  });

  it("are refused when they are none", async () => {
    const server = await TestServer.inMemory();
    const files = workflowOf({ a: codeStep("return 1;") });
    const wrong: [object, RegExp][] = [
      [{ memory_mb: 8 }, /memory_mb/],
      [{ memory_mb: "much" }, /memory_mb/],
      [{ memory_mb: 1e9 }, /memory_mb/],
      [{ timeout_seconds: 0 }, /timeout_seconds/],
      [{ timeout_seconds: 1e6 }, /timeout_seconds/],
      [{ allow_addons: "perhaps" }, /allow_addons/],
    ];
    for (const [limits, told] of wrong) await expect(server.api.post("/v1/workflows", { files, ...limits })).rejects.toThrow(told);
  });
});

describe("an action that is run once", () => {
  it("has the memory and the rights that are given with it", async () => {
    const server = await TestServer.start();
    const run = async (code: string, limits: object) => (await server.api.post("/v1/actions/run", { component_code: code, ...limits }))["ret"];
    const asAction = (code: string): string => code.replace("defineComponent({", 'defineComponent({ key: "a", name: "A", version: "0.0.1", type: "action", ');
    expect(Number(await run(asAction(HEAP), { memory_mb: 700 }))).toBeGreaterThan(690);
    expect(Number(await run(asAction(HEAP), {}))).toBeLessThan(400);
    expect([await run(asAction(NATIVE), { allow_addons: true }), await run(asAction(NATIVE), {})]).toEqual(["ERR_DLOPEN_FAILED", REFUSED]);
  });
});
