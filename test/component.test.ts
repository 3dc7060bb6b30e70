import { spawnSync } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { temporaryFolder } from "./support/home.ts";
import { defineAction, defineApp, defineSource } from "../src/component/index.ts";

const ROOT = join(import.meta.dirname, "..");
const TSC = join(ROOT, "node_modules", ".bin", "tsc");

describe("headwater/component", () => {
  it("knows `this`, events and `$` from the declared props, and finds each mistake at its place", () => {
    // Directives mark each mistake in the fixtures, so a missed mistake is an error too.
    const { status, stdout } = spawnSync(TSC, ["-p", join(ROOT, "test", "fixtures", "typed")], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, ""]);
  });

  it("is typed, like the client and the library, with what the package itself brings along", async () => {
    const folder = await temporaryFolder();
    const modules = join(folder, "node_modules");
    await mkdir(join(modules, "headwater"), { recursive: true });
    for (const part of ["package.json", "dist"]) await cp(join(ROOT, part), join(modules, "headwater", part), { recursive: true });
    for (const name of Object.keys(manifest.dependencies)) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(ROOT, "node_modules", name), join(modules, name));
    }
    const imports = [
      'import "headwater/component";',
      'import { createClient } from "headwater/client";',
      'import { startServer } from "headwater";',
      'import { load } from "headwater/testing";',
    ];
    await writeFile(join(folder, "all.ts"), `${imports.join("\n")}\nexport const all = [createClient, startServer, defineComponent, load];\n`);
    const compilerOptions = { strict: true, target: "es2022", module: "nodenext", types: [], noEmit: true, skipLibCheck: false, preserveSymlinks: true };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["all.ts"] }));
    const { status, stdout } = spawnSync(TSC, ["-p", folder], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, ""]);
  });

  it("hands back what it is given", () => {
    const run = () => {};
    const source = { name: "x", version: "1", run };
    expect(defineSource(source)).toBe(source);
    const action = { type: "action", name: "x", version: "1", run } as const;
    expect(defineAction(action)).toBe(action);
    const app = { type: "app", app: "shop" } as const;
    expect(defineApp(app)).toBe(app);
  });
});
