import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_TIMEOUT_MS = 60_000;

interface Started {
  readonly home: string;
  readonly flags: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** A server, or a cluster of which any node may be asked. */
export interface Tortured {
  readonly apiUrl: string;
  readonly endpointUrl: string;
  readonly key: string;
  /** Processes below. */
  children(): readonly { pid: number; command: string }[];
}

/** A `pd up` that is restarted whenever it exits. */
export class TorturedServer implements Tortured {
  readonly home: string;
  readonly apiUrl: string;
  readonly endpointUrl: string;
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #isOver = false;
  starts = 0;
  /** Exits that the torture did not cause. */
  readonly ownEnds: string[] = [];
  #isExpected = false;

  static async start(program: string, { home, flags, variables = {} }: Started): Promise<TorturedServer> {
    const [port, endpointPort] = [await freePort(), await freePort()];
    const server = new TorturedServer({ program, home, port, endpointPort, flags, variables });
    server.#begin();
    await server.untilReady();
    return server;
  }

  private constructor({
    program,
    home,
    port,
    endpointPort,
    flags,
    variables,
  }: Required<Started> & {
    program: string;
    port: number;
    endpointPort: number;
  }) {
    this.home = home;
    this.#program = program;
    this.apiUrl = `http://127.0.0.1:${port}`;
    this.endpointUrl = `http://127.0.0.1:${endpointPort}`;
    this.#flags = ["--port", String(port), "--endpoint-port", String(endpointPort), ...flags];
    const { NODE_EXTRA_CA_CERTS: _ca, ...env } = process.env;
    this.#env = { ...env, PD_HOME: home, PD_KEYRING: "never", ...variables };
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get key(): string {
    return readFileSync(join(this.home, "api-key"), "utf8").trim();
  }

  async untilReady(): Promise<void> {
    for (const started = Date.now(); Date.now() - started < START_TIMEOUT_MS; await sleep(20)) {
      const isUp = await fetch(`${this.apiUrl}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
    }
    throw new Error(`the server is not ready after ${START_TIMEOUT_MS / 1000} s; its log is ${join(this.home, "torture.log")}`);
  }

  signal(name: NodeJS.Signals): void {
    if (name === "SIGKILL" || name === "SIGTERM") this.#isExpected = true;
    this.#child?.kill(name);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await Promise.race([ended, sleep(30_000).then(() => child.kill("SIGKILL"))]);
  }

  /** Returns all descendants of the server. */
  children(): { pid: number; command: string }[] {
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const parents = new Map(processes.map((pid) => [Number(pid), parentOf(pid)]));
    const isBelow = (pid: number): boolean => {
      for (let parent = parents.get(pid); parent !== undefined && parent > 1; parent = parents.get(parent)) if (parent === this.pid) return true;
      return false;
    };
    return [...parents.keys()].filter(isBelow).map((pid) => ({ pid, command: readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ") }));
  }

  #begin(): void {
    if (this.#isOver) return;
    this.starts++;
    this.#isExpected = false;
    const log = openSync(join(this.home, "torture.log"), "a");
    const child = spawn(process.execPath, [join(this.#program, "bin/pd.cjs"), "up", ...this.#flags], { env: this.#env, stdio: ["ignore", log, log] });
    closeSync(log);
    this.#child = child;
    child.once("exit", (code, signal) => {
      if (!this.#isExpected && !this.#isOver) this.ownEnds.push(`code ${code}, signal ${signal}`);
      // Restarts at once, like a supervisor, but not in a busy loop.
      setTimeout(() => this.#begin(), 50);
    });
  }
}

function parentOf(pid: string): number | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  return Number.isFinite(parent) ? parent : undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
