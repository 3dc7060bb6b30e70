import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { dataOf, listOf } from "../support/api.ts";
import { startHttpServer } from "../support/http-server.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

async function thirdParty() {
  const asked: string[] = [];
  const url = await startHttpServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url} ${body}`);
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(JSON.stringify({ price: 20, count: asked.length })));
    });
  });
  return { url, asked };
}

const head = "settings: { retries: 0, record: true }\n";
const imports =
  'import http from "node:http"; import { gunzipSync } from "node:zlib";\nconst viaHttp = (url) => new Promise((done, failed) => http.get(url, (answer) => { const parts = []; answer.on("data", (part) => parts.push(part)); answer.on("end", () => done(JSON.parse(gunzipSync(Buffer.concat(parts))))); }).on("error", failed));\n';

function stepsFor(url: string, rest: string) {
  const asks = `const fetched = await (await fetch("${url}/fetched", { method: "POST", body: "x" })).json(); const got = await viaHttp("${url}/got");`;
  return {
    before: codeStep("return 'kept';"),
    price: imports + codeStep(`${asks} ${rest}`),
    tell: codeStep(`await fetch("${url}/tell"); return steps.price.$return_value;`),
  };
}

describe("the edit that mends", () => {
  it("is tried on failed runs with what third parties had answered, asks nobody, keeps nothing, and is then let go", async () => {
    const party = await thirdParty();
    const server = await TestServer.start();
    const workflow = await deployWorkflow(server, workflowOf(stepsFor(party.url, "return fetched.price + got.price + missing;"), { head }));
    const failed = await workflow.run();
    expect(party.asked).toEqual(["POST /fetched x", "GET /got "]);
    await workflow.update({ files: workflowOf(stepsFor(party.url, '$.send.emit("sent"); return fetched.price + got.price + fetched.count;'), { head }) });

    const [tried] = listOf(await server.api.post(`${workflow.path}/rehearse`, { states: ["failed"] }));
    expect(tried).toMatchObject({
      run: { id: failed["id"], state: "failed" },
      after: {
        state: "failed",
        failure: { namespace: "tell", message: expect.stringContaining(`GET ${party.url}/tell was not recorded in the run`) },
        steps: [
          { namespace: "before", copied_from: failed["id"] },
          { namespace: "price", exports: { $return_value: 41 } },
          { namespace: "tell", outcome: "threw" },
        ],
      },
    });
    expect([party.asked.length, await workflow.payloads(), (await workflow.runs()).length]).toEqual([2, [], 1]);

    const [begun] = listOf(await server.api.post(`${workflow.path}/rerun`, { states: ["failed"] }));
    const run = await workflow.rest(begun ?? {});
    expect([run["state"], party.asked.slice(2)]).toEqual(["succeeded", ["POST /fetched x", "GET /got ", "GET /tell "]]);
    expect(await workflow.payloads()).toEqual(["sent"]);
  });

  it("refuses a request that is not the same, and whoever goes past HTTP", async () => {
    const party = await thirdParty();
    const server = await TestServer.start();
    const workflow = await deployWorkflow(server, workflowOf(stepsFor(party.url, "throw new Error('no');"), { head }));
    await workflow.run();
    const socket = `import net from "node:net";\n${codeStep(`await new Promise((done, failed) => net.connect(${new URL(party.url).port}, "127.0.0.1", done).on("error", failed));`)}`;
    for (const [price, message] of [
      [codeStep(`await fetch("${party.url}/fetched", { method: "POST", body: "y" });`), "POST"],
      [socket, "only recorded HTTP requests are answered"],
    ] as const) {
      await workflow.update({ files: workflowOf({ ...stepsFor(party.url, ""), price }, { head }) });
      const [tried] = listOf(await server.api.post(`${workflow.path}/rehearse`));
      expect(tried).toMatchObject({ after: { state: "failed", failure: { namespace: "price", message: expect.stringContaining(message) } } });
    }
    expect(party.asked.length).toBe(2);
  });

  it("asks nobody while code is loaded, and while props are evaluated", async () => {
    const party = await thirdParty();
    const server = await TestServer.start();
    const files = (price: string, value: string) => {
      const made = workflowOf({ price }, { head });
      return { ...made, "workflow.yaml": `${made["workflow.yaml"]}  props: { n: ${JSON.stringify(value)} }\n` };
    };
    const workflow = await deployWorkflow(server, files(codeStep("throw new Error('no');", 'n: "any"'), "1"));
    await workflow.run();
    const loads = `export const asked = fetch("${party.url}/load").then(() => "yes", (error) => String(error.cause ?? error)); ${codeStep("return asked;", 'n: "any"')}`;
    await workflow.update({
      files: files(loads, `{{(async () => { try { await fetch("${party.url}/evaluate"); } catch (error) { return String(error.cause ?? error); } })()}}`),
    });
    // Deploying loads the code.
    await eventually(async () => party.asked.some((one) => one.includes("/load")));
    const before = party.asked.length;
    const [tried] = listOf(await server.api.post(`${workflow.path}/rehearse`));
    expect(tried).toMatchObject({ after: { state: "succeeded", steps: [{ exports: { $return_value: expect.stringContaining("was not recorded") } }] } });
    expect(party.asked.slice(before)).toEqual([]);
  });

  it("sees data stores as they are, and writes none", async () => {
    const server = await TestServer.start();
    const count = (rest: string) =>
      codeStep(`const n = ((await this.store.get("n")) ?? 0) + 1; await this.store.set("n", n); ${rest}`, 'store: { type: "data_store" }');
    const files = (rest: string) => {
      const made = workflowOf({ count: count(rest) }, { head });
      return { ...made, "workflow.yaml": `${made["workflow.yaml"]}  props: { store: shared }\n` };
    };
    const workflow = await deployWorkflow(server, files("throw new Error('no');"));
    await workflow.run();
    await workflow.update({ files: files("return n;") });
    for (const _again of [1, 2]) {
      const [tried] = listOf(await server.api.post(`${workflow.path}/rehearse`));
      expect(tried).toMatchObject({ after: { state: "succeeded", steps: [{ exports: { $return_value: 2 } }] } });
    }
  });
});

describe("one step tried with what an earlier run gave it", () => {
  async function ranOnce() {
    const party = await thirdParty();
    const server = await TestServer.start();
    const files = (tell: string) =>
      workflowOf({ price: codeStep("return 20;"), tell: codeStep(tell), after: codeStep(`await fetch("${party.url}/after");`) }, { head });
    const workflow = await deployWorkflow(server, files(`await fetch("${party.url}/tell"); return 1;`));
    const run = await workflow.run();
    const { asked } = party;
    const before = asked.length;
    const rehearse = async (params: JsonObject) => dataOf(await server.api.post(`/v1/runs/${String(run["id"])}/rehearse`, params));
    const isUntouched = async () => [(await workflow.runs()).length, (await server.api.get(workflow.path))["version"]];
    return { party, asked: () => asked.slice(before), files, rehearse, isUntouched };
  }

  it("runs with files that are not deployed, and ends there", async () => {
    const { files, rehearse, asked, isUntouched } = await ranOnce();
    const tried = await rehearse({
      from: "tell",
      alone: true,
      files: files('console.log("with", steps.price.$return_value); return steps.price.$return_value + 1;'),
    });
    expect(tried).toMatchObject({
      after: { state: "succeeded", logs: [{ msg: "with 20" }], steps: [{ namespace: "price" }, { namespace: "tell", exports: { $return_value: 21 } }] },
    });
    expect([asked(), await isUntouched()]).toEqual([[], [1, 1]]);
  });

  it("fails alone, and names the line of a file that cannot be built", async () => {
    const { files, rehearse } = await ranOnce();
    expect(await rehearse({ from: "tell", alone: true, files: files("throw new Error('no');") })).toMatchObject({
      after: { state: "failed", failure: { namespace: "tell", message: expect.stringContaining("no") } },
    });
    await expect(rehearse({ from: "tell", alone: true, files: files("return (;") })).rejects.toThrow(/tell\/entry\.js:1/);
  });

  it("asks third parties only when told to", async () => {
    const { files, rehearse, asked, party } = await ranOnce();
    const other = files(`return (await fetch("${party.url}/other")).status;`);
    expect(await rehearse({ from: "tell", alone: true, files: other })).toMatchObject({ after: { state: "failed" } });
    expect(asked()).toEqual([]);
    const real = await rehearse({ from: "tell", alone: true, files: other, ask_third_parties: true });
    expect(real).toMatchObject({ after: { state: "succeeded", steps: [{}, { exports: { $return_value: 200 } }] } });
    expect(asked()).toEqual(["GET /other "]);
  });

  it("runs no other step: it refuses one that the run does not reach, also when requests are sent", async () => {
    const party = await thirdParty();
    const server = await TestServer.start();
    const asks = (name: string): string => codeStep(`await fetch("${party.url}/${name}");`);
    const files: Record<string, string> = {
      ...workflowOf({ one: codeStep("throw new Error('no');"), two: asks("two"), three: asks("three") }, { head }),
      "inner/entry.js": asks("inner"),
    };
    const branch = '- namespace: branch\n  if: "{{false}}"\n  then:\n  - namespace: inner\n    uses: "./inner/entry.js"\n';
    const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": `${files["workflow.yaml"]}${branch}` });
    const failed = await workflow.run();
    for (const from of ["three", "inner"]) {
      const tried = server.api.post(`/v1/runs/${String(failed["id"])}/rehearse`, { from, alone: true, ask_third_parties: true });
      await expect(tried).rejects.toThrow("that run does not reach it");
    }
    expect(party.asked).toEqual([]);
  });

  it("tries the failed item of a loop, or the one that is named", async () => {
    const server = await TestServer.start();
    const files = (code: string): Record<string, string> => ({
      "workflow.yaml": `schema: workflow/2022.04\nname: Loops\n${head}steps:\n- namespace: each\n  for_each: "{{['a', 'b', 'c']}}"\n  steps:\n  - namespace: part\n    uses: ./part/entry.js\n  - namespace: after\n    uses: ./after/entry.js\n`,
      "part/entry.js": codeStep(code),
      "after/entry.js": codeStep("return 1;"),
    });
    const workflow = await deployWorkflow(server, files("if (steps.each.item === 'b') throw new Error('no b'); return steps.each.item;"));
    const failed = await workflow.run();
    const tried = async (more: JsonObject): Promise<unknown> => {
      const { after } = dataOf(
        await server.api.post(`/v1/runs/${String(failed["id"])}/rehearse`, {
          from: "part",
          alone: true,
          files: files("return 'now ' + steps.each.item;"),
          ...more,
        }),
      ) as any;
      return after.steps.filter((step: any) => step.namespace === "part" && step.copied_from === undefined).map((step: any) => step.exports.$return_value);
    };
    expect(await tried({})).toEqual(["now b"]);
    expect(await tried({ path: "0.[0].0" })).toEqual(["now a"]);
    await expect(tried({ path: "0.[7].0" })).rejects.toThrow("that run does not reach it");
    // A step that the run did not have.
    const added = files("return 1;");
    const yaml = `${added["workflow.yaml"]}  - namespace: part_2\n    uses: ./part_2/entry.js\n`.replace(
      "  - namespace: part\n    uses: ./part/entry.js\n",
      "",
    );
    const fresh = {
      ...added,
      "workflow.yaml": yaml.replace("  - namespace: after\n    uses: ./after/entry.js\n", ""),
      "part_2/entry.js": codeStep("return 'new ' + steps.each.item;"),
    };
    const { after } = dataOf(await server.api.post(`/v1/runs/${String(failed["id"])}/rehearse`, { from: "part_2", alone: true, files: fresh })) as any;
    expect(after).toMatchObject({ state: "succeeded", steps: [{ namespace: "each" }, { exports: { $return_value: "new a" } }] });
  });

  it("asks nobody while typed code is loaded, nor in a condition, and fails at once where the file wants retries", async () => {
    const { files, rehearse, asked, party } = await ranOnce();
    const loads = files("return 1;");
    const code = `export const asked = fetch("${party.url}/load").catch(() => {}); ${codeStep("throw new Error('no');")}`;
    const yaml = `${loads["workflow.yaml"]}- namespace: branch\n  if: "{{fetch('${party.url}/if') && true}}"\n  then: []\n`.replace(
      'uses: "./tell/entry.js"',
      'uses: "./tell/entry.js"\n  retries: 3',
    );
    const typed = { ...loads, "tell/entry.js": code, "workflow.yaml": yaml };
    expect(await rehearse({ from: "tell", alone: true, files: typed })).toMatchObject({ after: { state: "failed" } });
    await rehearse({ from: "branch", alone: true, files: typed });
    expect(asked()).toEqual([]);
  });

  it("refuses a step that the files do not have, and none", async () => {
    const { rehearse } = await ranOnce();
    await expect(rehearse({ from: "nobody" })).rejects.toThrow('from "nobody"');
    await expect(rehearse({ alone: true })).rejects.toThrow("no step is named");
  });
});
