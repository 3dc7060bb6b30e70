import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import type { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";
import { eventually } from "../support/eventually.ts";
import { startAttacked } from "./attacked-server.ts";

async function works(server: TestServer): Promise<void> {
  const run = await (await deployWorkflow(server, workflowOf({ only: codeStep("return 1;") }))).run();
  expect(run["state"]).toBe("succeeded");
}

const file = (steps: string): Record<string, string> => ({ "workflow.yaml": `name: x\nsteps:\n${steps}`, "a.js": codeStep("return 1;") });
const nested = (depth: number): string =>
  Array.from({ length: depth }, (_, n) => `${"  ".repeat(n)}- namespace: n${n}\n${"  ".repeat(n)}  if: true\n${"  ".repeat(n)}  then:\n`).join("");

describe("a workflow's file", () => {
  it.each([
    [
      "aliases that grow",
      {
        "workflow.yaml": `a: &a [x,x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e", "f", "g", "h"].map((name, n) => `${name}: &${name} [${`*${"abcdefg"[n]},`.repeat(10)}]`).join("\n")}\nname: x\nsteps: *h\n`,
      },
    ],
    ["steps inside each other without end", file(nested(500))],
    ["too many steps", file(Array.from({ length: 5000 }, (_, n) => `- { namespace: s${n}, uses: ./a.js }`).join("\n"))],
    ["paths that lead out", file("- { namespace: a, uses: ./../../etc/passwd.js }")],
    ["names of prototypes", file("- { namespace: __proto__, uses: ./a.js }")],
    ["no YAML at all", { "workflow.yaml": "\u0000".repeat(1000) }],
  ])("is refused in good time: %s", async (_title, files) => {
    const { server } = await startAttacked({});
    const began = performance.now();
    await expect(deployWorkflow(server, files)).rejects.toMatchObject({ code: expect.stringMatching(/^PD_(BUILD_FAILED|BAD_INPUT)$/) });
    expect(performance.now() - began).toBeLessThan(10_000);
    await works(server);
  });
});

describe("a step", () => {
  it.each([
    ["an expression without end", codeStep("return 1;", 'n: "any"'), "{{(() => { for (;;); })()}}"],
    ["an expression that ends its process", codeStep("return 1;", 'n: "any"'), "{{process.exit(1)}}"],
    ["an expression that returns 100 MB", codeStep("return 1;", 'n: "any"'), '{{"x".repeat(1e8)}}'],
    ["exports without end", codeStep('for (let n = 0; n < 1e6; n++) $.export("k" + n, "x".repeat(1000));'), "1"],
    ["a report that is no report", codeStep("return $.flow.suspend(-1e308);"), "1"],
  ])("ends its run and nothing else: %s", async (_title, code, value) => {
    const { server } = await startAttacked({});
    const made = workflowOf({ only: code }, { head: "settings: { retries: 0, timeout: 5 }\n" });
    const workflow = await deployWorkflow(server, { ...made, "workflow.yaml": `${made["workflow.yaml"]}  props: { n: ${JSON.stringify(value)} }\n` });
    const run = await workflow.run();
    expect(["failed", "waiting", "succeeded"]).toContain(run["state"]);
    await works(server);
  });
});

describe("a stranger", () => {
  const send = (url: string, depth: number, count: number): Promise<number[]> => {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: `${"[".repeat(depth)}${"]".repeat(depth)}` };
    return Promise.all(Array.from({ length: count }, async () => (await fetch(url, request)).status));
  };

  it.each([1900, 3400, 3800, 100_000])(
    "ends no server by a request that is nested %d deep, to a workflow that fails and to a source that does",
    async (depth) => {
      const { server } = await startAttacked({});
      const steps = { first: codeStep("return steps.trigger.event.body;"), last: codeStep('throw new Error("no");') };
      const workflow = await deployWorkflow(server, workflowOf(steps, { head: "settings: { retries: 0, concurrency: 20 }\ntriggers:\n- http: {}\n" }));
      const source = await server.deploy(
        'export default { name: "t", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit(typeof event.body); this.$emit(event.body); throw new Error("no"); } };',
      );
      for (const url of [workflow.endpoint, source.endpoint]) expect(new Set(await send(url, depth, 20))).toEqual(new Set([200]));
      await eventually(async () => (await server.client.workflows.get(workflow.id)).runs.failed === 20);
      await works(server);
    },
  );

  it("ends no server by an answer to a run that is nested deep", async () => {
    const { server } = await startAttacked({});
    const workflow = await deployWorkflow(server, workflowOf({ ask: codeStep("return $.flow.suspend().resume_url;"), last: codeStep("return steps.ask;") }));
    const run = await workflow.run();
    expect(await send(String((exportsOf(run, "ask") as JsonObject)["$return_value"]), 3800, 1)).toEqual([200]);
    expect((await workflow.rest(run))["state"]).toBe("succeeded");
  });

  it("finds no run by its address, and whoever only looks at one does not act", async () => {
    const { server } = await startAttacked({});
    const workflow = await deployWorkflow(server, workflowOf({ ask: codeStep("return $.flow.suspend().resume_url;") }));
    const run = await workflow.run();
    const url = String((exportsOf(run, "ask") as JsonObject)["$return_value"]);
    for (const tried of ["", "a", "x".repeat(32), "%00", "../..", `${url.split("/").at(-1)}x`])
      for (const verb of ["resume", "cancel"]) expect((await fetch(`${server.endpointUrl}/${verb}/${tried}`, { method: "POST", body: "x" })).status).toBe(404);
    for (const method of ["HEAD", "PUT", "DELETE"]) expect((await fetch(url, { method })).status).toBe(405);
    expect((await workflow.rest(run))["state"]).toBe("waiting");
    const { key } = await server.client.keys.create({ name: "viewer", read_only: true });
    const seen = await (await fetch(`${server.apiUrl}/v1/runs/${String(run["id"])}/steps`, { headers: { authorization: `Bearer ${key ?? ""}` } })).text();
    expect(seen).not.toContain("/cancel/");
  });
});
