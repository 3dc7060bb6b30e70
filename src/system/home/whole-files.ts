import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { chmod, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, messageOf } from "../../domain/errors.ts";

export function readIfThere(path: string): Promise<string | undefined> {
  return unlessMissing(readFile(path, "utf8"));
}

const MOST_READS = 5;

/**
 * Retries when the file changes during the read: a growing file would be cut, and the cut text may be valid code. Throws
 * for pipes and devices, which may never end.
 */
export async function readStable(path: string): Promise<string> {
  for (let reads = 1; ; reads++) {
    const { text, stamp } = await readStamped(path);
    if (reads === MOST_READS || stamp === stampOf(await stat(path, { bigint: true }))) return text;
  }
}

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
  return new Error(`Cannot read ${path}: not a regular file`);
}

export function readStableIfThere(path: string): Promise<string | undefined> {
  return unlessMissing(readStable(path));
}

/** Fast for small files, but blocks and does not retry. */
export function readNow(path: string): string {
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(handle).isFile()) throw noFile(path);
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

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

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Misses only a save in place of the same length within one tick of the file system's clock. */
function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** For untrusted folders. Undefined for a missing file. Throws for links, pipes, devices and files above `mostBytes`. */
export async function readPlainFile(path: string, mostBytes: number): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > mostBytes) throw new Error(`${path} is not a regular file of at most ${mostBytes} bytes`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Like `writeWhole`, but the file also survives a power cut. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await writeWhole(path, text);
  for (const place of [path, dirname(path)]) {
    const handle = await open(place, "r");
    await handle.sync().finally(() => handle.close());
  }
}

/** Atomic. Only the owner can read the file. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // On a full disk the error lacks the path.
    throw Object.assign(new Error(`Cannot write ${path}: ${messageOf(error)}`, { cause: error }), { code: codeOf(error) });
  }
}
