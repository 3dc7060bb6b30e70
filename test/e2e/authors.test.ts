import { spawnSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PdHome } from "../support/pd.ts";

const ROOT = join(import.meta.dirname, "..", "..");

describe("pd init --ts and pd test", () => {
  it.each([
    ["source", []],
    ["source", ["--http", "--db"]],
    ["action", []],
    ["app", []],
  ])("begins a typed %s %j, whose test passes where nothing is installed", async (kind, flags) => {
    const home = await PdHome.inProcess();
    expect((await home.pd("init", kind, "My part", "--ts", ...flags)).code).toBe(0);
    const folder = join(home.folder, "my-part");
    if (kind !== "app") expect(await home.pd("test", folder)).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 1\n.*fail 0/) });
    // Simulates npm install.
    await mkdir(join(folder, "node_modules"));
    await symlink(ROOT, join(folder, "node_modules", "headwater"));
    await symlink(join(ROOT, "node_modules", "@types"), join(folder, "node_modules", "@types"));
    const { status, stdout } = spawnSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", folder], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, ""]);
  });

  it("runs tests, tells which fail, and which are for another runner", async () => {
    const home = await PdHome.inProcess();
    expect(await home.pd("test", home.folder)).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot find a test in") });
    const failing = await home.file(
      "fails.test.mts",
      'import { test } from "node:test"; test("it", () => { const text: string = "no"; throw new Error(text); });',
    );
    expect(await home.pd("test", failing)).toMatchObject({ code: 1, stdout: expect.stringContaining("Error: no") });
    const { tests } = await home.json("test", failing);
    expect(tests).toEqual([{ name: "it", file: failing, passed: false, duration_ms: expect.any(Number), error: "no" }]);
    const broken = await home.file("broken.test.mjs", 'import "./nowhere.mjs";');
    expect((await home.json("test", broken))["tests"]).toEqual([expect.objectContaining({ passed: false, error: expect.any(String) })]);
    const other = await home.file("other.test.mjs", 'import { it } from "vitest";');
    expect(await home.pd("test", other)).toMatchObject({ code: 2, stderr: expect.stringContaining("npx vitest run") });
  });
});
