import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxUse } from "../../src/ports/runner.ts";
import { eventually } from "../support/eventually.ts";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";

const FS = 'import fs from "node:fs"; import os from "node:os"; import { join } from "node:path";';
const step = (run: string, props?: string): string => `${FS} ${codeStep(run, props)}`;
const SHOWN = "const look = (folder) => fs.readdirSync(folder, { recursive: true }).toSorted();";

async function kept(server: TestServer): Promise<readonly string[]> {
  return readdir(join(server.home, "run-files")).catch(() => []);
}

describe.each<SandboxUse>(["wall", "belt"])("/tmp of a run's steps, with the %s", (sandboxUse) => {
  it("is one: what a step has written, changed and removed, the next one finds so, under each of its names", async () => {
    const server = await TestServer.start({ sandboxUse });
    const workflow = await deployWorkflow(
      server,
      workflowOf({
        first: step(
          "fs.mkdirSync('/tmp/a/empty', { recursive: true }); fs.writeFileSync('/tmp/a/one', 'one'); fs.writeFileSync('/tmp/two', 'two'); fs.writeFileSync(join(os.tmpdir(), 'three'), Buffer.alloc(400_000, 'x'), { mode: 0o755 });",
        ),
        second: step("fs.appendFileSync('/tmp/a/one', '!'); await fs.promises.rm('/tmp/two');"),
        third: step(
          `${SHOWN} return [look('/tmp'), fs.readFileSync('/tmp/a/one', 'utf8'), fs.readFileSync(join(os.tmpdir(), 'three')).length, fs.statSync('/tmp/three').mode & 0o100];`,
        ),
      }),
    );
    const run = await workflow.run();
    expect(exportsOf(run, "third")).toEqual({ $return_value: [["a", "a/empty", "a/one", "three"], "one!", 400_000, 0o100] });
    await eventually(async () => (await kept(server)).length === 0);
  });

  it("is seen by no other run, whichever process they share", async () => {
    const server = await TestServer.start({ sandboxUse });
    const code = step(
      `${SHOWN} fs.writeFileSync('/tmp/' + steps.trigger.event.name, ''); await new Promise((done) => setTimeout(done, 50)); return look('/tmp');`,
    );
    const workflow = await deployWorkflow(server, workflowOf({ write: code, read: step(`${SHOWN} return look('/tmp');`) }));
    const runs = await Promise.all(["a", "b", "c", "d"].map((name) => workflow.run({ name })));
    expect(runs.map((run) => [exportsOf(run, "write"), exportsOf(run, "read")])).toEqual(
      ["a", "b", "c", "d"].map((name) => [{ $return_value: [name] }, { $return_value: [name] }]),
    );
  });
});

describe("/tmp of a run's steps", () => {
  it("lives through waits and starts of the server, and goes with the run", async () => {
    const server = await TestServer.start();
    const files = workflowOf({
      first: step("fs.writeFileSync('/tmp/note', 'kept'); $.flow.suspend();"),
      second: step("return fs.readFileSync('/tmp/note', 'utf8');"),
    });
    const workflow = await deployWorkflow(server, files);
    const [waiting, cancelled] = [await workflow.run(), await workflow.run()];
    expect(await kept(server)).toHaveLength(2);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    await again.api.post(`/v1/runs/${String(cancelled["id"])}/cancel`);
    await eventually(async () => (await kept(again)).length === 1);
    await again.api.post(`/v1/runs/${String(waiting["id"])}/resume`);
    const ended = await eventually(async () => {
      const run = (await again.api.get(`/v1/runs/${String(waiting["id"])}`)) as { data: { state: string } };
      return run.data.state === "succeeded" && run;
    });
    expect(ended).toBeTruthy();
    expect(await again.api.get(`/v1/runs/${String(waiting["id"])}/steps`)).toMatchObject({ data: [{}, { exports: { $return_value: "kept" } }] });
    await eventually(async () => (await kept(again)).length === 0);
  });

  it("goes with its workflow", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(server, workflowOf({ first: step("fs.writeFileSync('/tmp/note', 'kept'); $.flow.suspend();") }));
    await workflow.run();
    await server.api.delete(workflow.path);
    await eventually(async () => (await kept(server)).length === 0);
  });

  it("of branches at the same time has what each has written", async () => {
    const server = await TestServer.start();
    const branch = (name: string): string => `    ${name}: [{ namespace: ${name}, uses: ./write.js, props: { name: ${name} } }]\n`;
    const yaml = `name: w\nsteps:\n- namespace: both\n  parallel:\n${branch("l")}${branch("r")}- { namespace: read, uses: ./read.js }\n`;
    const workflow = await deployWorkflow(server, {
      "workflow.yaml": yaml,
      "write.js": step("fs.writeFileSync('/tmp/' + this.name, this.name);", 'name: "string"'),
      "read.js": step(`${SHOWN} return look('/tmp');`),
    });
    expect(exportsOf(await workflow.run(), "read")).toEqual({ $return_value: ["l", "r"] });
  });

  it("fails the step that leaves more than there may be, and says so", async () => {
    const server = await TestServer.start({ sandboxUse: "belt" });
    const workflow = await deployWorkflow(
      server,
      workflowOf({
        most: step("for (const name of ['one', 'two']) { fs.writeFileSync('/tmp/' + name, ''); fs.truncateSync('/tmp/' + name, 300 * 2 ** 20); }"),
      }),
    );
    const run = await workflow.run();
    expect(run["failure"]).toMatchObject({
      namespace: "most",
      message: expect.stringContaining("the files of one run in /tmp may have 512 MB, and these have 600: remove files"),
    });
  });
});

describe("programs that a step starts", () => {
  const yaml = {
    first: step("fs.writeFileSync('/tmp/in.txt', 'from the step');"),
    second: `import { execSync } from "node:child_process"; ${step("execSync('tr a-z A-Z < $TMPDIR/in.txt > $TMPDIR/out.txt'); return execSync('cat $TMPDIR/out.txt').toString();")}`,
  };

  it("are refused where nobody has allowed them, with what allows them", async () => {
    const server = await TestServer.start({ sandboxUse: "wall" });
    const run = await (await deployWorkflow(server, workflowOf(yaml))).run();
    expect(run["failure"]).toMatchObject({ namespace: "second", message: expect.stringContaining("--allow-run true") });
  });

  it("see the files of their run, and those of no other, where they are allowed", async () => {
    const server = await TestServer.start({ sandboxUse: "wall" });
    const workflow = await deployWorkflow(server, workflowOf(yaml), { allow_run: true });
    expect(workflow.record["allow_run"]).toBe(true);
    const runs = await Promise.all([1, 2, 3].map(() => workflow.run()));
    expect(runs.map((run) => exportsOf(run, "second"))).toEqual([1, 2, 3].map(() => ({ $return_value: "FROM THE STEP" })));
    await workflow.update({ name: "Renamed" });
    expect((await workflow.run())["state"]).toBe("succeeded");
    await workflow.update({ allow_run: false });
    expect((await workflow.run())["state"]).toBe("failed");
  });

  it("are allowed to an action that is run by itself, for as long as it may take", async () => {
    const server = await TestServer.start({ sandboxUse: "wall" });
    const code =
      'import { execSync } from "node:child_process"; export default { name: "a", version: "1", type: "action", run() { return execSync("echo hi").toString(); } };';
    expect(await server.api.post("/v1/actions/run", { component_code: code, allow_run: true })).toMatchObject({ ret: "hi\n" });
    const slow = 'export default { name: "a", version: "1", type: "action", run: () => new Promise(() => setInterval(() => {}, 1000)) };';
    expect(await server.api.post("/v1/actions/run", { component_code: slow, timeout_seconds: 0.3 })).toMatchObject({ outcome: "timed-out" });
  });
});
