import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import build from "../support/build.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly installed: string;
  }
}

/** The packed program with this checkout's dependencies. */
export default async function install(project: TestProject): Promise<() => void> {
  await build();
  const folder = mkdtempSync(join(tmpdir(), "headwater-installed-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { stdio: ["ignore", "ignore", "inherit"] });
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  execFileSync("tar", ["xzf", archive], { cwd: folder });
  symlinkSync(resolve("node_modules"), join(folder, "package", "node_modules"));
  chmodSync(folder, 0o755);
  project.provide("installed", join(folder, "package"));
  return () => rmSync(folder, { recursive: true, force: true });
}
