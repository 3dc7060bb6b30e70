import { chmod, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, parseJson } from "../domain/json.ts";

/** What `server.json` in PD_HOME tells about a running server. */
export interface ServerRecord {
  readonly pid: number;
  readonly api_url: string;
  readonly endpoint_url: string;
  readonly started_at_ms: number;
  readonly version: string;
}

/** `undefined` when no server has written one. */
export async function readServerRecord(home: string): Promise<ServerRecord | undefined> {
  const record = parseJson(await readFile(join(home, "server.json"), "utf8").catch(() => ""));
  if (!isRecord(record) || typeof record["pid"] !== "number" || typeof record["api_url"] !== "string") return undefined;
  const { pid, api_url, endpoint_url, started_at_ms, version } = record;
  return { pid, api_url, endpoint_url: String(endpoint_url), started_at_ms: Number(started_at_ms), version: String(version) };
}

export function writeServerRecord(home: string, record: ServerRecord): Promise<void> {
  return writeWhole(join(home, "server.json"), JSON.stringify(record));
}

export function removeServerRecord(home: string): Promise<void> {
  return rm(join(home, "server.json"), { force: true });
}

/** As `writeWhole`, and it survives a power cut from when this resolves. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await writeWhole(path, text);
  for (const place of [path, dirname(path)]) {
    const handle = await open(place, "r");
    await handle.sync().finally(() => handle.close());
  }
}

/** Writes for the owner alone; a reader finds the old file or the new one, never half of it. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
}
