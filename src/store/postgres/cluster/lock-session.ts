import { Socket } from "node:net";
import pg from "pg";
import { PdError } from "../../../domain/errors.ts";
import { isLost } from "../connection/errors.ts";
import { clientConfig } from "../connection/sql.ts";
import { HOLDER, LEADER_LOCK, SESSION_NAME, makeClusterTables } from "./cluster-tables.ts";

export interface Term {
  readonly epoch: number;
  /** A promoted standby may count an epoch twice. */
  readonly token: string;
  /** Another one after the promotion of a standby, which may lack the newest rows. Empty where the database does not tell. */
  readonly timeline: string;
}

const ANSWER_WITHIN_MS = 2000;
/** In a partition, the end of a connection is never confirmed. */
const END_WITHIN_MS = 500;
/** PostgreSQL notices within about 11 s that the client's machine is gone. */
const KEEPALIVE = "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";
const BEGIN_EPOCH = `insert into leadership (cluster, epoch, token, node, is_ready, key_ids) values ($1, 1, $2, $3, false, $4)
  on conflict (only_one) do update
    set epoch = leadership.epoch + 1, token = excluded.token, node = excluded.node, is_ready = false, key_ids = excluded.key_ids
  returning cluster, epoch`;
const END_EARLIER = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name like $1 and application_name <> $2`;

/** A connection that holds the lock of the leader, or tries to get it. */
export class LockSession {
  readonly client: pg.Client;
  readonly name: string;
  readonly #socket: Socket;

  /** Throws PD_DATABASE_UNUSABLE behind a pooler. */
  static async open(config: pg.ClientConfig): Promise<LockSession> {
    const socket = new Socket();
    const client = new pg.Client({ ...clientConfig(config, "headwater server"), query_timeout: ANSWER_WITHIN_MS, stream: () => socket });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number; name: string }>(
        `select a.pid, ${SESSION_NAME} as name from pg_stat_activity a where a.pid = pg_backend_pid()`,
      );
      const { pid = 0, name = "" } = rows[0] ?? {};
      if (Reflect.get(client, "processID") !== pid) throw pooled();
      await client.query(KEEPALIVE);
      await makeClusterTables(client);
      return new LockSession(client, name, socket);
    } catch (error) {
      await endClient(client, socket);
      throw error;
    }
  }

  private constructor(client: pg.Client, name: string, socket: Socket) {
    this.client = client;
    this.name = name;
    this.#socket = socket;
  }

  /** Without waiting: a statement that waits would keep PostgreSQL from removing old rows. */
  async tryLock(): Promise<boolean> {
    const { rows } = await this.client.query<{ is_held: boolean }>(`select pg_try_advisory_lock(${LEADER_LOCK}) as is_held`);
    return rows[0]?.is_held === true;
  }

  /** PostgreSQL may not know yet that the connection of this server's earlier session is gone. */
  async endOther(name: string): Promise<void> {
    await this.client.query(`select pg_terminate_backend(h.pid) from (${HOLDER}) h where h.session = $1`, [name]);
  }

  async beginEpoch(given: { readonly cluster: string; readonly token: string; readonly node: string; readonly keyIds: readonly string[] }) {
    const { cluster, token, node, keyIds } = given;
    const { rows } = await this.client.query<{ cluster: string; epoch: string }>(BEGIN_EPOCH, [cluster, token, node, keyIds.join(" ")]);
    return { cluster: rows[0]?.cluster ?? "", epoch: Number(rows[0]?.epoch) };
  }

  /** False once none is left. */
  async endEarlier(names: string, but: string): Promise<boolean> {
    return (await this.client.query(END_EARLIER, [names, but])).rows.length > 0;
  }

  onEnd(listener: () => void): void {
    this.client.once("end", listener);
  }

  end(): Promise<void> {
    return endClient(this.client, this.#socket);
  }
}

export async function termOf(client: Pick<pg.ClientBase, "query">): Promise<Term> {
  const { rows } = await client.query<{ epoch: string; token: string }>("select epoch, token from leadership");
  return { epoch: Number(rows[0]?.epoch ?? 0), token: rows[0]?.token ?? "", timeline: await timelineOf(client) };
}

export function isSameTerm(one: Term, other: Term): boolean {
  return one.epoch === other.epoch && one.token === other.token && one.timeline === other.timeline;
}

async function timelineOf(client: Pick<pg.ClientBase, "query">): Promise<string> {
  try {
    const { rows } = await client.query<{ timeline: string }>("select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline");
    return rows[0]?.timeline ?? "";
  } catch (error) {
    if (error instanceof pg.DatabaseError && !isLost(error)) return "";
    throw error;
  }
}

async function endClient(client: pg.Client, socket: Socket): Promise<void> {
  const late = setTimeout(() => socket.destroy(), END_WITHIN_MS);
  await client.end().catch(() => {});
  clearTimeout(late);
}

/** The session's process id is not that of the server behind it. */
function pooled(): PdError {
  return new PdError("PD_DATABASE_UNUSABLE", "Cannot use the database through a connection pooler: locks and prepared statements need a session of their own", {
    fix: "Give --database-url the address of PostgreSQL itself, often port 5432; the server keeps up to 14 connections",
  });
}
