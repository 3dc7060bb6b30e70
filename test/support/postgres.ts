import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Store } from "../../src/ports/stores/store.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { systemClock } from "../../src/system/clock.ts";
import { programFile } from "../../src/system/program-files.ts";

/** A server of its own in a temporary folder, with a socket there and no port unless one is given. */
export class PostgresServer {
  readonly folder: string;
  readonly #user: { readonly uid: number; readonly gid: number } | undefined;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(options: readonly string[]) {
    this.folder = mkdtempSync(join(tmpdir(), "hw-pg-"));
    this.#options = options;
    this.#user = process.getuid?.() === 0 ? ordinaryUser() : undefined;
    if (this.#user !== undefined) chownSync(this.folder, this.#user.uid, this.#user.gid);
  }

  static async start(options: readonly string[] = ["-c", "fsync=off"]): Promise<PostgresServer> {
    const server = new PostgresServer(options);
    const made = spawnSync(binary("initdb"), ["-D", server.data, "-U", "headwater", "-A", "trust", "-N", "--locale=C", "-E", "UTF8"], {
      ...server.#user,
      cwd: server.folder,
      encoding: "utf8",
    });
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
    await server.run();
    return server;
  }

  get data(): string {
    return join(this.folder, "data");
  }

  config(database = "postgres"): pg.ClientConfig {
    return { host: this.folder, user: "headwater", database };
  }

  async run(): Promise<void> {
    this.#process = spawn(binary("postgres"), ["-D", this.data, "-k", this.folder, "-c", "listen_addresses=", ...this.#options], {
      ...this.#user,
      cwd: this.folder,
      stdio: "ignore",
    });
    for (;;) {
      const client = new pg.Client(this.config());
      try {
        await client.connect();
        return await client.end();
      } catch (error) {
        if (this.#process.exitCode !== null) throw error;
        await sleep(20);
      }
    }
  }

  /** SIGQUIT: as a crash. SIGINT: ends connections and stops. */
  async stop(signal: "SIGQUIT" | "SIGINT"): Promise<void> {
    const stopped = this.#process;
    if (stopped === undefined || stopped.exitCode !== null) return;
    const ended = new Promise((resolve) => stopped.once("exit", resolve));
    stopped.kill(signal);
    await ended;
  }

  async ask(text: string, database?: string): Promise<unknown[]> {
    const client = new pg.Client(this.config(database));
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): { uid: number; gid: number } {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  const [, , uid, gid] = (users.find((line) => line.startsWith("postgres:")) ?? users.find((line) => line.startsWith("nobody:")) ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

function binary(name: string): string {
  const folders = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql").map((version) => join("/usr/lib/postgresql", version, "bin")) : [];
  return [...(process.env["PATH"] ?? "").split(":"), ...folders].map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? name;
}

/** One server for all tests of a file. */
export function postgresForTests(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === undefined) throw new Error("PostgreSQL has not started");
    return server;
  };
}

export async function openPostgresAt(config: pg.ClientConfig): Promise<Store> {
  const store = await openPostgresStore({
    config,
    migrations: programFile("postgres-migrations"),
    identity: { userId: "u_1", workspaceId: "o_1" },
    clock: systemClock,
    signal: new AbortController().signal,
    onUnreadable: () => {},
    onMigration: () => {},
  });
  onTestFinished(() => store.close());
  return store;
}

let databases = 0;
const withTemplate = new WeakSet<PostgresServer>();

/** A new database on the server, with all tables. */
export async function newDatabase(server: PostgresServer): Promise<pg.ClientConfig> {
  if (!withTemplate.has(server)) {
    withTemplate.add(server);
    await server.ask("create database template_of_tests");
    await (await openPostgresAt(server.config("template_of_tests"))).close();
  }
  const name = `test_${++databases}`;
  await server.ask(`create database ${name} template template_of_tests`);
  return server.config(name);
}
