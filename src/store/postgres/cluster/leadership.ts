import pg from "pg";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import { isLost } from "../connection/errors.ts";
import { clientConfig } from "../connection/sql.ts";
import { LEADER_LOCK, makeClusterTables } from "./cluster-tables.ts";

export interface Candidate {
  /** Id of a node of a cluster. Empty for a server that is alone. */
  readonly node: string;
  /** Ids of its secret keys. */
  readonly keyIds: readonly string[];
}

export interface ClaimSettings {
  readonly config: pg.ClientConfig;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly candidate: Candidate;
  /** Undefined: until `signal` aborts. */
  readonly patienceMs: number | undefined;
  /** Told before the session waits for the lock. */
  readonly onSession?: (session: string) => void;
}

export const ALONE: Candidate = { node: "", keyIds: [] };
/** An ended server's connection may stay open for a moment. */
export const PATIENCE_MS = 10_000;
const RETRY_MS = 250;
const ENDING_MS = 20;
/** A process of PostgreSQL keeps its number and start. */
export const SESSION = "select pid, pid || ' ' || backend_start as session from pg_stat_activity where pid = pg_backend_pid()";
const END_OWN = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and pid = $1";
const BEGIN_EPOCH = `insert into leadership (cluster, epoch, node, is_ready, key_ids) values ($1, 1, $2, false, $3)
  on conflict (only_one) do update set epoch = leadership.epoch + 1, node = excluded.node, is_ready = false, key_ids = excluded.key_ids
  returning cluster, epoch`;
const END_EARLIER = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name like $1 and application_name <> $2`;

/**
 * The right to use a database, which one server has at a time. A takeover raises the epoch, then ends all sessions of
 * the earlier leader. A session that the earlier leader opens later finds another epoch and is closed, so nothing that
 * it still wants to write is stored.
 */
export class Leadership {
  /** Of all sessions in this epoch. */
  readonly sessionName: string;
  readonly #settings: ClaimSettings;
  readonly #lost = new AbortController();
  #lock: LockSession;
  #term: Term;
  #isClosed = false;

  /** Throws PD_DATABASE_IN_USE, PD_DATABASE_UNUSABLE, and PD_STOPPING when `signal` aborts. */
  static async claim(settings: ClaimSettings): Promise<Leadership> {
    const { clock, signal, patienceMs } = settings;
    const until = patienceMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + patienceMs;
    for (;;) {
      try {
        const lock = await LockSession.open(settings);
        try {
          await lock.wait(until - clock.now(), signal);
          return await Leadership.#begin(lock, settings);
        } catch (error) {
          await lock.end();
          throw error;
        }
      } catch (error) {
        if (signal.aborted) throw new PdError("PD_STOPPING", "Cannot wait for the database: the server is stopping", { cause: error });
        if (error instanceof PdError) throw error;
        if (!isLost(error) || clock.now() >= until)
          throw new PdError("PD_DATABASE_UNUSABLE", `Cannot lock the PostgreSQL database: ${messageOf(error)}`, { cause: error });
      }
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }

  static async #begin(lock: LockSession, settings: ClaimSettings): Promise<Leadership> {
    const { clock, signal, candidate } = settings;
    const { cluster, epoch } = await lock.beginEpoch(clock.randomText(8), candidate);
    const sessionName = `headwater ${cluster} ${epoch}`;
    while (await lock.endEarlier(`headwater ${cluster} %`, sessionName)) await clock.sleepUntil(clock.now() + ENDING_MS, signal);
    return new Leadership(lock, { settings, sessionName, term: { epoch, timeline: await timelineOf(lock.client) } });
  }

  private constructor(lock: LockSession, { settings, sessionName, term }: { settings: ClaimSettings; sessionName: string; term: Term }) {
    this.#lock = lock;
    this.#settings = settings;
    this.sessionName = sessionName;
    this.#term = term;
    this.#watch(lock);
  }

  /** Aborts, with an error that tells why, when another server has taken over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(reason: string): void {
    this.#lost.abort(new PdError("PD_NOT_STORED", `Cannot write to the database: ${reason}`, { fix: "Stop this server" }));
  }

  /** For each new session. Throws when the epoch is over. */
  async check(client: pg.ClientBase): Promise<void> {
    if (!isSame(await termOf(client), this.#term)) this.lose("another server has taken over the database");
    this.#lost.signal.throwIfAborted();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lock.end();
  }

  #watch(lock: LockSession): void {
    lock.onEnd(() => void this.#lockAgain());
  }

  /** PostgreSQL has restarted, the network was cut, or another server has ended the session. */
  async #lockAgain(): Promise<void> {
    const { clock, signal } = this.#settings;
    const earlier = this.#lock.pid;
    let until = clock.now() + PATIENCE_MS;
    while (!this.#isClosed && !signal.aborted && !this.#lost.signal.aborted) {
      try {
        const isSettled = await this.#tryLock(earlier);
        if (isSettled) return;
        if (clock.now() >= until) return this.lose("another server has locked the database");
      } catch {
        // PostgreSQL cannot be reached.
        until = clock.now() + PATIENCE_MS;
      }
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }

  /** False while another session has the lock. */
  async #tryLock(earlier: number): Promise<boolean> {
    const lock = await LockSession.open(this.#settings);
    let isKept = false;
    try {
      // PostgreSQL may not know yet that the connection of the earlier session is gone.
      const isHeld = await lock.tryAgain(earlier);
      const isSameTerm = isSame(await termOf(lock.client), this.#term);
      if (!isSameTerm) this.lose("another server has taken over the database");
      isKept = isHeld && isSameTerm && !this.#isClosed;
      if (isKept) {
        this.#lock = lock;
        this.#watch(lock);
      }
      return isKept || !isSameTerm;
    } finally {
      if (!isKept) await lock.end();
    }
  }
}

interface Term {
  readonly epoch: number;
  /** Another one after the promotion of a standby, which may lack the newest rows. */
  readonly timeline: string;
}

function isSame(one: Term, other: Term): boolean {
  return one.epoch === other.epoch && one.timeline === other.timeline;
}

type Asked = Pick<pg.ClientBase, "query">;

async function termOf(client: Asked): Promise<Term> {
  const { rows } = await client.query<{ epoch: string }>("select epoch from leadership");
  return { epoch: Number(rows[0]?.epoch ?? 0), timeline: await timelineOf(client) };
}

/** Some hosted databases do not tell. */
async function timelineOf(client: Asked): Promise<string> {
  try {
    const { rows } = await client.query<{ timeline: string }>("select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline");
    return rows[0]?.timeline ?? "";
  } catch (error) {
    if (error instanceof pg.DatabaseError && !isLost(error)) return "";
    throw error;
  }
}

class LockSession {
  readonly client: pg.Client;
  readonly pid: number;
  readonly session: string;

  /** Throws PD_DATABASE_UNUSABLE behind a pooler. */
  static async open({ config, onSession }: Pick<ClaimSettings, "config" | "onSession">): Promise<LockSession> {
    const client = new pg.Client(clientConfig(config, "headwater server"));
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number; session: string }>(SESSION);
      const { pid = 0, session = "" } = rows[0] ?? {};
      if (Reflect.get(client, "processID") !== pid) throw pooled();
      await makeClusterTables(client);
      onSession?.(session);
      return new LockSession(client, pid, session);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  private constructor(client: pg.Client, pid: number, session: string) {
    this.client = client;
    this.pid = pid;
    this.session = session;
  }

  /** Throws PD_DATABASE_IN_USE after `withinMs`. */
  async wait(withinMs: number, signal: AbortSignal): Promise<void> {
    const stop = (): void => void this.end();
    signal.addEventListener("abort", stop);
    try {
      // 0 is no limit.
      const timeout = Number.isFinite(withinMs) ? Math.max(1, Math.ceil(withinMs)) : 0;
      await this.client.query(`set lock_timeout = ${timeout}`);
      await this.client.query(`select pg_advisory_lock(${LEADER_LOCK})`);
      await this.client.query("set lock_timeout = 0");
      signal.throwIfAborted();
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === "55P03")
        throw new PdError("PD_DATABASE_IN_USE", "Cannot start: another server uses this database", {
          fix: "Stop it, choose another database, or let both be nodes of a cluster with --advertise",
        });
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async tryAgain(earlier: number): Promise<boolean> {
    await this.client.query(END_OWN, [earlier]);
    const { rows } = await this.client.query<{ is_held: boolean }>(`select pg_try_advisory_lock(${LEADER_LOCK}) as is_held`);
    return rows[0]?.is_held === true;
  }

  async beginEpoch(newCluster: string, { node, keyIds }: Candidate): Promise<{ cluster: string; epoch: number }> {
    const { rows } = await this.client.query<{ cluster: string; epoch: string }>(BEGIN_EPOCH, [newCluster, node, keyIds.join(" ")]);
    return { cluster: rows[0]?.cluster ?? "", epoch: Number(rows[0]?.epoch) };
  }

  /** False once none is left. */
  async endEarlier(names: string, but: string): Promise<boolean> {
    return (await this.client.query(END_EARLIER, [names, but])).rows.length > 0;
  }

  onEnd(listener: () => void): void {
    this.client.once("end", listener);
  }

  async end(): Promise<void> {
    await this.client.end().catch(() => {});
  }
}

/** The session's process id is not that of the server behind it. */
function pooled(): PdError {
  return new PdError("PD_DATABASE_UNUSABLE", "Cannot use the database through a connection pooler: locks and prepared statements need a session of their own", {
    fix: "Give --database-url the address of PostgreSQL itself, often port 5432; the server keeps 11 connections",
  });
}
