import { describe, expect, it } from "vitest";
import { componentParams, componentPath, deployFile } from "../support/components.ts";
import { TestServer } from "../support/runtime.ts";

describe("a deploy", () => {
  it("runs deploy, then activate; an update deactivate and activate; the id stays", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "hooks-order.mjs");
    expect((await source.state())["order"]).toEqual(["deploy", "activate"]);
    expect(await source.payloads()).toEqual([{ from: "deploy" }]);
    const updated = await source.update(await componentParams(componentPath("hooks-order.mjs")));
    expect(updated["id"]).toBe(source.id);
    expect((await source.state())["order"]).toEqual(["deploy", "activate", "deactivate", "activate"]);
    await source.update({ active: false });
    expect((await source.state())["order"]).toEqual(["deploy", "activate", "deactivate", "activate", "deactivate"]);
    await source.update({ active: true });
    expect((await source.state())["order"]).toEqual(["deploy", "activate", "deactivate", "activate", "deactivate", "activate"]);
  });

  it("gives hooks the endpoint, without a trailing slash", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "hooks-order.mjs");
    expect((await source.state())["endpoint"]).toBe(source.endpoint);
    expect(source.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{20}$/);
  });

  it.each(["esm.mjs", "commonjs.js", "typescript.ts", "define-component.mjs", "define-source.ts"])("takes the form of %s", async (form) => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, `forms/${form}`);
    await source.run();
    expect(await source.payloads()).toEqual([form.split(".")[0]]);
  });

  it("takes apps from defineApp, and saves actions from defineAction without deploying them", async () => {
    const server = await TestServer.inMemory();
    const app =
      'import { defineApp } from "@pipedream/types"; export default defineApp({ type: "app", app: "demo", methods: { hello() { return `hello ${this.$auth.name}`; } } });';
    const source = await server.deploy(
      'import demo from "./demo.app.ts"; export default { name: "t", version: "1", props: { demo }, run() { return this.demo.hello(); } };',
      { files: { "demo.app.ts": app }, props: { demo: { name: "you" } } },
    );
    expect((await source.run())["returned"]).toBe("hello you");
    const code = 'import { defineAction } from "headwater/component"; export default defineAction({ name: "Act", version: "1", type: "action", run() {} });';
    const { data } = await server.api.post("/v1/components", { component_code: code, component_path: "act.ts" });
    expect(data).toMatchObject({ component_type: "action", name: "Act" });
    await expect(server.deploy(code, { path: "act.ts" })).rejects.toMatchObject({ code: "PD_NOT_A_COMPONENT" });
  });

  it("numbers the slugs of sources with the same name", async () => {
    const server = await TestServer.inMemory();
    const slugs = [];
    for (let n = 0; n < 3; n++) slugs.push((await deployFile(server, "forms/esm.mjs")).record["name_slug"]);
    expect(slugs).toEqual(["form", "form-2", "form-3"]);
  });

  it("gives an app's methods the account's fields, and props what an app defines", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "app/watch-project.mjs", { demo: '{"api_key":"s3cret"}', project: "p1" });
    await source.run();
    expect(await source.payloads()).toEqual([{ text: "p1 as s3cret", limit: 10, auth: { api_key: "s3cret" } }]);
    expect(source.record["configurable_props"]).toMatchObject([
      { name: "demo", type: "app", app: "demo" },
      { name: "project", type: "string", label: "Project", remoteOptions: true },
      { name: "limit", type: "integer", max: 50, default: 10 },
    ]);
    expect(JSON.stringify(source.record)).not.toContain("s3cret");
  });

  it("lists the options of a prop on its app, with an empty prevContext at first, and page by page", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "app/watch-project.mjs", { demo: { api_key: "k" }, project: "p1" });
    const first = await server.api.post(`${source.path}/configure`, { prop_name: "project" });
    expect(first).toMatchObject({ data: { options: [{ label: "k-0-0", value: "k-0-0" }], context: { nextPageToken: "x" } } });
    const second = await server.api.post(`${source.path}/configure`, { prop_name: "project", page: 1, prev_context: { nextPageToken: "x" } });
    expect(second).toMatchObject({ data: { options: [{ value: "k-1-1" }] } });
    await expect(server.api.post(`${source.path}/configure`, { prop_name: "limit" })).rejects.toMatchObject({
      code: "PD_OPTIONS_FAILED",
      message: expect.stringContaining("prop limit has no choices: it accepts any value of its type"),
    });
    expect(await source.invocations()).toEqual([]);
  });

  it("tells everything that is missing or wrong at once, and leaves nothing", async () => {
    const server = await TestServer.inMemory();
    const failed = deployFile(server, "app/watch-project.mjs", { limit: 51, projct: "x" });
    await expect(failed).rejects.toMatchObject({
      code: "PD_BAD_PROPS",
      message: expect.stringMatching(
        /demo needs an account of demo[^]*project is required[^]*limit must be at most 50, got 51[^]*projct is not a prop of the component \(did you mean project\?\)/,
      ),
    });
    expect(await server.api.get("/v1/users/me/sources")).toMatchObject({ data: [] });
  });
});

describe("what throws", () => {
  it("while it is loaded fails the deploy with its position", async () => {
    const server = await TestServer.inMemory();
    await expect(deployFile(server, "throws/in-load.mjs")).rejects.toMatchObject({
      code: "PD_LOAD_FAILED",
      message: expect.stringContaining("(in-load.mjs:2:"),
    });
  });

  it.each(["deploy", "activate"])("in the hook %s fails the deploy with its position, and leaves nothing", async (hook) => {
    const server = await TestServer.inMemory();
    await expect(deployFile(server, `throws/in-${hook}.mjs`)).rejects.toMatchObject({
      code: "PD_HOOK_FAILED",
      message: `Cannot deploy Throws: its hook ${hook} failed: TypeError: no ${hook} today (in-${hook}.mjs:7:13)`,
    });
    expect(await server.api.get("/v1/users/me/sources")).toMatchObject({ data: [] });
  });

  it("in the hook deactivate keeps the source, unless it is deleted by force", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "throws/in-deactivate.mjs");
    await expect(server.api.delete(source.path)).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    await expect(source.update({ component_code: "export default { name: 'x', version: '2', run() {} }" })).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    await source.run();
    expect(await source.payloads()).toEqual(["still here"]);
    await server.api.delete(`${source.path}?force=1`);
    await expect(server.api.get(source.path)).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
  });

  it("in run is recorded with a stack in the author's file, and what run did before counts", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "throws/in-run.ts");
    const invocation = await source.run();
    expect(invocation).toMatchObject({ outcome: "threw", error: { name: "RangeError", message: "no run today", at: "in-run.ts:13:11" } });
    expect(JSON.stringify(invocation["error"])).not.toMatch(/component\.mjs|child\.cjs/);
    expect(await source.payloads()).toEqual(["before"]);
    expect(await source.state()).toEqual({ before: true });
  });
});

describe("code that cannot be used", () => {
  it.each([
    ["no object", "export default 5", "PD_NOT_A_COMPONENT", "the default export is 5; expected an object"],
    ["no default export", "export const x = 1", "PD_NOT_A_COMPONENT", "the default export is missing; expected an object"],
    ["two problems at once", "export default { version: '1', props: {} }", "PD_NOT_A_COMPONENT", /name is missing[^]*run is missing/],
    ["an action", "export default { name: 'a', version: '1', type: 'action', run() {} }", "PD_NOT_A_COMPONENT", "only sources can be deployed"],
    [
      "a syntax error",
      "export default {\n  name: 'a'\n  version: '1' }",
      "PD_BUILD_FAILED",
      /source\.mjs:3:3: Expected "}" but found "version"\n3 │ {3}version: '1' }\n {6}~~~~~~~/,
    ],
    ["a local file that is not there", "import './x.mjs'; export default {}", "PD_BUILD_FAILED", 'Cannot find the local file "./x.mjs"'],
  ])("because it is %s gets a clear error", async (_title, code, errorCode, message) => {
    const server = await TestServer.inMemory();
    await expect(server.deploy(code)).rejects.toMatchObject({
      code: errorCode,
      message: typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message),
    });
  });

  it("is deployed with a warning when only a prop's type is unknown", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy("export default { name: 'a', version: '1', props: { c: { type: 'colour', optional: true } }, run() {} }");
    expect(source.record["warnings"]).toEqual(['prop c has the unknown type "colour"; it accepts any JSON value']);
  });
});
