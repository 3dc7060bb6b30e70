import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, isRecord, parseJson } from "../domain/text/json.ts";
import { readPlainFile } from "../system/home/whole-files.ts";

const MOST_BYTES = 32 * 2 ** 20;

/** npm's list of packages, by path. */
export type InstalledList = Readonly<Record<string, unknown>>;

/** Undefined when npm left no list. */
export async function readInstalledList(folder: string): Promise<InstalledList | undefined> {
  const lock = parseJson((await readPlainFile(join(folder, "node_modules", ".package-lock.json"), MOST_BYTES)) ?? "");
  return isJsonObject(lock) && isJsonObject(lock["packages"]) ? lock["packages"] : undefined;
}

/** npm links a dependency declared as a path, so importing code could read and write on this machine. Returns the problems. */
export async function foreignPackages(folder: string, packages: InstalledList | undefined): Promise<readonly string[]> {
  if (packages === undefined) return ["node_modules: npm left no list of installed packages"];
  const above = [...new Set(Object.keys(packages).flatMap(foldersAbove))];
  const problems = await Promise.all([
    ...above.map((path) => linkProblem(folder, path)),
    ...Object.entries(packages).map(async ([path, entry]) => problemOf(folder, path, isRecord(entry) ? entry : {})),
  ]);
  return problems.filter((problem) => problem !== undefined);
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_part, index) => parts.slice(0, index + 1).join("/"));
}

async function problemOf(folder: string, path: string, { link, resolved }: Record<string, unknown>): Promise<string | undefined> {
  const from = typeof resolved === "string" ? resolved : "";
  if (link === true || /(^|\+)file:/i.test(from)) return `${path} is ${from === "" ? "a path" : from} on this machine`;
  if (/(^|\/)\.\.(\/|$)/.test(path) || path.startsWith("/")) return `${path} is outside`;
  return linkProblem(folder, path);
}

async function linkProblem(folder: string, path: string): Promise<string | undefined> {
  const found = await lstat(join(folder, path)).catch(() => undefined);
  // An optional dependency for another platform is not installed.
  return found === undefined || found.isDirectory() ? undefined : `${path} is not a folder`;
}

/** `names`: installed name → name in its manifest. Throws for another name. */
export async function installedVersions(folder: string, names: ReadonlyMap<string, string>): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const [name, expected] of names) {
    const manifest = parseJson((await readPlainFile(join(folder, "node_modules", name, "package.json"), MOST_BYTES)) ?? "");
    const { name: ownName, version } = isRecord(manifest) ? manifest : {};
    if (ownName !== expected) throw new Error(`the package ${expected} is named ${JSON.stringify(ownName)} in its manifest`);
    versions[name] = String(version);
  }
  return versions;
}
