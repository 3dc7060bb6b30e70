import { describe, expect, it } from "vitest";
import { Receiver } from "../support/receiver.ts";
import { TestServer } from "../support/runtime.ts";
import { deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";

async function exported(code: string, event = {}): Promise<unknown> {
  const server = await TestServer.start();
  const workflow = await deployWorkflow(server, workflowOf({ old: code }));
  const run = await workflow.run(event);
  return run["state"] === "succeeded" ? exportsOf(run, "old") : run;
}

describe("a legacy step", () => {
  it.each([
    ["a function", "async (event, steps) => {\n  return { n: event.n, same: steps.trigger.event === event };\n}", { $return_value: { n: 1, same: true } }],
    [
      "a function with its end marked, and comments",
      "// Of 2020\nasync (event, steps, params, auths) => {\n  return Object.keys(auths);\n};\n// end",
      { $return_value: [] },
    ],
    ["a named function", "async function run(event) { this.x = event.n; }", { x: 1 }],
    ["a body that returns", "const n = event.n + 1;\nreturn n;", { $return_value: 2 }],
    ["a body that exports", "this.a = await Promise.resolve(steps.trigger.event.n);\nthis.list = [1];", { a: 1, list: [1] }],
    ["a body that requires", "const { format } = require('util');\nthis.text = format('%d!', event.n);", { text: "1!" }],
    ["a body that imports", "import { format } from 'node:util';\nreturn format('%d', event.n);", { $return_value: "1" }],
    ["a body with its own copy of the event", "$event.more = true;\nreturn [$event.more, event.more];", { $return_value: [true, null] }],
  ])("runs: %s", async (_name, code, expected) => {
    expect(await exported(code, { n: 1 })).toEqual(expected);
  });

  it("runs nothing while it is deployed, is told of, and answers when it runs", async () => {
    const asked = await Receiver.start();
    const server = await TestServer.start();
    const code = `await fetch(${JSON.stringify(asked.url)});\nawait $respond({ status: 201, body: "x" });\nthis.done = true;`;
    const files = workflowOf({ old: code, after: "return steps.old.done;" }, { head: "triggers:\n- http: { custom_response: true }\n" });
    const workflow = await deployWorkflow(server, files);
    expect(asked.received).toHaveLength(0);
    expect(JSON.stringify(workflow.record["warnings"])).toContain("entry.js has no export: it runs as a legacy step");
    const answer = await fetch(workflow.endpoint);
    expect([answer.status, await answer.text(), asked.received.length]).toEqual([201, "x", 1]);
  });

  it("ends the run where it says so, and not only itself", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(server, workflowOf({ old: "this.before = 1;\n$end('enough');\nthis.after = 1;", never: "this.x = 1;" }));
    const run = await workflow.run();
    expect([run["state"], run["reason"], run.steps.map(({ namespace, exports }) => [namespace, exports])]).toEqual([
      "succeeded",
      "enough",
      [["old", { before: 1 }]],
    ]);
  });

  it("keeps its checkpoint, and that of its workflow, from run to run and through updates", async () => {
    const server = await TestServer.start();
    const code = (more: string): string =>
      `this.$checkpoint = (this.$checkpoint ?? 0) + 1;\n$checkpoint = [...($checkpoint ?? []), this.$checkpoint];\nreturn $checkpoint;${more}`;
    const workflow = await deployWorkflow(server, workflowOf({ old: code(""), other: "return [this.$checkpoint, $checkpoint];" }));
    await workflow.run();
    await workflow.update({ files: workflowOf({ old: code("// saved"), other: "return [this.$checkpoint, $checkpoint];" }) });
    const run = await workflow.run();
    expect([exportsOf(run, "old"), exportsOf(run, "other")]).toEqual([{ $return_value: [1, 2] }, { $return_value: [null, [1, 2]] }]);
  });

  it("has accounts as auths and values as params", async () => {
    const server = await TestServer.start();
    await server.api.post("/v1/accounts", { app: "demo", name: "mine", credentials: { oauth_access_token: "t" } });
    const files = workflowOf({ old: "const { demo } = auths;\nreturn [demo.oauth_access_token.length, params.colour];" });
    const yaml = `${files["workflow.yaml"] ?? ""}  props: { demo: { authProvisionId: apn_old }, colour: red }\n`;
    expect(exportsOf(await (await deployWorkflow(server, { ...files, "workflow.yaml": yaml })).run(), "old")).toEqual({ $return_value: [1, "red"] });
  });

  it("fails in the line in which it throws, and keeps what it has exported before", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(server, workflowOf({ old: "this.x = 1;\n\nthrow new Error('no');" }));
    const run = await workflow.run();
    expect(run.steps[0]).toMatchObject({ state: "failed", exports: { x: 1 }, error: { stack: expect.stringMatching(/old\/entry\.js:3:/) } });
  });

  it("is none where something is exported, in whichever way", async () => {
    const server = await TestServer.start();
    for (const code of [
      "module.exports = { async run() { return 1; } };",
      "exports.run = async () => 1;",
      "const it = { run: () => 1 }; export default it;",
      "export { it as default }; const it = () => 1;",
    ]) {
      const workflow = await deployWorkflow(server, workflowOf({ now: code }));
      expect([JSON.stringify(workflow.record["warnings"]), exportsOf(await workflow.run(), "now")]).toEqual(["[]", { $return_value: 1 }]);
    }
  });

  it("runs as an action by itself, and nothing of it before", async () => {
    const server = await TestServer.start();
    expect(await server.api.post("/v1/actions/run", { component_code: "this.n = 1; return 2;", component_path: "old.js" })).toMatchObject({
      outcome: "returned",
      exports: { n: 1 },
      ret: 2,
    });
  });
});
