import { constants, readFileSync } from "node:fs";
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

/** The same at once: a small file is read in less time than it takes to have others read it. For who serves nobody else meanwhile. */
export function readNowIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * The text of a file that whoever made it may have meant to be something else: no link, no pipe, no device, no more than
 * `mostBytes`. `undefined`: there is none. Throws when it is none of the kind.
 */
export async function readPlainFile(path: string, mostBytes: number): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > mostBytes) throw new Error(`${path} is no plain file of at most ${mostBytes} bytes`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
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
