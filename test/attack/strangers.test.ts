import { createServer } from "node:http";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { Gate } from "../support/gate.ts";
import type { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";
import { startAttacked } from "./attacked-server.ts";

const PLAIN = 'export default { name: "p", version: "1", run() { return "fine"; } };';

async function works(server: TestServer): Promise<void> {
  const began = performance.now();
  expect(await (await server.deploy(PLAIN)).run()).toMatchObject({ returned: "fine" });
  expect(performance.now() - began).toBeLessThan(20_000);
}

async function post(url: string, type: string, body: string): Promise<number> {
  return (await fetch(url, { method: "POST", headers: { "content-type": type }, body })).status;
}

describe("a request without a key", () => {
  it("names thousands of actions to an app hook", async () => {
    const { server } = await startAttacked({});
    const source = await server.deploy(
      'export default { name: "h", version: "1", props: { hook: { type: "$.interface.apphook", appProp: "slack", eventNames: ["a:b"] } }, run(event) { this.$emit(event); } };',
    );
    const actions = Array.from({ length: 100_000 }, (_none, n) => ({ action_id: `${n}` }));
    const body = JSON.stringify({ type: "t", event: { type: "a" }, event_type: "c", channel: "d", item: { channel: "e" }, actions });
    const began = performance.now();
    expect(await Promise.all(Array.from({ length: 5 }, () => post(source.endpoint, "application/json", body)))).toEqual([200, 200, 200, 200, 200]);
    expect(performance.now() - began).toBeLessThan(10_000);
    await works(server);
  });

  it.each([
    ["application/x-www-form-urlencoded", Array.from({ length: 1_000_000 }, (_none, n) => n.toString(36)).join("&")],
    ["multipart/form-data; boundary=x", `${'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(100_000)}--x--\r\n`],
  ])("has a million fields, to a workflow: %s", async (type, body) => {
    const { server } = await startAttacked({});
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("return typeof steps.trigger.event.body;") }, { head: "triggers:\n- http: {}\n" }),
    );
    const began = performance.now();
    expect(await post(workflow.endpoint, type, body)).toBe(200);
    await eventually(async () => (await server.client.workflows.get(workflow.id)).runs.succeeded === 1);
    expect(performance.now() - began).toBeLessThan(10_000);
    await works(server);
  });

  it("is large, and one of many that wait: some are refused, and the others run", async () => {
    const { server } = await startAttacked({});
    const gate = await Gate.open();
    const source = await server.deploy(
      `export default { name: "s", version: "1", props: { http: "$.interface.http" }, async run(event) { await fetch("${gate.url}"); this.$emit(event.bodyRaw.length); } };`,
    );
    const body = "x".repeat(9_000_000);
    const statuses = await Promise.all(Array.from({ length: 20 }, () => post(source.endpoint, "text/plain", body)));
    const taken = statuses.filter((status) => status === 200).length;
    expect([taken, statuses.filter((status) => status === 429).length]).toEqual([3, 17]);
    // Small requests to the same source, and large ones to another, are accepted.
    const other = await server.deploy('export default { name: "o", version: "1", props: { http: "$.interface.http" }, run() {} };');
    expect(await Promise.all([post(source.endpoint, "text/plain", "x"), post(other.endpoint, "text/plain", body)])).toEqual([200, 200]);
    await works(server);
    gate.release();
    expect((await source.payloadsOnce(4)).map(Number).toSorted((a, b) => a - b)).toEqual([1, body.length, body.length, body.length]);
    expect(await post(source.endpoint, "text/plain", body)).toBe(200);
  });
});

describe("a form", () => {
  it("may hold a file with any number of lines that look like a boundary", async () => {
    const { server } = await startAttacked({});
    const source = await server.deploy(
      'export default { name: "u", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit([event.body.name, event.body.file.filename]); } };',
    );
    const form = new FormData();
    form.set("name", "dump");
    form.set("file", new File(["-- a comment\r\n--\r\n".repeat(50_000)], "dump.sql"));
    expect((await fetch(source.endpoint, { method: "POST", body: form })).status).toBe(200);
    expect(await source.payloadsOnce(1)).toEqual([["dump", "dump.sql"]]);
  });
});

describe("a third party", () => {
  it("hands out an archive that says it is larger than anything", async () => {
    const { server } = await startAttacked({});
    const header = Buffer.alloc(512);
    header.write("package/x.mjs", 0);
    header.write("0000644\0", 100);
    header.write("7777777777\0", 124);
    header.write("00000000000\0", 136);
    header.write("0", 156);
    header.write("ustar\x0000", 257);
    header.fill(" ", 148, 156);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    const host = createServer((_request, response) => void response.end(gzipSync(header)));
    await once(host.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void host.close());
    const address = host.address();
    const location = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/x.tgz`;
    await expect(server.api.post("/v1/registries", { name: "r", kind: "tarball", location })).rejects.toMatchObject({
      code: "PD_REGISTRY_UNREACHABLE",
      message: expect.stringContaining("it has more than"),
    });
    await works(server);
  });
});

describe("an expression of a workflow", () => {
  it("writes past the console what looks like a position in its code", async () => {
    const { server } = await startAttacked({});
    const write = "process.getBuiltinModule('fs').writeSync(2, 'file://' + process.env.HOME.replace(/own$/, 'component.mjs') + ':1:1')";
    const steps = `- namespace: branch\n  if: "{{ (${write}, true) }}"\n  then:\n  - namespace: only\n    uses: ./a.js\n`;
    const workflow = await deployWorkflow(server, { "workflow.yaml": `name: x\nsteps:\n${steps}`, "a.js": codeStep("return 1;") });
    expect((await workflow.run())["state"]).toBe("succeeded");
    await works(server);
  });
});
