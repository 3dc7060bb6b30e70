import { appendFile, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bareNpm } from "../../src/code/npm-command.ts";
import { NpmResolver } from "../../src/code/npm-resolver.ts";
import { SharedPackages } from "../../src/code/shared-packages.ts";
import type { PackageSpec } from "../../src/domain/component/package-spec.ts";
import type { Log } from "../../src/ports/log.ts";
import { systemClock } from "../../src/system/clock.ts";
import { folderBytes } from "../../src/system/home/disk.ts";
import { silentLog } from "../../src/system/log.ts";
import { temporaryFolder } from "../support/home.ts";

interface Opened {
  readonly resolver: NpmResolver;
  readonly shared: SharedPackages;
}

async function open(folder: string, { allowScripts = false, log = silentLog }: { allowScripts?: boolean; log?: Log } = {}): Promise<Opened> {
  const over = new AbortController();
  const shared = await SharedPackages.open({ folder, log, signal: over.signal, randomText: () => systemClock.randomText(12) });
  onTestFinished(async () => {
    over.abort();
    await shared.finished();
  });
  return { resolver: await NpmResolver.open({ folder, npm: bareNpm, allowScripts, shared, clock: systemClock, log: silentLog, signal: over.signal }), shared };
}

async function install({ resolver, shared }: Opened, versions: Readonly<Record<string, string>>): Promise<string> {
  const specs = Object.entries(versions).map(([name, range]): PackageSpec => ({ name, range, importedAt: "t.mjs:1" }));
  const { folder = "" } = await resolver.resolve(specs, {});
  await shared.finished();
  return resolver.locate(folder);
}

const file = (set: string, name: string): string => join(set, "node_modules", name);
const inode = async (set: string, name: string): Promise<number> => (await stat(file(set, name))).ino;

async function filesOf(set: string, pattern: RegExp, within = "node_modules"): Promise<string[]> {
  return (await readdir(join(set, within), { recursive: true })).filter((path) => pattern.test(path));
}

describe("packages that several sets have in common", () => {
  it("lie on the disk once, and stay whole in each", async () => {
    const folder = await temporaryFolder();
    const opened = await open(folder);
    const first = await install(opened, { axios: "1.7.2" });
    const before = await folderBytes(folder);
    const second = await install(opened, { axios: "1.7.2", ms: "2.1.3" });
    expect(await inode(second, "axios/index.js")).toBe(await inode(first, "axios/index.js"));
    expect(await inode(second, "form-data/lib/form_data.js")).toBe(await inode(first, "form-data/lib/form_data.js"));
    // Only the set's own lists and its additional package need space.
    expect((await folderBytes(folder)) - before).toBeLessThan(before / 20);
    await rm(first, { recursive: true });
    expect(await readFile(file(second, "axios/package.json"), "utf8")).toContain('"version": "1.7.2"');
  });

  it("are shared later as well, where a server was killed before it came so far", async () => {
    const folder = await temporaryFolder();
    const killed = await NpmResolver.open({
      folder,
      npm: bareNpm,
      allowScripts: false,
      clock: systemClock,
      log: silentLog,
      signal: new AbortController().signal,
    });
    const places = [];
    for (const versions of [{ ms: "2.1.3" }, { ms: "2.1.3", has: "1.0.4" }]) {
      const specs = Object.entries(versions).map(([name, range]): PackageSpec => ({ name, range, importedAt: "t.mjs:1" }));
      places.push(killed.locate((await killed.resolve(specs, {})).folder ?? ""));
    }
    const [first = "", second = ""] = places;
    await mkdir(join(folder, ".shared", ".partial-999999999-abc"), { recursive: true });
    const opened = await open(folder);
    await opened.resolver.shareInstalled();
    expect(await inode(second, "ms/index.js")).toBe(await inode(first, "ms/index.js"));
    expect((await readdir(join(folder, ".shared"))).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("hold none of what serves editors alone, and keep it where a compiler reads it", async () => {
    const folder = await temporaryFolder();
    const opened = await open(folder);
    const lean = await install(opened, { axios: "1.7.2", "is-what": "5.5.0" });
    expect(await filesOf(lean, /\.d\.[cm]?ts$|\.map$/)).toEqual([]);
    expect(await filesOf(lean, /^axios\/(index\.js|package\.json|README\.md)$/)).toHaveLength(3);
    expect((await filesOf(join(folder, ".shared"), /\.d\.[cm]?ts$/, ".")).length).toBe(0);
    const compiling = await install(opened, { axios: "1.7.2", typescript: "5.9.3" });
    expect(await filesOf(compiling, /^axios\/index\.d\.ts$|^typescript\/lib\/lib\.es5\.d\.ts$/)).toHaveLength(2);
    expect(await filesOf(lean, /\.d\.[cm]?ts$/)).toEqual([]);
  });

  it("lose what serves editors later as well, where an earlier version has shared it", async () => {
    const folder = await temporaryFolder();
    const earlier = await open(folder);
    const set = await install(earlier, { ms: "2.1.3" });
    const [key = ""] = await readdir(join(folder, ".shared"));
    await rm(join(set, ".lean"));
    for (const place of [file(set, "ms"), join(folder, ".shared", key)]) {
      await mkdir(join(place, "types"), { recursive: true });
      await writeFile(join(place, "types", "left.d.ts"), "export {};");
    }
    await (await open(folder)).resolver.shareInstalled();
    await expect(stat(join(file(set, "ms"), "types"))).rejects.toThrow("ENOENT");
    await expect(stat(join(folder, ".shared", key, "types"))).rejects.toThrow("ENOENT");
    expect(await readFile(file(set, "ms/index.js"), "utf8")).not.toBe("");
  });

  it("keep apart what somebody has changed in one of them", async () => {
    const folder = await temporaryFolder();
    const opened = await open(folder);
    const first = await install(opened, { ms: "2.1.3" });
    const changed = join(folder, ".shared", (await readdir(join(folder, ".shared")))[0] ?? "", "index.js");
    await rm(changed);
    await writeFile(changed, "changed");
    const second = await install(opened, { ms: "2.1.3", has: "1.0.4" });
    expect(await readFile(file(second, "ms/index.js"), "utf8")).toBe(await readFile(file(first, "ms/index.js"), "utf8"));
    expect(await inode(second, "ms/license.md")).toBe(await inode(first, "ms/license.md"));
  });

  it("are not shared where scripts of packages may have changed them", async () => {
    const folder = await temporaryFolder();
    const scripted = await open(folder, { allowScripts: true });
    const first = await install(scripted, { ms: "2.1.3" });
    const plain = await open(folder);
    await plain.resolver.shareInstalled();
    const second = await install(plain, { ms: "2.1.3", has: "1.0.4" });
    expect(await inode(second, "ms/index.js")).not.toBe(await inode(first, "ms/index.js"));
    await appendFile(file(first, "ms/index.js"), "// changed");
    expect(await readFile(file(second, "ms/index.js"), "utf8")).not.toContain("// changed");
  });

  it("are shared by two servers at once, and none is in the way of the other", async () => {
    const folder = await temporaryFolder();
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
    const [one, other] = [await open(folder, { log }), await open(folder, { log })];
    const sets = await Promise.all([
      install(one, { axios: "1.7.2" }),
      install(other, { axios: "1.7.2", ms: "2.1.3" }),
      install(one, { axios: "1.7.2", has: "1.0.4" }),
    ]);
    expect(warnings).toEqual([]);
    for (const set of sets) expect(await readFile(file(set, "axios/package.json"), "utf8")).toContain('"version": "1.7.2"');
    const more = await install(other, { axios: "1.7.2", "is-odd": "3.0.1" });
    expect((await stat(file(more, "axios/index.js"))).nlink).toBeGreaterThan(2);
  });
});
