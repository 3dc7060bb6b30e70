import { describe, expect, it } from "vitest";
import { NEWEST_VERSIONS } from "../../src/domain/source/source-version.ts";
import { dataOf } from "../support/api.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { Gate } from "../support/gate.ts";
import { TestServer } from "../support/runtime.ts";

const version = (v: number, rest = "", body = ""): string =>
  `export default { name: "t", version: "${v}", props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" }, ${rest} async run(event) { ${body} this.http.respond({ body: "v${v}" }); } };`;

async function answer(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** The new code loads when the gate opens. */
async function whileLoading({ hooks = "", nextHooks = "" } = {}) {
  const clock = new FakeClock(Date.now());
  const server = await TestServer.inMemory({}, clock);
  const source = await server.deploy(version(1, hooks));
  const gate = await Gate.open();
  const updating = source.update({ component_code: `await fetch("${gate.url}");\n${version(2, nextHooks)}` });
  await gate.reached;
  const held = async (): Promise<unknown> => dataOf(await server.api.get("/v1/figures"))["waiting_calls"];
  return { server, clock, source, gate, updating, held };
}

describe("a call that comes while new code is loaded", () => {
  it("is answered by the new code", async () => {
    const { source, gate, updating, held } = await whileLoading();
    const answers = [answer(source.endpoint), answer(source.endpoint)];
    await expect.poll(held).toBe(2);
    gate.release();
    await updating;
    expect(await Promise.all(answers)).toEqual(["v2", "v2"]);
  });

  it("is answered by the old code when the new one takes longer than 100 ms", async () => {
    const { clock, source, gate, updating, held } = await whileLoading();
    const waiting = answer(source.endpoint);
    await expect.poll(held).toBe(1);
    await clock.setTo(clock.now() + 99);
    expect(await held()).toBe(1);
    await clock.setTo(clock.now() + 1);
    expect(await waiting).toBe("v1");
    expect(await answer(source.endpoint)).toBe("v1");
    gate.release();
    await updating;
    expect(await answer(source.endpoint)).toBe("v2");
  });

  it("is answered by the old code, like those before it, when it is one of many", async () => {
    const { source, gate, updating } = await whileLoading();
    const many = Array.from({ length: 9 }, () => answer(source.endpoint));
    expect(new Set(await Promise.all(many))).toEqual(new Set(["v1"]));
    expect(await answer(source.endpoint)).toBe("v1");
    gate.release();
    await updating;
    expect(await answer(source.endpoint)).toBe("v2");
  });

  it("is answered by the old code when the new one cannot be loaded", async () => {
    const clock = new FakeClock(Date.now());
    const server = await TestServer.inMemory({}, clock);
    const source = await server.deploy(version(1));
    const gate = await Gate.open();
    const updating = source.update({ component_code: `await fetch("${gate.url}"); throw new Error("broken");` });
    await gate.reached;
    const waiting = answer(source.endpoint);
    await expect.poll(async () => dataOf(await server.api.get("/v1/figures"))["waiting_calls"]).toBe(1);
    gate.release();
    await expect(updating).rejects.toMatchObject({ code: "PD_LOAD_FAILED" });
    expect(await waiting).toBe("v1");
  });

  it("is answered by the old code when its deactivate waits for that", async () => {
    const { source, gate, updating, held } = await whileLoading({
      hooks: `hooks: { async deactivate() { this.db.set("goodbye", await (await fetch(this.http.endpoint)).text()); } },`,
    });
    const waiting = answer(source.endpoint);
    await expect.poll(held).toBe(1);
    gate.release();
    await updating;
    expect([await waiting, await source.state()]).toEqual(["v1", { goodbye: "v1" }]);
  });
});

describe("a call that waits for new code with an activate", () => {
  it("is answered by the old code: the new one is not activated yet, and may fail to be", async () => {
    const { source, gate, updating, held } = await whileLoading({ nextHooks: 'hooks: { activate() { throw new Error("not today"); } },' });
    const waiting = answer(source.endpoint);
    await expect.poll(held).toBe(1);
    gate.release();
    await expect(updating).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    expect(await waiting).toBe("v1");
  });
});

describe("an update that calls have waited for", () => {
  it("is stored once they are answered, and takes 10 ms more when they take longer", async () => {
    const clock = new FakeClock(Date.now());
    const server = await TestServer.inMemory({}, clock);
    const source = await server.deploy(version(1));
    const [loading, running] = [await Gate.open(), await Gate.open()];
    let isStored = false;
    const code = `await fetch("${loading.url}");\n${version(2, "", `await fetch("${running.url}");`)}`;
    const updating = source.update({ component_code: code }).then(() => (isStored = true));
    await loading.reached;
    const waiting = answer(source.endpoint);
    await expect.poll(async () => dataOf(await server.api.get("/v1/figures"))["waiting_calls"]).toBe(1);
    loading.release();
    await running.reached;
    await clock.setTo(clock.now() + 9);
    expect([isStored, dataOf(await server.api.get(source.path))["component_version"]]).toEqual([false, "2"]);
    await clock.setTo(clock.now() + 1);
    await updating;
    running.release();
    expect(await waiting).toBe("v2");
  });
});

describe("a call that activate waits for", () => {
  it("is answered, also where nothing but a value has changed", async () => {
    const server = await TestServer.inMemory({}, new FakeClock(Date.now()));
    const hooks = `hooks: { async activate() { this.db.set("handshake", [this.a, await (await fetch(this.http.endpoint)).text()]); } },`;
    const source = await server.deploy(version(1, hooks).replace("props: {", 'props: { a: "string",'), { props: { a: "x" } });
    await source.update({ configured_props: { a: "y" } });
    expect(await source.state()).toEqual({ handshake: ["y", "v1"] });
  });
});

describe("an update", () => {
  it("is given up at once by a server that stops while the code is loaded", async () => {
    const { server, updating } = await whileLoading();
    const refused = expect(updating).rejects.toMatchObject({ code: "PD_STOPPING", message: "Cannot load the component: the server is stopping" });
    await server.stop();
    await refused;
  });

  it("serves the new code under the same id and address", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(version(1));
    expect(await answer(source.endpoint)).toBe("v1");
    const record = await source.update({ component_code: version(2) });
    expect(await answer(source.endpoint)).toBe("v2");
    expect(record).toMatchObject({ id: source.id, component_version: "2", endpoint_url: source.endpoint });
  });

  it("lets runs in flight finish on the code they started with, and sees what they write", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(version(1, "", `await fetch("${gate.url}"); this.db.set("by", 1);`));
    const slow = answer(source.endpoint);
    await gate.reached;
    await source.update({ component_code: version(2, "", 'this.db.set("seen", this.db.get("by") ?? null);') });
    expect(await answer(source.endpoint)).toBe("v2");
    expect(await source.state()).toEqual({ seen: null });
    gate.release();
    expect(await slow).toBe("v1");
    await answer(source.endpoint);
    expect(await source.state()).toEqual({ by: 1, seen: 1 });
  });

  it("drops no request while it happens, time and again", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(version(0));
    let isOver = false;
    const answers: string[] = [];
    const clients = [1, 2, 3].map(async () => {
      while (!isOver) answers.push(await answer(source.endpoint));
    });
    for (let v = 1; v <= 8; v++) await source.update({ component_code: version(v) });
    isOver = true;
    await Promise.all(clients);
    expect(answers.filter((text) => !/^v\d$/.test(text))).toEqual([]);
    expect(await answer(source.endpoint)).toBe("v8");
  });

  it.each([
    ["does not compile", "export default {", "PD_BUILD_FAILED"],
    ["throws while it is loaded", "throw new Error('x')", "PD_LOAD_FAILED"],
    ["is no component", "export default {}", "PD_NOT_A_COMPONENT"],
    ["wants a prop that nobody gave", version(2).replace("props: {", 'props: { more: "string",'), "PD_BAD_PROPS"],
  ])("to code that %s changes nothing", async (_title, code, errorCode) => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(version(1));
    await expect(source.update({ component_code: code })).rejects.toMatchObject({ code: errorCode });
    expect(await answer(source.endpoint)).toBe("v1");
    expect(await server.api.get(source.path)).toMatchObject({ data: { component_id: source.record["component_id"] } });
  });

  it("whose activate throws goes back to the old version, activated again", async () => {
    const server = await TestServer.inMemory();
    const hooks = `hooks: { activate() { this.db.set("log", [...(this.db.get("log") ?? []), "+1"]); }, deactivate() { this.db.set("log", [...this.db.get("log"), "-1"]); } },`;
    const source = await server.deploy(version(1, hooks));
    const failing = version(2, 'hooks: { activate() { throw new Error("not today"); } },');
    await expect(source.update({ component_code: failing })).rejects.toMatchObject({ code: "PD_HOOK_FAILED", message: expect.stringContaining("not today") });
    expect(await answer(source.endpoint)).toBe("v1");
    expect(await source.state()).toEqual({ log: ["+1", "-1", "+1"] });
  });

  it("serves requests of third parties while activate waits for them", async () => {
    const server = await TestServer.inMemory();
    const handshake = `hooks: { async activate() { this.db.set("handshake", await (await fetch(this.http.endpoint)).text()); } },`;
    const source = await server.deploy(version(1, handshake));
    expect((await source.state())["handshake"]).toBe("v1");
    await source.update({ component_code: version(2, handshake) });
    expect((await source.state())["handshake"]).toBe("v2");
  });

  it("keeps values whose prop is still there, and lets the others go", async () => {
    const server = await TestServer.inMemory();
    const code = (props: string): string => `export default { name: "t", version: "1", props: { ${props} }, run() {} };`;
    const source = await server.deploy(code('a: "string", b: "string"'), { props: { a: "1", b: "2" } });
    const record = await source.update({ component_code: code('a: "string", c: { type: "integer", default: 3 }') });
    expect(record["configured_props"]).toEqual({ a: "1", c: 3 });
  });

  it("follows the defaults of the new code where nobody filled a value in", async () => {
    const server = await TestServer.inMemory();
    const code = (props: string): string => `export default { name: "t", version: "1", props: { ${props} }, run() {} };`;
    const [given, schedule] = [{ b: 5 }, '{ type: "$.interface.timer", default: { intervalSeconds: 900 } }'];
    const limits = (usual: number): string => ["a", "b"].map((name) => `${name}: { type: "integer", default: ${usual} }`).join(", ");
    const source = await server.deploy(code(`${limits(10)}, mode: { type: "string", options: ["x", "y"], default: "x" }, timer: ${schedule}`), {
      props: given,
    });
    const other = code(`${limits(20)}, mode: { type: "string", options: ["p", "q"], default: "q" }, timer: ${schedule.replace("900", "60")}`);
    expect((await source.update({ component_code: other }))["configured_props"]).toMatchObject({ a: 20, b: 5, mode: "q", timer: { interval_seconds: 900 } });
    // Without a default, the value stays.
    const without = code('a: "integer", b: "integer"');
    expect((await source.update({ component_code: without }))["configured_props"]).toEqual({ a: 20, b: 5 });
  });

  it("follows the defaults of props that the component declares by itself", async () => {
    const server = await TestServer.inMemory();
    const code = (usual: number): string =>
      `export default { name: "t", version: "1", props: { a: { type: "string", reloadProps: true } }, additionalProps() { return { size: { type: "integer", default: ${usual} } }; }, run() {} };`;
    const source = await server.deploy(code(1), { props: { a: "1" } });
    expect((await source.update({ component_code: code(2) }))["configured_props"]).toEqual({ a: "1", size: 2 });
    await source.update({ configured_props: { size: 7 } });
    expect((await source.update({ component_code: code(3) }))["configured_props"]).toEqual({ a: "1", size: 7 });
  });

  it("keeps what it runs with where its code stays, though the component would offer another default by now", async () => {
    const server = await TestServer.start();
    const code = `export default { name: "t", version: "1", props: {}, additionalProps() { return { list: { type: "string", default: process.env.FIRST ?? "a" } }; }, run() {} };`;
    const source = await server.deploy(code);
    expect(source.record["configured_props"]).toEqual({ list: "a" });
    expect((await source.update({ env: { FIRST: "b" } }))["configured_props"]).toEqual({ list: "a" });
    expect((await source.update({ name: "Renamed", active: false, configured_props: {} }))["configured_props"]).toEqual({ list: "a" });
    // The value was a default, so the new code's default replaces it.
    expect((await source.update({ component_code: code.replace('?? "a"', '?? "c"'), env: { FIRST: "d" } }))["configured_props"]).toEqual({ list: "d" });
  });

  it("follows the default that the component offers beside other values", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "t", version: "1", props: { kind: "string" },
      additionalProps() { const units = this.kind === "a" ? ["m", "ft"] : ["kg", "lb"]; return { unit: { type: "string", options: units, default: units[0] } }; }, run() {} };`;
    const source = await server.deploy(code, { props: { kind: "a" } });
    expect((await source.update({ configured_props: { kind: "b" } }))["configured_props"]).toEqual({ kind: "b", unit: "kg" });
    await source.update({ configured_props: { unit: "lb" } });
    expect((await source.update({ name: "Other" }))["configured_props"]).toEqual({ kind: "b", unit: "lb" });
  });

  it("takes the default that is offered now where the one before is no choice any more", async () => {
    const server = await TestServer.start();
    const code = `export default { name: "t", version: "1", props: {}, additionalProps() { const list = [process.env.FIRST ?? "a"]; return { list: { type: "string", options: list, default: list[0] } }; }, run() {} };`;
    const source = await server.deploy(code);
    expect((await source.update({ env: { FIRST: "b" } }))["configured_props"]).toEqual({ list: "b" });
    expect((await source.update({ env: { FIRST: "c" } }))["configured_props"]).toEqual({ list: "c" });
  });

  it("hands a default over as it was, whatever else is changed", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "t", version: "1", props: { mode: { type: "string", withLabel: true, options: [{ label: "A", value: "a" }], default: "a" }, list: { type: "string[]", default: "a,b" } }, run() { return [this.mode, this.list]; } };`;
    const source = await server.deploy(code);
    const before = (await source.run())["returned"];
    await source.update({ name: "Other" });
    expect((await source.run())["returned"]).toEqual(before);
  });

  it("is not held up by a value whose prop takes none any more", async () => {
    const server = await TestServer.inMemory();
    const code = (type: string): string => `export default { name: "t", version: "1", props: { a: "${type}" }, run() {} };`;
    const source = await server.deploy(code("string"), { props: { a: "1" } });
    const record = await source.update({ component_code: code("$.service.db") });
    expect(record["configured_props"]).toEqual({ a: { type: "$.service.db" } });
  });

  it("leaves no code behind that nobody can go back to", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(version(1));
    for (let v = 2; v <= NEWEST_VERSIONS; v++) await source.update({ component_code: version(v) });
    const first = `/v1/components/${String(source.record["component_id"])}`;
    expect(dataOf(await server.api.get(first))["version"]).toBe("1");
    await source.update({ component_code: version(NEWEST_VERSIONS + 1) });
    await expect(server.api.get(first)).rejects.toMatchObject({ code: "PD_COMPONENT_NOT_FOUND" });
  });

  it("keeps what it works with, however short a source may be idle", async () => {
    const server = await TestServer.inMemory({ idleMs: "0.1" });
    const source = await server.deploy(version(1));
    const gate = await Gate.open();
    const updating = source.update({ component_code: version(2, `hooks: { async activate() { await fetch("${gate.url}"); this.db.set("activated", 2); } },`) });
    await gate.reached;
    // An idle source's process still ends in time.
    await server.deploy(version(9));
    const processes = async (): Promise<unknown> => dataOf(await server.api.get("/v1/status"))["processes"];
    await expect.poll(processes).toBe(2);
    expect(await answer(source.endpoint)).toBe("v2");
    gate.release();
    await updating;
    expect(await source.state()).toEqual({ activated: 2 });
  });

  it("gives sources that take the same name at once different slugs", async () => {
    const server = await TestServer.inMemory();
    const sources = await Promise.all([1, 2, 3].map((v) => server.deploy(version(v))));
    const renamed = await Promise.all(sources.map((source) => source.update({ name: "Same" })));
    expect(new Set(renamed.map((record) => record["name_slug"]))).toEqual(new Set(["same", "same-2", "same-3"]));
  });

  it("that was cut off in deactivate activates the old version again, since it may have given up everything", async () => {
    const server = await TestServer.inMemory({ timeoutMs: "0.3" });
    const gate = await Gate.open();
    const hooks = `hooks: { activate() { this.db.set("registered", true); }, async deactivate() { await fetch("${gate.url}"); } },`;
    const source = await server.deploy(version(1, hooks));
    await server.api.put(`${source.path}/state/registered`, { value: false });
    await expect(source.update({ component_code: version(2) })).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    expect(await source.state()).toMatchObject({ registered: true });
  });

  it("does not keep more processes than it needs, over many", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(version(0));
    for (let v = 1; v <= 30; v++) await source.update({ component_code: version(v) });
    const { readdir } = await import("node:fs/promises");
    await expect.poll(() => readdir(`${server.home}/run`).then(({ length }) => length)).toBeLessThanOrEqual(2);
  });
});

describe("an update of a source whose deactivate throws", () => {
  const broken = version(1, 'hooks: { deactivate() { throw new Error("gone upstream"); } },');

  it("is refused and names the way out, which goes on with the new code", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(broken);
    for (const change of [{ component_code: version(2) }, { active: false }])
      await expect(source.update(change)).rejects.toMatchObject({ code: "PD_HOOK_FAILED", fix: expect.stringMatching(/pd update \S+ --force/) });
    expect(await answer(source.endpoint)).toBe("v1");
    await source.update({ component_code: version(2), force: true });
    expect(await answer(source.endpoint)).toBe("v2");
    await source.update({ active: false });
  });

  it("goes back to the version before when the new one cannot be activated, and activates it no second time", async () => {
    const server = await TestServer.inMemory();
    const counts = 'activate() { this.db.set("activated", (this.db.get("activated") ?? 0) + 1); }';
    const source = await server.deploy(version(1, `hooks: { ${counts}, deactivate() { throw new Error("gone upstream"); } },`));
    const next = version(2, 'hooks: { activate() { throw new Error("refused"); } },');
    await expect(source.update({ component_code: next, force: true })).rejects.toMatchObject({
      code: "PD_HOOK_FAILED",
      message: expect.stringContaining("its hook activate failed"),
    });
    expect(await answer(source.endpoint)).toBe("v1");
    expect(await server.api.get(`/v1/sources/${source.id}/state/activated`)).toMatchObject({ data: { value: 1 } });
  });

  it("goes back to an earlier code by force", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(version(1));
    await source.update({ component_code: version(2, 'hooks: { deactivate() { throw new Error("gone upstream"); } },') });
    await expect(server.api.post(`/v1/sources/${source.id}/rollback`)).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    await server.api.post(`/v1/sources/${source.id}/rollback`, { force: true });
    expect(await answer(source.endpoint)).toBe("v1");
  });
});
