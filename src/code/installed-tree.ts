import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, isRecord, parseJson } from "../domain/json.ts";
import { readIfThere } from "../system/whole-files.ts";

/**
 * What in an installed folder comes from this machine in place of a registry: npm takes a package at its word when that
 * names a path as a dependency, and links it, so that whoever imports it reads and writes there. Empty: nothing does.
 */
export async function foreignPackages(folder: string): Promise<readonly string[]> {
  const lock = parseJson((await readIfThere(join(folder, "node_modules", ".package-lock.json"))) ?? "");
  const packages = isJsonObject(lock) && isJsonObject(lock["packages"]) ? lock["packages"] : undefined;
  if (packages === undefined) return ["node_modules: npm left no list of what it installed"];
  const problems = await Promise.all(Object.entries(packages).map(async ([path, entry]) => problemOf(folder, path, isRecord(entry) ? entry : {})));
  return problems.filter((problem) => problem !== undefined);
}

async function problemOf(folder: string, path: string, { link, resolved }: Record<string, unknown>): Promise<string | undefined> {
  const from = typeof resolved === "string" ? resolved : "";
  if (link === true || /(^|\+)file:/i.test(from)) return `${path} is ${from === "" ? "a path" : from} of this machine`;
  if (/(^|\/)\.\.(\/|$)/.test(path) || path.startsWith("/")) return `${path} lies outside`;
  const found = await lstat(join(folder, path)).catch(() => undefined);
  // An optional dependency for other machines is listed, and not there.
  return found === undefined || found.isDirectory() ? undefined : `${path} is no folder of its own`;
}

/** Package name → version, as the installed packages say of themselves. Throws when one is another than its name says. */
export async function installedVersions(folder: string, names: readonly string[]): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const name of names) {
    const manifest = parseJson(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));
    const { name: ownName, version } = isRecord(manifest) ? manifest : {};
    if (ownName !== name) throw new Error(`the package ${name} calls itself ${JSON.stringify(ownName)}`);
    versions[name] = String(version);
  }
  return versions;
}
