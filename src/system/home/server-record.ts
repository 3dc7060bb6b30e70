import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJson } from "../../domain/text/json.ts";
import { readNowIfThere, writeWhole } from "./whole-files.ts";

/** `server.json` in PD_HOME. */
export interface ServerRecord {
  readonly pid: number;
  readonly api_url: string;
  readonly endpoint_url: string;
  readonly started_at_ms: number;
  readonly version: string;
  /** A command started the server. Otherwise its user or a supervisor may restart it. */
  readonly in_background?: boolean;
  /** Id of a node of a cluster. */
  readonly node?: string;
}

/** Undefined for a missing or invalid record. */
export function readServerRecord(home: string): ServerRecord | undefined {
  const record = parseJson(readNowIfThere(join(home, "server.json")) ?? "");
  if (!isRecord(record) || typeof record["pid"] !== "number" || typeof record["api_url"] !== "string") return undefined;
  const { pid, api_url, endpoint_url, started_at_ms, version, in_background } = record;
  const facts = { endpoint_url: String(endpoint_url), started_at_ms: Number(started_at_ms), version: String(version), in_background: in_background === true };
  return { pid, api_url, ...facts };
}

export function writeServerRecord(home: string, record: ServerRecord): Promise<void> {
  return writeWhole(join(home, "server.json"), JSON.stringify(record));
}

export function removeServerRecord(home: string): Promise<void> {
  return rm(join(home, "server.json"), { force: true });
}
