import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isRecord, parseJson } from "../domain/text/json.ts";

const here = import.meta.dirname;

/** In `dist`, whether run from `dist` or `src`. */
export function programFile(name: string): string {
  return basename(here) === "dist" ? join(here, name) : join(here, "..", "..", "dist", name);
}

export function packageFile(name: string): string {
  return basename(here) === "dist" ? join(here, "..", name) : join(here, "..", "..", name);
}

export async function packageVersion(): Promise<string> {
  const manifest = parseJson(await readFile(packageFile("package.json"), "utf8"));
  return isRecord(manifest) ? String(manifest["version"]) : "";
}
