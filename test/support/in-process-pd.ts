import { EventEmitter } from "node:events";
import { writeSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { main } from "../../src/cli/main.ts";
import { readConfig } from "../../src/cli/profiles.ts";
import { type GivenSettings, SETTINGS, readSettings } from "../../src/config.ts";
import { PdError, messageOf } from "../../src/domain/errors.ts";
import { type Runtime, startRuntime } from "../../src/runtime.ts";
import { streamLog } from "../../src/system/log.ts";

const ROOT = process.cwd();
let inFlight = 0;

type Variables = Readonly<Record<string, string>>;

/** Replaces the server that `pd` would start in the background. */
export class InProcessServer {
  readonly #variables: Variables;
  #runtime: Promise<Runtime> | undefined;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  spawn(words: readonly string[], log: number): EventEmitter {
    const ended = new EventEmitter();
    this.#runtime = this.#start(words, log);
    this.#runtime.catch((error: unknown) => {
      this.#runtime = undefined;
      writeSync(log, `Error [${error instanceof PdError ? error.code : "PD_FAILED"}] ${messageOf(error)}\n`);
      ended.emit("exit");
    });
    return ended;
  }

  async stop(): Promise<void> {
    const runtime = await this.#runtime?.catch(() => undefined);
    this.#runtime = undefined;
    await runtime?.[Symbol.asyncDispose]();
  }

  async #start([, ...words]: readonly string[], log: number): Promise<Runtime> {
    const lines = new Writable({
      write: (chunk, _encoding, done) => {
        writeSync(log, chunk);
        done();
      },
    });
    const environment = { ...process.env, ...this.#variables };
    return startRuntime(readSettings({ flags: flagsOf(words), environment, file: readConfig(environment) }), streamLog(lines), {
      snapshotAfterMs: 3_600_000,
      keepsSpare: false,
    });
  }
}

function flagsOf(words: readonly string[]): GivenSettings {
  const named = Object.entries(SETTINGS).flatMap(([name, { flag }]) => {
    const at = words.indexOf(`--${flag}`);
    const value = words[at + 1];
    return at < 0 || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(named);
}

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Place {
  readonly folder: string;
  readonly variables: Variables;
  readonly server: InProcessServer;
}

export async function runInProcess(given: readonly (string | { readonly input: string })[], { folder, variables, server }: Place): Promise<Result> {
  const words = given.filter((word) => typeof word === "string");
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const texts = { stdout: "", stderr: "" };
  stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
  stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
  stdin.end(given.map((word) => (typeof word === "string" ? "" : word.input)).join(""));
  if (words[0] === "down") await server.stop();
  inFlight++;
  process.chdir(folder);
  const streams = { stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">;
  const code = await main(words, {
    ...streams,
    environment: { ...process.env, ...variables },
    spawnServer: (serverWords, log) => server.spawn(serverWords, log),
  }).finally(() => {
    // Tests delete their folders, in which the process must not stay.
    if (--inFlight === 0) process.chdir(ROOT);
  });
  // Output arrives by the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, ...texts };
}
