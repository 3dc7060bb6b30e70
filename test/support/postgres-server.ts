import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

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

  /** A copy that follows this server asynchronously, until `pg_promote()`. */
  async standby(): Promise<PostgresServer> {
    const standby = new PostgresServer(this.#options);
    const copied = spawnSync(binary("pg_basebackup"), ["-h", this.folder, "-U", "headwater", "-D", standby.data, "-R", "-X", "stream", "-c", "fast"], {
      ...standby.#user,
      cwd: standby.folder,
      encoding: "utf8",
    });
    if (copied.status !== 0) throw new Error(`pg_basebackup: ${copied.stderr}`);
    await standby.run();
    return standby;
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
        if (!this.isRunning()) throw error;
        await sleep(20);
      }
    }
  }

  isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** SIGQUIT: as a crash. SIGINT: ends connections and stops. */
  async stop(signal: "SIGQUIT" | "SIGINT"): Promise<void> {
    const stopped = this.#process;
    if (stopped === undefined || !this.isRunning()) return;
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
