import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { useRegistry } from "../support/npm-registry.ts";
import { FakeRegistry } from "../support/registry.ts";
import { TestServer } from "../support/runtime.ts";

async function ownRegistry(): Promise<FakeRegistry> {
  const registry = await FakeRegistry.start();
  useRegistry(registry.url);
  return registry;
}

const using = (imports: string, run: string): string => `${imports}\nimport fs from "node:fs"; export default { name: "t", version: "1", run() { ${run} } };`;

describe("a package", () => {
  it.each(["file:", "link:", "git+file://"])("that names a folder of this machine by %s is not installed", async (protocol) => {
    const registry = await ownRegistry();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "package.json"), '{"name":"x","version":"1.0.0"}');
    await writeFile(join(folder, "secret"), "hush");
    await registry.publish("bad", "1.0.0", {}, { dependencies: { x: `${protocol}${folder}` } });
    const server = await TestServer.start();
    const deployed = server.deploy(using('import "bad";', 'return fs.readFileSync("../node_modules/x/secret", "utf8");'));
    await expect(deployed).rejects.toMatchObject({ code: "PD_INSTALL_FAILED" });
  });

  it.each(["nice@npm:evil@1.0.0", "nice@file:..", "nice@file:.", "nice@https:%2f%2fx", "nice@git+file:x"])(
    "cannot be put in the place of another: %s",
    async (specifier) => {
      const server = await TestServer.start();
      await expect(server.deploy(using(`import "${specifier}";`, ""))).rejects.toMatchObject({ code: "PD_BUILD_FAILED" });
    },
  );

  it("is not taken from a lock that names anything but a version", async () => {
    const server = await TestServer.start();
    for (const pin of ["file:/etc", "npm:evil@1.0.0", "latest", "^1.0.0", "git+file:///x"])
      await expect(
        server.api.post("/v1/sources/import", { slug: "a", name: "a", component: { code: using('import "ms";', "") }, packages: { ms: pin } }),
      ).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
  });

  it("cannot be changed by a component that imports it, by whatever path", async () => {
    const registry = await ownRegistry();
    await registry.publish("honest", "1.0.0", { "data.txt": "honest" });
    const server = await TestServer.start();
    const attempts = `
      const done = [];
      for (const folder of ["../node_modules", "node_modules", fs.realpathSync("../node_modules")])
        for (const attempt of [(path) => fs.writeFileSync(path, "evil"), (path) => fs.appendFileSync(path, "evil"), (path) => fs.rmSync(path), (path) => fs.renameSync(path, "./moved"), (path) => fs.chmodSync(path, 0o777), (path) => fs.truncateSync(path)])
          try { attempt(folder + "/honest/data.txt"); done.push(folder + attempt); } catch {}
      try { fs.symlinkSync(fs.realpathSync("../node_modules"), "link"); fs.writeFileSync("link/honest/data.txt", "evil"); done.push("link"); } catch {}
      try { fs.symlinkSync("../../node_modules", "link2"); fs.writeFileSync("link2/honest/data.txt", "evil"); done.push("link2"); } catch {}
      try { fs.linkSync(fs.realpathSync("../node_modules/honest/data.txt"), "hard"); fs.writeFileSync("hard", "evil"); done.push("hard link"); } catch {}
      return done;`;
    const source = await server.deploy(using('import "honest";', attempts));
    expect(await source.run()).toMatchObject({ returned: [] });
    const reader = await server.deploy(using('import "honest";', 'return fs.readFileSync("../node_modules/honest/data.txt", "utf8");'));
    expect(await reader.run()).toMatchObject({ returned: "honest" });
  });

  it("that wants what the registry lacks is named with what it wants", async () => {
    const registry = await ownRegistry();
    await registry.publish("outer", "1.0.0", {}, { dependencies: { "no-such-inner": "^9.0.0" } });
    const server = await TestServer.start();
    await expect(server.deploy(using('import "outer";', ""))).rejects.toMatchObject({
      code: "PD_PACKAGE_NOT_FOUND",
      message: expect.stringMatching(/Cannot install outer \(imported at source\.mjs:1\): its dependency "no-such-inner@\^9\.0\.0" is not in the registry/),
    });
  });

  it("and the component's own code cannot be written by it", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(using("", 'try { fs.writeFileSync("../component.mjs", "x"); } catch (error) { return error.code; }'));
    expect(await source.run()).toMatchObject({ returned: "ERR_ACCESS_DENIED" });
    const own = await server.deploy(
      using("", 'fs.writeFileSync("mine", "x"); fs.writeFileSync("/tmp/also", "y"); return [fs.readFileSync("mine", "utf8"), fs.readdirSync("/tmp")];'),
    );
    expect(await own.run()).toMatchObject({ returned: ["x", ["also"]] });
    expect(await readFile("/tmp/also", "utf8").catch(() => "not there")).toBe("not there");
  });
});
