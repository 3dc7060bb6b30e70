import { spawn } from "node:child_process";
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { codeOf } from "../domain/errors.ts";
import { LENGTH_BYTES, PART_BYTES, compiledModules } from "./snapshot-code.ts";

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
  // All of Node is compiled for it (`withoutCodeCache: false`). Otherwise V8 compiles classes of Node that are in the memory anew, with
  // another function's variables, and the `code` of an error is then what leads into Node's insides.
  await writeFile(config, JSON.stringify({ builder: entry, withoutCodeCache: false }));
  const maker = spawn(process.execPath, [...flags, "--snapshot-blob", path, "--build-snapshot-config", config], {
    cwd: folder,
    env: { ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: MOST_MS,
    killSignal: "SIGKILL",
    signal,
  });
  let loaded = "";
  let said = "";
  const end = new Promise<string>((resolve) => {
    // One that was never there does not end.
    maker.once("error", (error) => maker.pid === undefined && resolve(error.message));
    maker.once("close", (code, by) => resolve(code === 0 ? "" : `it ended with ${code ?? by}: ${said.trim()}`));
  });
  standBack(maker.pid);
  // Without file descriptors there is none.
  const { stdout, stderr }: { stdout?: Readable; stderr?: Readable } = maker;
  stdout?.setEncoding("utf8").on("data", (text: string) => (loaded += text));
  stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-1000)));
  const problem = await end;
  if (problem !== "") throw new Error(`Node cannot make a snapshot: ${problem}`);
  takeOutUnused(path, loaded);
}

/** Modules of Node that a component seldom loads: they start a process, or are programs of their own. Without their code they are compiled then. */
const SELDOM_LOADED =
  /^(internal\/(main|bootstrap|per_context|test_runner|test|debugger|repl|watch_mode|policy|deps\/(acorn|minimatch))(\/|$)|repl$|test(\/|$))/;

/** Each process keeps the compiled code in memory: a snapshot is nearly half as big without that of modules which are in its memory, or are seldom wanted. */
function takeOutUnused(path: string, loaded: string): void {
  const names = new Set(loaded.split(",").map((name) => name.replace("NativeModule ", "")));
  const file = openSync(path, "r+");
  try {
    const { size: length } = fstatSync(file);
    const read = (place: number, into: Buffer): Buffer => into.subarray(0, readSync(file, into, 0, Math.min(into.length, length - place), place));
    const found = compiledModules({ length, read });
    // Another version of Node: its processes take up more.
    if (found === undefined) return;
    const wanted = found.modules.filter(({ name }) => !names.has(name) && !SELDOM_LOADED.test(name));
    const part = Buffer.alloc(PART_BYTES);
    part.writeUInt32LE(wanted.length);
    let end = found.place + writeSync(file, part, 0, LENGTH_BYTES, found.place);
    for (const { place, bytes } of wanted) {
      for (let done = 0; done < bytes; done += PART_BYTES)
        end += writeSync(file, read(place + done, part.subarray(0, Math.min(PART_BYTES, bytes - done))), 0, undefined, end);
    }
    // A disk that is nearly full may take a part of what it is given: V8 dies of code that is damaged.
    if (end !== found.place + LENGTH_BYTES + sum(wanted.map(({ bytes }) => bytes))) throw new Error(`${path} was not written whole`);
    ftruncateSync(file, end);
  } finally {
    closeSync(file);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

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
