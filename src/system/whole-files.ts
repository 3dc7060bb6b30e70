import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { chmod, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, messageOf } from "../domain/errors.ts";

/** `undefined`: there is no such file. */
export function readIfThere(path: string): Promise<string | undefined> {
  return unlessMissing(readFile(path, "utf8"));
}

const MOST_READS = 5;

/**
 * The text of a file that may be saved meanwhile. One that is longer after a save is else read up to the length that it
 * had before, and that may well be code that compiles. Throws for what is no file: a pipe or a device may never end.
 */
export async function readStable(path: string): Promise<string> {
  for (let reads = 1; ; reads++) {
    const { text, stamp } = await readStamped(path);
    if (reads === MOST_READS || stamp === stampOf(await stat(path, { bigint: true }))) return text;
  }
}

/** `stamp`: that of the file before it was read. */
async function readStamped(path: string): Promise<{ text: string; stamp: string }> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw noFile(path);
    return { text: await handle.readFile("utf8"), stamp: stampOf(found) };
  } finally {
    await handle.close();
  }
}

function noFile(path: string): Error {
  return new Error(`Cannot read ${path}: it is no file`);
}

/** As `readStable`. `undefined`: there is no such file. */
export function readStableIfThere(path: string): Promise<string | undefined> {
  return unlessMissing(readStable(path));
}

/** The same at once: a small file is read in less time than it takes to have others read it. For who serves nobody else meanwhile. */
export function readNow(path: string): string {
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(handle).isFile()) throw noFile(path);
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

/** As `readNow`. `undefined`: there is no such file. */
export function readNowIfThere(path: string): string | undefined {
  try {
    return readNow(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function unlessMissing(reading: Promise<string>): Promise<string | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** There is no such file, or no such folder: a file has its place. */
function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Another one after each save, also within one tick of the disk's clock when the length is another. */
function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
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
