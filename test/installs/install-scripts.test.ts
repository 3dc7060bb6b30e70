import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { FakeRegistry } from "../support/registry.ts";
import { TestServer } from "../support/runtime.ts";

const SCRIPT = `
const fs = require("node:fs"), { execFileSync } = require("node:child_process");
const look = (what) => { try { return String(what()).slice(0, 4000); } catch (error) { return "refused: " + error.code; } };
const { HOME_OF_USER, PD_HOME_OF_TEST, PACKAGES } = JSON.parse(fs.readFileSync("places.json", "utf8"));
fs.writeFileSync("found.json", JSON.stringify({
  home: look(() => fs.readdirSync(HOME_OF_USER)),
  npmrc: look(() => fs.readFileSync(HOME_OF_USER + "/.npmrc")),
  database: look(() => fs.readFileSync(PD_HOME_OF_TEST + "/headwater.db")),
  others: look(() => fs.readdirSync(PACKAGES)),
  cache: look(() => fs.readdirSync(PD_HOME_OF_TEST + "/npm-cache")),
  written: look(() => fs.writeFileSync(PACKAGES + "/planted", "")),
  env: JSON.stringify(process.env),
  settings: look(() => fs.readFileSync(process.env.npm_config_userconfig)),
  processes: look(() => fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length),
  program: look(() => execFileSync("sh", ["-c", "echo started"])),
}));`;

async function withHome(registry: FakeRegistry): Promise<string> {
  const home = await temporaryFolder();
  await writeFile(
    join(home, ".npmrc"),
    `registry=${registry.url.replace("://", "://someone:password-in-address@")}\n//${new URL(registry.url).host}/:_authToken=\${SECRET_TOKEN_OF_TEST}\n`,
  );
  const before = { ...process.env };
  Object.assign(process.env, { HOME: home, npm_config_userconfig: join(home, ".npmrc"), SECRET_TOKEN_OF_TEST: "token-of-the-registry" });
  onTestFinished(() => {
    delete process.env["SECRET_TOKEN_OF_TEST"];
    delete process.env["npm_config_userconfig"];
    Object.assign(process.env, before);
  });
  return home;
}

async function registryWithScript(places: object): Promise<FakeRegistry> {
  const registry = await FakeRegistry.start();
  const files = { "install.js": SCRIPT, "places.json": JSON.stringify(places), "index.js": 'module.exports = require("./found.json");' };
  await registry.publish("curious", "1.0.0", files, { scripts: { install: "node install.js" }, hasInstallScript: true });
  return registry;
}

const CODE = 'import found from "curious"; export default { name: "t", version: "1", run() { return found; } };';

describe("npm within the wall", () => {
  it("asks the registry as the user is known to it, and keeps what it fetched in the home", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("plain", "1.0.0");
    await withHome(registry);
    const server = await TestServer.start({ sandboxUse: "wall" });
    const source = await server.deploy('import version from "plain"; export default { name: "t", version: "1", run() { return version; } };');
    expect((await source.run())["returned"]).toBe("1.0.0");
    expect(registry.tokens).toEqual(new Set(["Bearer token-of-the-registry"]));
    expect(await readdir(join(server.home, "npm-cache"))).toContain("_cacache");
  });

  it("lets the scripts of packages build, and shows them neither home nor token nor other packages", async () => {
    const pdHome = await temporaryFolder();
    const home = await temporaryFolder();
    const packages = join(pdHome, "packages");
    await mkdir(join(packages, "of-others"), { recursive: true });
    const registry = await registryWithScript({ HOME_OF_USER: home, PD_HOME_OF_TEST: pdHome, PACKAGES: packages });
    await writeFile(join(home, "diary"), "secret");
    await withHome(registry);
    const server = await TestServer.start({ home: pdHome, sandboxUse: "wall", allowScripts: "true" });
    const source = await server.deploy(CODE);
    const found = (await source.run())["returned"] as Record<string, string>;
    expect(found).toMatchObject({ home: "refused: ENOENT", npmrc: "refused: ENOENT", database: "refused: ENOENT" });
    expect(found).toMatchObject({ cache: expect.not.stringContaining("_cacache"), others: expect.not.stringContaining("of-others"), program: "started\n" });
    expect(Number(found["processes"])).toBeLessThan(8);
    expect(found["env"]).not.toMatch(/token-of-the-registry|password-in-address/);
    expect(found["settings"]).toContain("registry=http://127.0.0.1");
    expect(found["settings"]).not.toMatch(/_authToken|password-in-address/);
    expect(await readdir(packages)).not.toContain("planted");
    expect(await readFile(join(home, "diary"), "utf8")).toBe("secret");
  });

  it.each([
    ["wall", "sleep 4567890 &"],
    ["wall", "setsid sleep 4567890 & sleep 4567890 &"],
    ["belt", "sleep 4567890 &"],
  ] as const)("is not held in the %s by a process that a script leaves in the background: %s", async (sandboxUse, script) => {
    const registry = await FakeRegistry.start();
    await registry.publish("lingering", "1.0.0", {}, { scripts: { postinstall: script }, hasInstallScript: true });
    await withHome(registry);
    const server = await TestServer.start({ sandboxUse, allowScripts: "true" });
    const source = await server.deploy('import version from "lingering"; export default { name: "t", version: "1", run() { return version; } };');
    expect((await source.run())["outcome"]).toBe("returned");
    await expect.poll(() => spawnSync("pgrep", ["-f", "sleep 4567890"]).status).toBe(1);
  });

  it("hangs at nothing that a script leaves in the place of what is read afterwards", async () => {
    const registry = await FakeRegistry.start();
    const script = "rm ../.package-lock.json package.json; mkfifo ../.package-lock.json package.json";
    await registry.publish("piping", "1.0.0", {}, { scripts: { install: script }, hasInstallScript: true });
    await registry.publish(
      "linking",
      "1.0.0",
      {},
      { scripts: { install: "cd ../..; mv node_modules elsewhere; ln -s /etc node_modules" }, hasInstallScript: true },
    );
    await registry.publish("plain", "1.0.0");
    await withHome(registry);
    const server = await TestServer.start({ sandboxUse: "wall", allowScripts: "true" });
    const using = (name: string): string => `import "${name}"; export default { name: "t", version: "1", run() {} };`;
    await expect(server.deploy(using("piping"))).rejects.toMatchObject({ code: "PD_LOAD_FAILED" });
    await expect(server.deploy(using("linking"))).rejects.toMatchObject({ code: "PD_INSTALL_FAILED" });
    expect((await (await server.deploy(using("plain"))).run())["outcome"]).toBe("returned");
    await server.stop();
    const again = await TestServer.start({ home: server.home, sandboxUse: "wall", allowScripts: "true" });
    expect((await (await again.deploy(using("plain"))).run())["outcome"]).toBe("returned");
  });

  it("runs no script unless it is allowed", async () => {
    const registry = await registryWithScript({});
    await withHome(registry);
    const server = await TestServer.start({ sandboxUse: "wall" });
    await expect(server.deploy(CODE)).rejects.toMatchObject({ message: expect.stringContaining("found.json") });
  });
});
