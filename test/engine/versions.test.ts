import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { TestServer } from "../support/runtime.ts";

const code = (v: number, rest = ""): string =>
  `export default { name: "t", version: "0.0.${v}", props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" }, ${rest} run() { this.db.set("by", ${v}); this.http.respond({ body: "v${v}" }); } };`;

const answer = async (url: string): Promise<string> => (await fetch(url)).text();

describe("the versions of a source", () => {
  it("are the codes that it ran on; each call tells which", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1));
    await answer(source.endpoint);
    await source.update({ component_code: code(2) });
    await answer(source.endpoint);
    await source.update({ name: "other name", configured_props: {} });
    const versions = await server.client.sources.versions(source.id);
    expect(versions.map(({ number, component_version: declared, current }) => [number, declared, current])).toEqual([
      [2, "0.0.2", true],
      [1, "0.0.1", false],
    ]);
    expect((await source.invocations()).map(({ version }) => version)).toEqual([2, 1]);
    expect(await server.client.sources.get(source.id)).toMatchObject({ version: 2 });
  });

  it("are the same one when the same code is given again", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1));
    await source.update({ component_code: code(1), env: { A: "1" } });
    expect((await server.client.sources.versions(source.id)).map(({ number }) => number)).toEqual([1]);
  });

  it("never share a number: one that was taken back, on which calls may have run, keeps its own, also over a restart", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(code(1));
    await expect(source.update({ component_code: code(2, 'hooks: { activate() { throw new Error("no"); } },') })).rejects.toThrow("no");
    expect(await answer(source.endpoint)).toBe("v1");
    await source.update({ component_code: code(3) });
    expect((await server.client.sources.versions(source.id)).map(({ number }) => number)).toEqual([3, 1]);
    await server.client.sources.rollback(source.id);
    expect(await answer(source.endpoint)).toBe("v1");
    await expect(source.update({ component_code: code(5, 'hooks: { activate() { throw new Error("no"); } },') })).rejects.toThrow("no");
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect((await again.client.sources.get(source.id)).version).toBe(4);
    expect((await again.client.sources.update(source.id, { component_code: code(6) })).version).toBe(6);
  });

  it("keep the number of one whose server died before it was stored, however many calls have come since those that ran on it", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(code(1));
    await answer(source.endpoint);
    await server.stop();
    const database = openDatabase(join(server.home, "headwater.db"), { isReadOnly: false, timeoutMs: 1000 });
    database.exec("update invocations set version = 2");
    database.close();
    const next = await TestServer.start({ home: server.home });
    const { endpoint_url: endpoint = "" } = await next.client.sources.get(source.id);
    for (let count = 0; count < 25; count++) await answer(endpoint);
    await next.stop();
    const last = await TestServer.start({ home: server.home });
    expect((await last.client.sources.update(source.id, { component_code: code(3) })).version).toBe(3);
  });

  it("are shown with their code and how it differs", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1));
    await source.update({ component_path: "source.mjs", component_code: `${code(2)}\n// more` });
    const first = await server.client.sources.version(source.id, "1");
    expect(first).toMatchObject({ number: 1, against: 2, component_path: "source.mjs", files: { "source.mjs": code(1) } });
    expect(first.changes).toEqual([{ path: "source.mjs", kind: "changed", lines: expect.arrayContaining([`+${code(1)}`, `-${code(2)}`, "-// more"]) }]);
    expect((await server.client.sources.version(source.id, "2", { against: 2 })).changes).toEqual([]);
  });

  it("find the values of their props again, though a code between them had none of these; what does not fit any more is left", async () => {
    const server = await TestServer.inMemory();
    const declares = (props: string): string =>
      `export default { name: "t", version: "1", props: { ${props} }, async additionalProps() { return this.size === "l" ? { more: "string" } : {}; }, run() { this.$emit({ ...this }); } };`;
    const both = declares('size: { type: "string", reloadProps: true }, pin: { type: "string", secret: true }');
    const source = await server.deploy(both, { props: { size: "l", pin: "hush-1", more: "yes" } });
    await source.update({ component_code: declares("") });
    expect((await server.client.sources.get(source.id)).configured_props).toEqual({});
    await server.client.sources.rollback(source.id);
    expect((await server.client.sources.get(source.id)).configured_props).toMatchObject({ size: "l", more: "yes" });
    await source.update({ component_code: declares("") });
    await source.update({ component_code: declares('size: { type: "integer", default: 3 }') });
    expect((await server.client.sources.get(source.id)).configured_props).toEqual({ size: 3 });
    // A value that a user removed must not return.
    await source.update({ component_code: both, configured_props: { size: "l", pin: "hush-2", more: "yes" } });
    await source.update({ component_code: declares('size: { type: "string", optional: true }'), configured_props: { size: null } });
    await expect(server.client.sources.rollback(source.id)).rejects.toMatchObject({
      code: "PD_BAD_PROPS",
      message: expect.stringContaining("size is required"),
    });
    // The same for a value that is removed with its prop, or after it.
    const modes = `export default { name: "m", version: "1", props: { mode: { type: "string", reloadProps: true } }, async additionalProps() { return this.mode === "a" ? { key: { type: "string", optional: true } } : {}; }, run() {} };`;
    const other = await server.deploy(modes, { props: { mode: "a", key: "hush" } });
    const values = async () => (await server.client.sources.get(other.id)).configured_props;
    await other.update({ configured_props: { mode: "b", key: null } });
    await other.update({ configured_props: { mode: "a" } });
    expect(await values()).toEqual({ mode: "a" });
    await other.update({ configured_props: { key: "two" } });
    await other.update({ configured_props: { mode: "b" } });
    await other.update({ configured_props: { key: null } });
    await other.update({ configured_props: { mode: "a" } });
    expect(await values()).toEqual({ mode: "a" });
  });

  it("guard an update that was made for another one", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1));
    await source.update({ component_code: code(2), if_version: 1 });
    await expect(source.update({ component_code: code(3), if_version: 1 })).rejects.toMatchObject({
      code: "PD_CONFLICT",
      message: "Cannot update t: expected version 1, but version 2 is running",
    });
    expect(await answer(source.endpoint)).toBe("v2");
  });

  it("are gone back to, with values and state as they are, and what is gone back to is a version of its own", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1));
    await source.update({ component_code: code(2) });
    expect(await answer(source.endpoint)).toBe("v2");
    expect(await server.client.sources.rollback(source.id)).toMatchObject({ id: source.id, version: 3, component_version: "0.0.1" });
    expect(await source.state()).toEqual({ by: 2 });
    expect(await answer(source.endpoint)).toBe("v1");
    expect((await server.client.sources.versions(source.id))[0]).toMatchObject({ number: 3, same_as: 1, current: true });
    await server.client.sources.rollback(source.id, { version: 2 });
    expect(await answer(source.endpoint)).toBe("v2");
    await expect(server.client.sources.rollback(source.id, { version: 4 })).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    await expect(server.client.sources.rollback(source.id, { version: 9 })).rejects.toMatchObject({
      code: "PD_NOT_FOUND",
      message: "Cannot find version 9 of t: the versions are 4, 3, 2, 1",
    });
  });

  it("are left as they are when going back fails", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1, 'hooks: { async activate() { if (this.db.get("by") === 2) throw new Error("no way back"); } },'));
    await source.update({ component_code: code(2) });
    await answer(source.endpoint);
    await expect(server.client.sources.rollback(source.id)).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    expect(await answer(source.endpoint)).toBe("v2");
    expect((await server.client.sources.versions(source.id)).map(({ number }) => number)).toEqual([2, 1]);
  });

  it("do not exist before there was another code", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1));
    await expect(server.client.sources.rollback(source.id)).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
    await expect(server.client.sources.version(source.id, "x")).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
  });
});
