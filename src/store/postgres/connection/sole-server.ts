import pg from "pg";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { isLost } from "./errors.ts";
import type { Clock } from "../../../ports/clock.ts";

/** An ended server's connection may stay open for a moment. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 250;
const END_OWN = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and pid = $1";
const LOCK = "select pg_try_advisory_lock(hashtextextended('headwater server ' || current_schema(), 0)) as is_held, pg_backend_pid() as pid";

interface Settings {
  readonly config: pg.ClientConfig;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Another server has the database, after this one had lost its connection. */
  readonly onTakenOver: () => void;
}

/** Keeps a second server off the database. PostgreSQL frees the lock when the server's connection ends. */
export class SoleServer {
  readonly #settings: Settings;
  #client: pg.Client | undefined;
  /** Of the last session that had the lock. */
  #pid: number | undefined;
  #isClosed = false;

  /** Throws PD_DATABASE_IN_USE, PD_DATABASE_UNUSABLE. */
  static async claim(settings: Settings): Promise<SoleServer> {
    const claim = new SoleServer(settings);
    const { clock, signal } = settings;
    const until = clock.now() + PATIENCE_MS;
    for (;;) {
      const isOver = clock.now() >= until || signal.aborted;
      try {
        if (await claim.#lock()) return claim;
        if (isOver) throw new PdError("PD_DATABASE_IN_USE", "Cannot start: another server uses this database", { fix: "Stop it, or choose another database" });
      } catch (error) {
        if (error instanceof PdError && (isOver || !isLost(error.cause))) throw error;
      }
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }

  private constructor(settings: Settings) {
    this.#settings = settings;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end().catch(() => {});
  }

  async #lock(): Promise<boolean> {
    const client = new pg.Client(this.#settings.config);
    client.on("error", () => {});
    try {
      await client.connect();
      // PostgreSQL may not know yet that the connection of this server's earlier session is gone.
      if (this.#pid !== undefined) await client.query(END_OWN, [this.#pid]);
      const { rows } = await client.query<{ is_held: boolean; pid: number }>(LOCK);
      const [found] = rows;
      if (found !== undefined && Reflect.get(client, "processID") !== found.pid) throw pooled();
      if (found?.is_held !== true) {
        await client.end();
        return false;
      }
    } catch (error) {
      await client.end().catch(() => {});
      if (error instanceof PdError) throw error;
      throw new PdError("PD_DATABASE_UNUSABLE", `Cannot lock the PostgreSQL database: ${messageOf(error)}`, { cause: error });
    }
    this.#client = client;
    this.#pid = Number(Reflect.get(client, "processID"));
    client.once("end", () => void this.#lockAgain());
    return true;
  }

  async #lockAgain(): Promise<void> {
    const { clock, signal, onTakenOver } = this.#settings;
    let until = clock.now() + PATIENCE_MS;
    while (!this.#isClosed && !signal.aborted) {
      try {
        if (await this.#lock()) {
          if (this.#isClosed) await this.close();
          return;
        }
        if (clock.now() >= until) return onTakenOver();
      } catch {
        // PostgreSQL restarts, or the network is cut.
        until = clock.now() + PATIENCE_MS;
      }
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }
}

/** Its session's process id is not that of the server behind it. */
function pooled(): PdError {
  return new PdError("PD_DATABASE_UNUSABLE", "Cannot use the database through a connection pooler: locks and prepared statements need a session of their own", {
    fix: "Give --database-url the address of PostgreSQL itself, often port 5432; the server keeps 11 connections",
  });
}
