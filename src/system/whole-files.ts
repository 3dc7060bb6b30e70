import { chmod, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, messageOf } from "../domain/errors.ts";

/** `undefined`: there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** As `writeWhole`, and it survives a power cut from when this resolves. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await writeWhole(path, text);
  for (const place of [path, dirname(path)]) {
    const handle = await open(place, "r");
    await handle.sync().finally(() => handle.close());
  }
}

/** Writes for the owner alone; a reader finds the old file or the new one, never half of it. Errors name the path. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // That of a write on a full disk has no path.
    throw Object.assign(new Error(`Cannot write ${path}: ${messageOf(error)}`, { cause: error }), { code: codeOf(error) });
  }
}
