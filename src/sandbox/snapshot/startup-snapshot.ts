import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { codeOf } from "../../domain/errors.ts";

/** Making a snapshot takes half a second. This only ends a process that hangs. */
const MOST_MS = 60_000;

interface SnapshotSettings {
  readonly entry: string;
  /** Of Node and V8. Processes that start from the snapshot need the same flags. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its folder is created. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Snapshots a process that has loaded the child's code (`--build-snapshot-config`). Starts then take half the time. Rejects with Node's message. */
export async function makeSnapshot({ entry, flags, env, path, signal }: SnapshotSettings): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const config = join(folder, "snapshot.json");
  // Without Node's compiled code in the snapshot, V8 compiles some of Node's classes with the variables of another
  // function. The `code` of an error then exposes Node's internals to components.
  await writeFile(config, JSON.stringify({ builder: entry, withoutCodeCache: false }));
  const maker = spawn(process.execPath, [...flags, "--snapshot-blob", path, "--build-snapshot-config", config], {
    cwd: folder,
    env: { ...env },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: MOST_MS,
    killSignal: "SIGKILL",
    signal,
  });
  let said = "";
  const end = new Promise<string>((resolve) => {
    // A process that failed to start never emits "close".
    maker.once("error", (error) => maker.pid === undefined && resolve(error.message));
    maker.once("close", (code, by) => resolve(code === 0 ? "" : `it ended with ${code ?? by}: ${said.trim()}`));
  });
  standBack(maker.pid);
  // Undefined without free file descriptors.
  const { stderr }: { stderr?: Readable } = maker;
  stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-1000)));
  const problem = await end;
  if (problem !== "") throw new Error(`Node cannot make a snapshot: ${problem}`);
}

/** Requests and saves come first. */
function standBack(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch (error) {
    // The process has ended, or the system has no priorities.
    if (codeOf(error) !== "ERR_SYSTEM_ERROR") throw error;
  }
}
