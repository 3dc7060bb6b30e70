import pg from "pg";
import { PdError } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Row } from "../../rows/rows.ts";
import { inDoubt, isAnswered, isInDoubt, isLost, isRepeatable, notWritten, unreachable } from "./errors.ts";
import { storedText, textOfStored } from "./text.ts";

type Scalar = string | number | boolean | null;
export type Value = Scalar | readonly Scalar[];

export interface Changed {
  readonly count: number;
  readonly rows: Row[];
}

export interface Sql {
  /** Throws PD_DATABASE_UNREACHABLE outside of a transaction. */
  all(text: string, ...values: readonly Value[]): Promise<Row[]>;
  first(text: string, ...values: readonly Value[]): Promise<Row | undefined>;
  /** Outside of a transaction, throws PD_NOT_STORED, or PD_IN_DOUBT while the database does not tell. */
  run(text: string, ...values: readonly Value[]): Promise<Changed>;
}

export interface ConnectionSettings {
  readonly config: pg.ClientConfig;
  /** Tells this server's connections from those of others. */
  readonly applicationName: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Of each new connection. One for which it rejects is closed. */
  readonly check?: (client: pg.ClientBase) => Promise<void> | undefined;
}

/** What the tables use of it. */
export type Database = Pick<Connections, keyof Sql | "transaction" | "runAtOnce" | "runAgain">;

const CONNECTIONS = 10;
/** A restart of PostgreSQL takes a second or two. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 100;
/** No statement takes so long, so the network is cut. */
const ANSWER_WITHIN_MS = 60_000;
/** Of a transaction that others keep from its locks. */
const MOST_ATTEMPTS = 5;
/** https://github.com/brianc/node-pg-types */
const INT8 = 20;
const TEXT = 25;

type Client = Pick<pg.PoolClient, "query" | "release"> & { readonly processID?: number };

/** Of a transaction. A connection that broke is not used again, so its row tells of its last one. */
interface Mark {
  readonly connection: string;
  readonly number: number;
}

const MARK = `insert into write_marks (connection, number) values ($1, $2)
  on conflict (connection) do update set number = excluded.number, at = now()`;
/** The first of a connection. Those of connections that were closed long ago are deleted. */
const FIRST_MARK = `with old as (delete from write_marks where connection in
  (select connection from write_marks where at < now() - interval '1 day' for update skip locked)) ${MARK}`;

/** All connections of a server to its database. */
export class Connections implements Sql {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #name: string;
  readonly #statements = new Map<string, string>();
  /** Processes of PostgreSQL whose answer to a commit was lost. */
  readonly #lost = new Set<number>();
  readonly #writes = new Set<Promise<unknown>>();
  readonly #marks = new WeakMap<Client, Mark>();
  #refusal: Error | undefined;
  #isClosed = false;

  constructor({ config, applicationName, clock, signal, check }: ConnectionSettings) {
    this.#clock = clock;
    this.#signal = signal;
    this.#name = applicationName;
    this.#pool = new pg.Pool({
      ...clientConfig(config, applicationName),
      max: CONNECTIONS,
      query_timeout: ANSWER_WITHIN_MS,
      idleTimeoutMillis: ANSWER_WITHIN_MS,
      onConnect: check,
    });
    // The pool replaces a connection that breaks while idle.
    this.#pool.on("error", () => {});
    // While one is in use, its statement fails as well.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** Repeats a read whose answer was lost. */
  async all(text: string, ...values: readonly Value[]): Promise<Row[]> {
    try {
      return await this.#patiently(() => this.#using(async (client) => (await this.#ask(client, text, values)).rows));
    } catch (error) {
      throw unreachable(error);
    }
  }

  async first(text: string, ...values: readonly Value[]): Promise<Row | undefined> {
    return (await this.all(text, ...values))[0];
  }

  run(text: string, ...values: readonly Value[]): Promise<Changed> {
    return this.transaction((sql) => sql.run(text, ...values));
  }

  /** In one round trip. Throws PD_IN_DOUBT when the answer was lost: what was written, only the rows can tell. */
  runAtOnce(text: string, ...values: readonly Value[]): Promise<Changed> {
    return this.#counted(this.#patiently(() => this.#runOnce(text, values)));
  }

  /** As `runAtOnce`, for a write that may run twice. Throws PD_IN_DOUBT when no attempt succeeded and the answer to one was lost. */
  runAgain(text: string, ...values: readonly Value[]): Promise<Changed> {
    return this.#counted(this.#runUntilAnswered(text, values));
  }

  /** Runs again, from the start, after a deadlock, or when its connection was lost before the commit. */
  transaction<Made>(work: (sql: Sql) => Promise<Made>): Promise<Made> {
    return this.#counted(this.#patiently(() => this.#transactionOnce(work)));
  }

  /** Resolves once the writes that were under way have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  async #counted<Made>(write: Promise<Made>): Promise<Made> {
    this.#writes.add(write);
    try {
      return await write;
    } finally {
      this.#writes.delete(write);
    }
  }

  async #runOnce(text: string, values: readonly Value[]): Promise<Changed> {
    const client = await this.#writer();
    try {
      const changed = await this.#ask(client, text, values);
      client.release();
      return changed;
    } catch (error) {
      const isInDoubtNow = !isAnswered(error);
      this.#leave(client, isInDoubtNow);
      throw isInDoubtNow ? inDoubt(error) : notWritten(error);
    }
  }

  async #runUntilAnswered(text: string, values: readonly Value[]): Promise<Changed> {
    let doubt: unknown;
    const attempt = (): Promise<Changed> =>
      this.#runOnce(text, values).catch((error: unknown) => {
        if (!isInDoubt(error)) throw error;
        doubt = error;
        throw notWritten(causeOf(error));
      });
    try {
      return await this.#patiently(attempt);
    } catch (error) {
      throw doubt ?? error;
    }
  }

  async #transactionOnce<Made>(work: (sql: Sql) => Promise<Made>): Promise<Made> {
    const client = await this.#writer();
    let end: { readonly made: Made; readonly mark: Mark } | undefined;
    try {
      await client.query("begin");
      const made = await work(this.#within(client));
      const mark = this.#nextMark(client);
      await this.#ask(client, mark.number === 1 ? FIRST_MARK : MARK, [mark.connection, mark.number]);
      end = { made, mark };
      await client.query("commit");
      client.release();
      return made;
    } catch (error) {
      const isInDoubtNow = end !== undefined && !isAnswered(error);
      if (!isInDoubtNow && !isLost(error)) await rollBack(client);
      this.#leave(client, isInDoubtNow || isLost(error));
      if (end !== undefined && isInDoubtNow && (await this.#isCommitted(end.mark))) return end.made;
      throw notWritten(error);
    }
  }

  /** Throws PD_IN_DOUBT while the database does not tell. */
  async #isCommitted({ connection, number }: Mark): Promise<boolean> {
    await this.settleDoubts();
    try {
      return Number((await this.first("select number from write_marks where connection = $1", connection))?.["number"]) === number;
    } catch (error) {
      throw inDoubt(error);
    }
  }

  #nextMark(client: Client): Mark {
    const before = this.#marks.get(client) ?? { connection: this.#clock.randomText(20), number: 0 };
    const mark = { ...before, number: before.number + 1 };
    this.#marks.set(client, mark);
    return mark;
  }

  #within(client: Client): Sql {
    const ask = (text: string, values: readonly Value[]): Promise<Changed> => this.#ask(client, text, values);
    return {
      all: async (text, ...values) => (await ask(text, values)).rows,
      first: async (text, ...values) => (await ask(text, values)).rows[0],
      run: (text, ...values) => ask(text, values),
    };
  }

  /** A process of PostgreSQL whose connection broke may still be at work. */
  #leave(client: Client, isBroken: boolean): void {
    client.release(isBroken);
    if (isBroken && client.processID !== undefined) this.#lost.add(client.processID);
  }

  /** Resolves when nothing that was in doubt can still be stored. Throws PD_IN_DOUBT when that is not known. */
  async settleDoubts(): Promise<void> {
    if (this.#lost.size === 0) return;
    try {
      const asked = [...this.#lost];
      for (let left = asked.length; left > 0;) {
        left = (await this.all(END_LOST, asked, this.#name)).length;
        if (left > 0 && this.#signal.aborted) throw new Error("the server is stopping");
        if (left > 0) await this.#pause();
      }
      for (const pid of asked) this.#lost.delete(pid);
    } catch (error) {
      throw inDoubt(error);
    }
  }

  /** Every later write fails with this error. */
  refuseWrites(error: Error): void {
    this.#refusal ??= error;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  async #using<Made>(work: (client: Client) => Promise<Made>): Promise<Made> {
    const client = await this.#pool.connect();
    try {
      const made = await work(client);
      client.release();
      return made;
    } catch (error) {
      client.release(isLost(error));
      throw error;
    }
  }

  async #writer(): Promise<Client> {
    if (this.#refusal !== undefined) throw this.#refusal;
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw notWritten(error);
    }
  }

  /** Repeats what may be repeated, also while the database restarts. What is in doubt is never repeated. */
  async #patiently<Made>(work: () => Promise<Made>): Promise<Made> {
    const until = this.#clock.now() + PATIENCE_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        const cause = causeOf(error);
        const isOver = this.#isClosed || this.#signal.aborted || this.#clock.now() >= until;
        if (isOver || isInDoubt(error)) throw error;
        if (isLost(cause)) await this.#pause();
        else if (!isRepeatable(cause) || attempt >= MOST_ATTEMPTS) throw error;
      }
    }
  }

  #pause(): Promise<void> {
    return this.#clock.sleepUntil(this.#clock.now() + PAUSE_MS, this.#signal);
  }

  async #ask(client: Client, text: string, values: readonly Value[]): Promise<Changed> {
    const { rows, rowCount } = await client.query<Row>({ name: this.#nameOf(text), text, values: values.map(boundValue) });
    return { rows, count: rowCount ?? 0 };
  }

  /** Named statements are parsed once per connection. */
  #nameOf(text: string): string {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const name = `headwater_${this.#statements.size}`;
    this.#statements.set(text, name);
    return name;
  }
}

const END_LOST = "select pg_terminate_backend(pid) from pg_stat_activity where pid = any ($1::int[]) and application_name = $2 and pid <> pg_backend_pid()";

function causeOf(error: unknown): unknown {
  return error instanceof PdError ? error.cause : error;
}

async function rollBack(client: Client): Promise<void> {
  try {
    await client.query("rollback");
  } catch {
    // The connection broke, which ends the transaction as well.
  }
}

function boundValue(value: Value): unknown {
  if (typeof value === "string") return storedText(value);
  return Array.isArray(value) ? value.map((item: Scalar) => (typeof item === "string" ? storedText(item) : item)) : value;
}

export function clientConfig(config: pg.ClientConfig, applicationName: string): pg.ClientConfig {
  return {
    ...config,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: PATIENCE_MS,
    connectionTimeoutMillis: PATIENCE_MS,
    types: { getTypeParser },
  };
}

/** All numbers of the schema are safe integers or doubles. */
function getTypeParser(oid: number, format?: "text" | "binary"): (text: string) => unknown {
  if (oid === INT8) return Number;
  if (oid === TEXT) return textOfStored;
  return format === "binary" ? pg.types.getTypeParser(oid, "binary") : pg.types.getTypeParser(oid, "text");
}
