import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { codeOf } from "../domain/errors.ts";

/** It takes half a second; on a machine that stands still for so long nobody waits for it. */
const MOST_MS = 60_000;

interface SnapshotSettings {
  /** The built child entry, which knows that it is run for this. */
  readonly entry: string;
  /** Flags of Node and V8, which have to be those of the processes that start from it. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where it is written; its folder is made. */
  readonly path: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * Has Node write down what memory looks like once the child's code is loaded (`--build-snapshot-config`): a process that starts
 * from that is there in half the time. Rejects with what Node says when it cannot, and once its process has ended.
 */
export async function makeSnapshot({ entry, flags, env, path, signal }: SnapshotSettings): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const config = join(folder, "snapshot.json");
  // Compiled code is kept (`withoutCodeCache: false`), although it is three fifths of what each process keeps in memory: V8 compiles
  // classes of Node anew with another function's variables, and the `code` of an error is then what leads into Node's insides.
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
    // One that was never there does not end.
    maker.once("error", (error) => maker.pid === undefined && resolve(error.message));
    maker.once("close", (code, by) => resolve(code === 0 ? "" : `it ended with ${code ?? by}: ${said.trim()}`));
  });
  standBack(maker.pid);
  // Without file descriptors there is none.
  const stderr: Readable | undefined = maker.stderr;
  stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-1000)));
  const problem = await end;
  if (problem !== "") throw new Error(`Node cannot make a snapshot: ${problem}`);
}

/** Whoever serves and whoever saves come first. */
function standBack(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch (error) {
    // It has ended already, or this system has no priorities: then it competes.
    if (codeOf(error) !== "ERR_SYSTEM_ERROR") throw error;
  }
}
