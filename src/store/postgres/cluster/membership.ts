import pg from "pg";
import { BEAT_MS, type ClusterNode, SILENT_AFTER_MS, STEP_DOWN_AFTER_MS, canLeadInstead, leaderOf } from "../../../domain/cluster/node.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Cluster } from "../../../ports/cluster.ts";
import type { Log } from "../../../ports/log.ts";
import { clientConfig } from "../connection/sql.ts";
import { LEADER_LOCK, makeClusterTables } from "./cluster-tables.ts";
import { Leadership } from "./leadership.ts";

export interface MemberSettings {
  readonly config: pg.ClientConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly node: Pick<ClusterNode, "id" | "apiUrl" | "endpointUrl" | "version">;
  /** Ids of this node's secret keys. */
  readonly keyIds: readonly string[];
  /** Tells whether this node takes requests as the leader. */
  readonly isServing: () => boolean;
}

/** A beat that takes longer has failed. */
const ANSWER_WITHIN_MS = 2000;
const RETRY_MS = 2000;
/** The session of a takeover that this node does not know about is then ended. */
const UNKNOWN_BEATS = 6;

const HOLDER = `select a.pid, a.pid || ' ' || a.backend_start as session from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and a.datname = current_database()
    and ((l.classid::bigint << 32) | l.objid::bigint) = ${LEADER_LOCK}`;
const JOIN = `insert into cluster_nodes (id, instance, api_url, endpoint_url, version, session, is_draining, started_at, seen_at)
  values ($1, $2, $3, $4, $5, '', false, clock_timestamp(), clock_timestamp())
  on conflict (id) do update set instance = excluded.instance, api_url = excluded.api_url, endpoint_url = excluded.endpoint_url,
    version = excluded.version, session = '', is_draining = false, started_at = excluded.started_at, seen_at = excluded.seen_at`;
const BEAT = "update cluster_nodes set seen_at = clock_timestamp(), session = $3 where id = $1 and instance = $2";
const TELL_READY = "update leadership set is_ready = $2 where node = $1 and is_ready <> $2";
const FORGET = "delete from cluster_nodes where seen_at < clock_timestamp() - interval '1 hour'";
const NODES = `with holder as (${HOLDER})
  select n.id, n.api_url, n.endpoint_url, n.version, n.is_draining, (extract(epoch from n.started_at) * 1000)::bigint as started_at,
    (extract(epoch from clock_timestamp() - n.seen_at) * 1000)::bigint as silent_ms, coalesce(n.session = h.session, false) as has_lock,
    coalesce(n.session = h.session and l.node = n.id, false) as is_leader, coalesce(l.is_ready, false) as is_ready
  from cluster_nodes n left join leadership l on true left join holder h on true order by n.id`;
/** Its process hangs, or the network hides it. */
const END_SILENT = `with holder as (${HOLDER}) select pg_terminate_backend(h.pid) from holder h join cluster_nodes n on n.session = h.session
  where n.seen_at < clock_timestamp() - interval '${SILENT_AFTER_MS} milliseconds'`;

interface NodeRow {
  readonly node: ClusterNode;
  readonly hasLock: boolean;
}

/** This node's place among the nodes of a cluster. */
export class Membership implements Cluster {
  readonly #settings: MemberSettings;
  readonly #pool: pg.Pool;
  readonly #instance: string;
  readonly #failed = new AbortController();
  #session = "";
  #leadership: Leadership | undefined;
  #nodes: readonly ClusterNode[] = [];
  /** Aborts a claim. */
  #claim = new AbortController();
  #unknownBeats = 0;
  #lastBeatAt: number;
  #beating: Promise<void> | undefined;
  #beats: Promise<void> = Promise.resolve();

  /** Throws PD_DATABASE_UNUSABLE, PD_SECRET_KEY_WRONG. */
  static async join(settings: MemberSettings): Promise<Membership> {
    const membership = new Membership(settings);
    try {
      await membership.#join();
    } catch (error) {
      await membership.#pool.end();
      if (error instanceof PdError) throw error;
      throw new PdError("PD_DATABASE_UNUSABLE", `Cannot join the cluster: ${messageOf(error)}`, { cause: error, fix: "Check --database-url" });
    }
    membership.#beats = membership.#keepBeating();
    return membership;
  }

  private constructor(settings: MemberSettings) {
    this.#settings = settings;
    this.#instance = settings.clock.randomText(12);
    this.#lastBeatAt = settings.clock.now();
    this.#pool = new pg.Pool({
      ...clientConfig(settings.config, "headwater node"),
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      max: 2,
    });
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** Aborts when another process has taken this node's place. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  get isDraining(): boolean {
    return this.#nodes.some(({ id, isDraining }) => id === this.#settings.node.id && isDraining);
  }

  get canHandOver(): boolean {
    return canLeadInstead(this.#nodes, this.#settings.node.id);
  }

  /** As of the last beat. */
  get leader(): ClusterNode | undefined {
    return leaderOf(this.#nodes);
  }

  /** Asks the database. Callers at the same time share the answer. */
  async look(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => (this.#beating = undefined));
    await this.#beating;
  }

  /** As `look`, but asks after what was under way. */
  async tell(): Promise<void> {
    await this.#beating;
    await this.look();
  }

  async nodes(): Promise<readonly ClusterNode[]> {
    return (await this.#rows()).map(({ node }) => node);
  }

  async drain(id: string, isDraining: boolean): Promise<ClusterNode> {
    const nodes = await this.nodes();
    const found = nodes.find((node) => node.id === id);
    if (found === undefined)
      throw new PdError("PD_NOT_FOUND", `Cannot drain ${JSON.stringify(id)}: the cluster has no such node`, { fix: "pd cluster status" });
    if (isDraining && found.isLeader && !canLeadInstead(nodes, id))
      throw new PdError("PD_CONFLICT", `Cannot drain ${id}: it leads, and no other node could lead`, { fix: "Start another node first" });
    await this.#pool.query("update cluster_nodes set is_draining = $2 where id = $1", [id, isDraining]);
    await this.tell();
    return { ...found, isDraining };
  }

  /** Resolves when this node leads. Throws PD_STOPPING when `signal` aborts. */
  async untilLeading(signal: AbortSignal): Promise<Leadership> {
    const { config, clock, log, node, keyIds } = this.#settings;
    for (;;) {
      signal.throwIfAborted();
      const mayClaim = !this.isDraining;
      this.#claim = new AbortController();
      const candidate = { node: node.id, keyIds };
      const onSession = (session: string): void => {
        this.#session = session;
        void this.tell();
      };
      const claim = { config, clock, candidate, patienceMs: undefined, onSession, signal: AbortSignal.any([signal, this.#claim.signal]) };
      try {
        if (mayClaim) return (this.#leadership = await Leadership.claim(claim));
      } catch (error) {
        if (!this.#claim.signal.aborted && !signal.aborted) log.error("cannot wait for the leadership: trying again", { reason: messageOf(error) });
      }
      this.#session = "";
      await clock.sleepUntil(clock.now() + (mayClaim ? RETRY_MS : BEAT_MS), signal);
    }
  }

  /** Gives up the leadership. */
  async release(): Promise<void> {
    const leadership = this.#leadership;
    this.#leadership = undefined;
    this.#session = "";
    await leadership?.close();
  }

  async leave(): Promise<void> {
    await this.release();
    await this.#beats;
    const { id } = this.#settings.node;
    await this.#pool.query("delete from cluster_nodes where id = $1 and instance = $2", [id, this.#instance]).catch(() => {});
    await this.#pool.end();
  }

  async #join(): Promise<void> {
    const { node, keyIds } = this.#settings;
    const client = await this.#pool.connect();
    try {
      await makeClusterTables(client);
      const { rows } = await client.query<{ key_ids: string }>("select key_ids from leadership");
      const theirs = (rows[0]?.key_ids ?? "").split(" ").filter((key) => key !== "");
      if (theirs.length > 0 && !theirs.some((key) => keyIds.includes(key)))
        throw new PdError(
          "PD_SECRET_KEY_WRONG",
          `Cannot join the cluster: its secrets are sealed with key ${theirs.join(", ")}, and this node has ${keyIds.join(", ")}`,
          {
            fix: "Give all nodes the same PD_SECRET_KEY",
          },
        );
      await client.query(FORGET);
      await client.query(JOIN, [node.id, this.#instance, node.apiUrl, node.endpointUrl, node.version]);
    } finally {
      client.release();
    }
    await this.look();
  }

  async #keepBeating(): Promise<void> {
    const { clock, signal } = this.#settings;
    while (!signal.aborted) {
      await clock.sleepUntil(clock.now() + BEAT_MS, signal);
      this.#loseUnreached();
      if (!signal.aborted) await this.look();
      this.#loseUnreached();
    }
  }

  #loseUnreached(): void {
    const silentMs = this.#settings.clock.now() - this.#lastBeatAt;
    if (silentMs >= STEP_DOWN_AFTER_MS) this.#leadership?.lose(`the database was not reached for ${Math.floor(silentMs / 1000)} s`);
  }

  async #beat(): Promise<void> {
    const { clock, node, isServing } = this.#settings;
    const beganAt = clock.now();
    try {
      const { rowCount } = await this.#pool.query(BEAT, [node.id, this.#instance, this.#session]);
      if (rowCount === 0) return await this.#afterLostRow();
      await this.#pool.query(TELL_READY, [node.id, isServing()]);
      const rows = await this.#rows();
      this.#lastBeatAt = beganAt;
      this.#nodes = rows.map((row) => row.node);
      if (rows.some((row) => row.hasLock && row.node.silentMs >= SILENT_AFTER_MS)) await this.#pool.query(END_SILENT);
      const own = rows.find((row) => row.node.id === node.id);
      this.#unknownBeats = own?.hasLock === true && this.#leadership === undefined ? this.#unknownBeats + 1 : 0;
      if (this.isDraining || this.#unknownBeats >= UNKNOWN_BEATS) this.#claim.abort();
    } catch {
      // The next beat tries again. A leader that misses several gives up.
    }
  }

  /** Its row was deleted after an hour without a beat, or is another's. */
  async #afterLostRow(): Promise<void> {
    const { node, log } = this.#settings;
    const { rows } = await this.#pool.query("select 1 from cluster_nodes where id = $1", [node.id]);
    if (rows.length === 0) return void (await this.#pool.query(JOIN, [node.id, this.#instance, node.apiUrl, node.endpointUrl, node.version]));
    const error = new PdError("PD_CONFLICT", `Cannot stay in the cluster: another node has the address ${node.id}`, {
      fix: "Give each node an --advertise of its own",
    });
    log.error(error.message);
    this.#leadership?.lose(error.message);
    this.#failed.abort(error);
  }

  async #rows(): Promise<readonly NodeRow[]> {
    const { rows } = await this.#pool.query<Readonly<Record<string, unknown>>>(NODES);
    return rows.map((row) => ({
      hasLock: row["has_lock"] === true,
      node: {
        id: String(row["id"]),
        apiUrl: String(row["api_url"]),
        endpointUrl: String(row["endpoint_url"]),
        version: String(row["version"]),
        startedAt: Number(row["started_at"]),
        silentMs: Math.max(0, Number(row["silent_ms"])),
        isDraining: row["is_draining"] === true,
        isLeader: row["is_leader"] === true,
        isReady: row["is_ready"] === true,
      },
    }));
  }
}
