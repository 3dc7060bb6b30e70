import type pg from "pg";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import { isLost } from "../connection/errors.ts";
import { LockSession, type Term, isSameTerm, termOf } from "./lock-session.ts";

export interface Candidate {
  /** Id of a node of a cluster. Empty for a server that is alone. */
  readonly node: string;
  /** Ids of its secret keys. */
  readonly keyIds: readonly string[];
}

export interface ClaimSettings {
  readonly config: pg.ClientConfig;
  readonly clock: Clock;
  /** Ends the claim, not the leadership. */
  readonly signal: AbortSignal;
  readonly candidate: Candidate;
  /** Undefined: until `signal` aborts. */
  readonly patienceMs: number | undefined;
  /** Called before a session tries to get the lock. */
  readonly onSession?: (name: string) => void;
  /** False while this server should not lead. */
  readonly mayLead?: () => boolean;
}

export const ALONE: Candidate = { node: "", keyIds: [] };
/** An ended server's connection may stay open for a moment. */
export const PATIENCE_MS = 10_000;
const RETRY_MS = 250;
const TRY_EVERY_MS = 100;
const ENDING_MS = 20;

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
  readonly #closed = new AbortController();
  readonly #term: Term;
  #lock: LockSession;

  /** Throws PD_DATABASE_IN_USE, PD_DATABASE_UNUSABLE, and PD_STOPPING when `signal` aborts. */
  static async claim(settings: ClaimSettings): Promise<Leadership> {
    const { clock, signal, patienceMs = Number.POSITIVE_INFINITY } = settings;
    const until = clock.now() + patienceMs;
    for (;;) {
      try {
        return await claimOnce(settings, until);
      } catch (error) {
        if (signal.aborted) throw new PdError("PD_STOPPING", "Cannot wait for the database: the server is stopping", { cause: error });
        if (error instanceof PdError) throw error;
        if (!isLost(error) || clock.now() >= until)
          throw new PdError("PD_DATABASE_UNUSABLE", `Cannot lock the PostgreSQL database: ${messageOf(error)}`, { cause: error });
      }
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }

  constructor(lock: LockSession, { settings, sessionName, term }: { settings: ClaimSettings; sessionName: string; term: Term }) {
    this.#lock = lock;
    this.#settings = settings;
    this.sessionName = sessionName;
    this.#term = term;
    this.#watch();
  }

  /** Aborts when another server has taken over. The reason is an error. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(reason: string): void {
    this.#lost.abort(new PdError("PD_NOT_STORED", `Cannot write to the database: ${reason}`, { fix: "Stop this server" }));
  }

  /** For each new session. Throws when the epoch is over. */
  async check(client: Pick<pg.ClientBase, "query">): Promise<void> {
    if (!isSameTerm(await termOf(client), this.#term)) this.lose("another server has taken over the database");
    this.#lost.signal.throwIfAborted();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#lock.end();
  }

  #watch(): void {
    this.#lock.onEnd(() => void this.#lockAgain());
  }

  /** PostgreSQL has restarted, the network was cut, or another server has ended the session. */
  async #lockAgain(): Promise<void> {
    const { clock } = this.#settings;
    let until = clock.now() + PATIENCE_MS;
    while (!this.#closed.signal.aborted && !this.#lost.signal.aborted) {
      try {
        if (await this.#tryAgain()) return;
        if (clock.now() >= until) return this.lose("another server has locked the database");
      } catch {
        // PostgreSQL cannot be reached.
        until = clock.now() + PATIENCE_MS;
      }
      await clock.sleepUntil(clock.now() + RETRY_MS, this.#closed.signal);
    }
  }

  /** False while another session has the lock. */
  async #tryAgain(): Promise<boolean> {
    const lock = await LockSession.open(this.#settings.config);
    let isKept = false;
    try {
      await lock.endOther(this.#lock.name);
      const isHeld = await lock.tryLock();
      const isSame = isSameTerm(await termOf(lock.client), this.#term);
      if (!isSame) this.lose("another server has taken over the database");
      isKept = isHeld && isSame && !this.#closed.signal.aborted;
      if (isKept) {
        this.#lock = lock;
        this.#watch();
        this.#settings.onSession?.(lock.name);
      }
      return isKept || !isSame;
    } finally {
      if (!isKept) await lock.end();
    }
  }
}

async function claimOnce(settings: ClaimSettings, until: number): Promise<Leadership> {
  const { config, clock, signal, onSession, mayLead = () => true } = settings;
  const lock = await LockSession.open(config);
  onSession?.(lock.name);
  try {
    while (!mayLead() || !(await lock.tryLock())) {
      if (clock.now() >= until) throw inUse();
      await clock.sleepUntil(clock.now() + TRY_EVERY_MS, signal);
      signal.throwIfAborted();
    }
    const { sessionName, term } = await begin(lock, settings);
    signal.throwIfAborted();
    return new Leadership(lock, { settings, sessionName, term });
  } catch (error) {
    await lock.end();
    throw error;
  }
}

async function begin(lock: LockSession, { clock, candidate }: ClaimSettings): Promise<{ sessionName: string; term: Term }> {
  const token = clock.randomText(8);
  const { cluster, epoch } = await lock.beginEpoch({ ...candidate, cluster: clock.randomText(8), token });
  const sessionName = `headwater ${cluster} ${epoch} ${token}`;
  const never = new AbortController().signal;
  while (await lock.endEarlier(`headwater ${cluster} %`, sessionName)) await clock.sleepUntil(clock.now() + ENDING_MS, never);
  return { sessionName, term: await termOf(lock.client) };
}

function inUse(): PdError {
  return new PdError("PD_DATABASE_IN_USE", "Cannot start: another server uses this database", {
    fix: "Stop it, choose another database, or let both be nodes of a cluster with --advertise",
  });
}
