import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { bareNpm } from "../../src/code/npm-command.ts";
import { NpmResolver } from "../../src/code/npm-resolver.ts";
import { systemClock } from "../../src/system/clock.ts";
import { deployFile } from "../support/components.ts";
import { temporaryFolder } from "../support/home.ts";
import { useRegistry } from "../support/npm-registry.ts";
import { FakeRegistry } from "../support/registry.ts";
import { TestServer } from "../support/runtime.ts";
import { deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";
import { silentLog } from "../../src/system/log.ts";

const using = (name: string, rest = ""): string =>
  `import m from "${name}/package.json" with { type: "json" }; export default { name: "t", version: "1", run() { return m.version; }, ${rest} };`;

async function resolver(folder: string): Promise<NpmResolver> {
  return NpmResolver.open({ folder, npm: bareNpm, allowScripts: false, clock: systemClock, log: silentLog, signal: new AbortController().signal });
}

async function withNpm(script: string): Promise<void> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "npm"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}:${before}`;
  onTestFinished(() => {
    process.env["PATH"] = before;
  });
}

describe("packages", () => {
  it("are installed from the import alone, at the versions that it asks for", async () => {
    const server = await TestServer.start();
    const source = await deployFile(server, "pinned-packages.js");
    await source.run();
    expect(await source.payloads()).toEqual([{ exact: "2.1.2", range: "6.0.0", tilde: "3.0.1", latest: expect.stringMatching(/^\d/), plain: "1.3.0" }]);
  });

  it("stay at their version through updates, but for @latest", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(using("ms@2.0.0"));
    expect((await source.run())["returned"]).toBe("2.0.0");
    await source.update({ component_code: using("ms") });
    expect((await source.run())["returned"]).toBe("2.0.0");
    await source.update({ component_code: using("ms@^2") });
    expect((await source.run())["returned"]).toBe("2.0.0");
    await source.update({ component_code: using("ms@latest") });
    expect((await source.run())["returned"]).not.toBe("2.0.0");
  });

  it("at @latest follow what is published, a plain name does not", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-moving", "1.0.0");
    useRegistry(registry.url);
    const server = await TestServer.start();
    const code = (spec: string): string =>
      `import v from "${spec}"; export default { name: "t", version: "1", props: { a: { type: "string", optional: true } }, run() { return v; } };`;
    const latest = await server.deploy(code("headwater-moving@latest"));
    const plain = await server.deploy(code("headwater-moving"));
    await registry.publish("headwater-moving", "1.1.0");
    for (const source of [latest, plain]) await source.update({ name: "again" });
    await latest.update({ component_code: `${code("headwater-moving@latest")} // saved again` });
    await plain.update({ component_code: `${code("headwater-moving")} // saved again` });
    expect((await latest.run())["returned"]).toBe("1.1.0");
    expect((await plain.run())["returned"]).toBe("1.0.0");
    await registry.publish("headwater-moving", "1.2.0");
    for (const source of [latest, plain]) await source.update({ configured_props: { a: "other" } });
    expect([(await latest.run())["returned"], (await plain.run())["returned"]]).toEqual(["1.2.0", "1.0.0"]);
    // The installed package stays.
    await registry.publish("headwater-moving", "1.3.0");
    await latest.update({ configured_props: {}, name: "renamed" });
    expect((await latest.run())["returned"]).toBe("1.2.0");
  });

  it("at @latest hold up no change of values while what is newest does not load", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-broken", "1.0.0");
    useRegistry(registry.url);
    const server = await TestServer.start();
    const source = await server.deploy(
      'import v from "headwater-broken@latest"; export default { name: "t", version: "1", props: { a: { type: "string", optional: true } }, run() { return [v, this.a, process.env.B]; } };',
    );
    await registry.publish("headwater-broken", "2.0.0", { "index.js": 'throw new Error("no");' });
    await source.update({ configured_props: { a: "new" } });
    expect((await source.run())["returned"]).toEqual(["1.0.0", "new", null]);
    await source.update({ env: { B: "set" } });
    expect((await source.run())["returned"]).toEqual(["1.0.0", "new", "set"]);
  });

  it("are the newest that this Node can run, where the import says nothing; before their first release what there is", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-newer", "1.0.0");
    await registry.publish("headwater-newer", "2.0.0", {}, { engines: { node: ">=99" } });
    await registry.publish("headwater-early", "1.0.0-beta.1");
    useRegistry(registry.url);
    const server = await TestServer.start();
    const returnedBy = async (spec: string): Promise<unknown> => {
      const source = await server.deploy(`import v from "${spec}"; export default { name: "t", version: "1", run() { return v; } };`);
      return (await source.run())["returned"];
    };
    expect([await returnedBy("headwater-newer"), await returnedBy("headwater-newer@latest"), await returnedBy("headwater-early")]).toEqual([
      "1.0.0",
      "2.0.0",
      "1.0.0-beta.1",
    ]);
  });

  it("that no import pins are those of a day where that is asked for, and stay so with the next code", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-old", "1.0.0", {}, {}, "2023-01-05T00:00:00Z");
    await registry.publish("headwater-old", "2.0.0", { "index.js": "throw new Error('too new');" }, {}, "2024-01-05T00:00:00Z");
    useRegistry(registry.url);
    const server = await TestServer.start();
    const code = 'import v from "headwater-old"; export default { name: "t", version: "1", run() { return v; } };';
    await expect(server.deploy(code)).rejects.toMatchObject({
      code: "PD_LOAD_FAILED",
      fix: expect.stringContaining("If the code is older than headwater-old, install the packages of its time: --packages-as-of 2023-06-01"),
    });
    const created = await server.api.post("/v1/sources", { component_code: code, packages_as_of: "2023-06-01" });
    const source = `/v1/sources/${String((created as { data: { id: string } }).data.id)}`;
    const returned = async (): Promise<unknown> => ((await server.api.post(`${source}/run`)) as { data: { returned?: unknown } }).data.returned;
    expect(await returned()).toBe("1.0.0");
    await server.api.put(source, { component_code: `${code} // saved` });
    expect(await returned()).toBe("1.0.0");
    await expect(server.api.put(source, { component_code: `${code} // saved again`, packages_as_of: "2024-06-01" })).rejects.toMatchObject({
      code: "PD_LOAD_FAILED",
    });
    await expect(server.api.put(source, { packages_as_of: "2024-06-01" })).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    await expect(server.api.put(source, { component_code: code, packages_as_of: "2023-02-30" })).rejects.toThrow("expected a day such as 2023-06-01");
    expect(
      await server.api.post("/v1/actions/run", { component_code: code.replace('version: "1"', 'version: "1", type: "action"'), packages_as_of: "2023-12-31" }),
    ).toMatchObject({ ret: "1.0.0" });
    const files = workflowOf(
      { only: 'import v from "headwater-old"; export default { run() { return v; } };' },
      { head: "settings: { packages_as_of: 2023-06-01 }\n" },
    );
    const workflow = await deployWorkflow(server, files);
    expect(exportsOf(await workflow.run(), "only")).toEqual({ $return_value: "1.0.0" });
  });

  it("of two versions are there side by side, where the files of a component ask for them", async () => {
    const registry = await FakeRegistry.start();
    for (const version of ["1.0.0", "2.0.0"]) await registry.publish("headwater-twice", version);
    useRegistry(registry.url);
    const server = await TestServer.start();
    const files = { "old.mjs": 'import v from "headwater-twice@1.0.0"; export default v;', "plain.mjs": 'import v from "headwater-twice"; export default v;' };
    const code =
      'import old from "./old.mjs"; import plain from "./plain.mjs"; import v from "headwater-twice@^2"; export default { name: "t", version: "1", run() { return [old, plain, v]; } };';
    const source = await server.deploy(code, { files });
    expect((await source.run())["returned"]).toEqual(["1.0.0", "2.0.0", "2.0.0"]);
    // The resolver finds the installed set without the registry.
    useRegistry("http://127.0.0.1:1/");
    const again = await resolver(join(server.home, "packages"));
    const alias = { name: "headwater-twice--1.0.0", aliasOf: "headwater-twice", range: "1.0.0", importedAt: "a.mjs:1" };
    const { lock } = await again.resolve([{ name: "headwater-twice", range: "^2", importedAt: "a.mjs:1" }, alias], {});
    expect(lock).toEqual({ "headwater-twice": "2.0.0", [alias.name]: "1.0.0" });
  });

  it("that have no such version are told of by the name that the import has", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-twice", "1.0.0");
    useRegistry(registry.url);
    const server = await TestServer.start();
    const code =
      'import a from "headwater-twice@1.0.0";\nimport b from "headwater-twice@9.9.9"; export default { name: "t", version: "1", run() { return [a, b]; } };';
    await expect(server.deploy(code)).rejects.toThrow(/Cannot install "headwater-twice@9\.9\.9", imported at \S+:2: the registry does not have this version/);
  });

  it("keep their pins when the source comes from another server", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-moving", "1.0.0");
    useRegistry(registry.url);
    const code = 'import v from "headwater-moving"; export default { name: "Pinned", version: "1", run() { return v; } };';
    const first = await TestServer.start();
    const source = await first.deploy(code);
    await registry.publish("headwater-moving", "1.1.0");
    const { data } = await first.api.get(`${source.path}/export`);
    expect(data).toMatchObject({ packages: { "headwater-moving": "1.0.0" } });
    const second = await TestServer.start();
    await second.api.post("/v1/sources/import", data as JsonObject);
    expect(await second.api.post("/v1/sources/pinned/run")).toMatchObject({ data: { returned: "1.0.0" } });
  });

  it("take the range of the project's package.json", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(using("ms"), { path: "src/a.mjs", files: { "package.json": JSON.stringify({ dependencies: { ms: "2.1.1" } }) } });
    expect((await source.run())["returned"]).toBe("2.1.1");
  });

  it("of sources that need the same are shared, also when they are deployed at once", async () => {
    const calls = join(await temporaryFolder(), "calls");
    const npm = (process.env["PATH"] ?? "")
      .split(":")
      .map((folder) => join(folder, "npm"))
      .find((path) => existsSync(path));
    await withNpm(`echo called >> ${calls}; exec ${npm} "$@"`);
    const server = await TestServer.start({ sandboxUse: "belt" });
    const sources = await Promise.all([1, 2, 3].map(() => server.deploy(using("ms@2.1.3"))));
    expect((await readdir(join(server.home, "packages"))).filter((name) => !name.startsWith("."))).toHaveLength(1);
    expect(readFileSync(calls, "utf8")).toBe("called\n");
    expect((await sources[2]?.run())?.["returned"]).toBe("2.1.3");
  });

  it.each([
    [
      "that nobody has published",
      "headwater-no-such-package-x1",
      'Cannot install "headwater-no-such-package-x1", imported at source.mjs:2: the registry does not have this package',
    ],
    ["in a version that was never published", "ms@99.0.0", 'Cannot install "ms@99.0.0", imported at source.mjs:2: the registry does not have this version'],
  ])("%s give an error that names the import's line", async (_title, name, message) => {
    const server = await TestServer.start();
    const failed = server.deploy(`// first line\nimport x from "${name}"; export default { name: "t", version: "1", run() { x(); } };`);
    await expect(failed).rejects.toMatchObject({ code: "PD_PACKAGE_NOT_FOUND", message });
    expect(await readdir(join(server.home, "packages"))).toEqual([]);
  });

  it("that are already there need no registry", async () => {
    const server = await TestServer.start();
    await server.deploy(using("ms"));
    await server.stop();
    await withNpm('echo "npm error code ENOTFOUND" >&2; exit 1');
    const again = await TestServer.start({ home: server.home, sandboxUse: "belt" });
    const source = await again.deploy(using("ms"));
    expect((await source.run())["outcome"]).toBe("returned");
    await expect(again.deploy(using("is-number"))).rejects.toMatchObject({ code: "PD_PACKAGES_UNREACHABLE" });
  });

  it("that were fetched for another set come from the cache while the registry cannot be reached, and the refusal is told at once", async () => {
    const server = await TestServer.start();
    await server.deploy(`import ms from "ms@2.1.3"; import odd from "is-odd@3.0.1"; ${using("is-number@7.0.0")}`);
    // No proxy answers here. npm's cache depends on the registry's URL, which stays the same.
    for (const name of ["npm_config_proxy", "npm_config_https_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"])
      vi.stubEnv(name, "http://127.0.0.1:9");
    onTestFinished(() => void vi.unstubAllEnvs());
    const source = await server.deploy(using("ms@2.1.3"));
    expect((await source.run())["outcome"]).toBe("returned");
    await expect(server.deploy(using("left-pad"))).rejects.toMatchObject({ code: "PD_PACKAGES_UNREACHABLE" });
  });

  it("whose install was killed leave nothing half done", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, ".partial-killed", "node_modules", "ms"), { recursive: true });
    const packages = await resolver(folder);
    expect(await readdir(folder)).toEqual([]);
    const { folder: name } = await packages.resolve([{ name: "ms", range: "2.1.3", importedAt: "a:1" }], {});
    expect(await readdir(folder)).toEqual([name]);
  });

  it("run no install scripts", async () => {
    const folder = await temporaryFolder();
    const words = join(folder, "words");
    await withNpm(`echo "$@" > ${words}; exit 1`);
    const packages = await resolver(join(folder, "packages"));
    await expect(packages.resolve([{ name: "ms", importedAt: "a:1" }], {})).rejects.toMatchObject({ code: "PD_INSTALL_FAILED" });
    const { readFile } = await import("node:fs/promises");
    expect(await readFile(words, "utf8")).toContain("--ignore-scripts");
  });

  it("cannot be installed without npm, and the error says so", async () => {
    const before = process.env["PATH"];
    const folder = await temporaryFolder();
    await symlink(process.execPath, join(folder, "node"));
    process.env["PATH"] = folder;
    onTestFinished(() => {
      process.env["PATH"] = before;
    });
    const packages = await resolver(join(folder, "packages"));
    await expect(packages.resolve([{ name: "ms", importedAt: "a:1" }], {})).rejects.toMatchObject({ code: "PD_NPM_MISSING" });
    await rm(join(folder, "node"));
  });
});
