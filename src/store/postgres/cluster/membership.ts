import pg from "pg";
import { BEAT_MS, type ClusterNode, SILENT_AFTER_MS, STEP_DOWN_AFTER_MS, canLeadInstead, leaderOf } from "../../../domain/cluster/node.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Cluster } from "../../../ports/cluster.ts";
import type { Log } from "../../../ports/log.ts";
import { isLost } from "../connection/errors.ts";
import { clientConfig } from "../connection/sql.ts";
import { HOLDER, SESSION_NAME, makeClusterTables } from "./cluster-tables.ts";
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
/** PostgreSQL may start or restart at the same time. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;
/** Without a leader for this long, a draining node leads as well. */
const DRAINED_TOO_LONG_MS = 10_000;

const JOIN = `insert into cluster_nodes (id, instance, api_url, endpoint_url, version, session, is_draining, problem, started_at, seen_at)
  values ($1, $2, $3, $4, $5, '', false, '', clock_timestamp(), clock_timestamp())
  on conflict (id) do update set instance = excluded.instance, api_url = excluded.api_url, endpoint_url = excluded.endpoint_url,
    version = excluded.version, session = '', is_draining = false, problem = '', started_at = excluded.started_at, seen_at = excluded.seen_at`;
const BEAT = "update cluster_nodes set seen_at = clock_timestamp(), session = $3, problem = $4 where id = $1 and instance = $2";
const TELL_READY = "update leadership set is_ready = $2 where node = $1 and is_ready <> $2";
const FORGET = "delete from cluster_nodes where seen_at < clock_timestamp() - interval '1 hour'";
const NODES = `select id, api_url, endpoint_url, version, session, is_draining, problem,
    exists (select 1 from pg_stat_activity a where ${SESSION_NAME} = session) as is_candidate, (extract(epoch from started_at) * 1000)::bigint as started_at,
    (extract(epoch from clock_timestamp() - seen_at) * 1000)::bigint as silent_ms from cluster_nodes order by id`;
const STATE = `select l.node, l.is_ready, h.session as holder from (select 1) one left join leadership l on true left join (${HOLDER}) h on true`;
const END_HOLDER = `select pg_terminate_backend(h.pid) from (${HOLDER}) h where h.session = $1`;

interface State {
  readonly nodes: readonly ClusterNode[];
  /** The session that has the lock, when no node that gives signs of life has it, and no server outside of the cluster. */
  readonly abandoned: string | undefined;
  /** Its node has been silent for too long. */
  readonly isSilent: boolean;
}

/** This node's place among the nodes of a cluster. */
export class Membership implements Cluster {
  readonly #settings: MemberSettings;
  readonly #pool: pg.Pool;
  readonly #instance: string;
  readonly #failed = new AbortController();
  #session = "";
  #problem = "";
  #leadership: Leadership | undefined;
  #nodes: readonly ClusterNode[] = [];
  /** A session without a known node, and since when it has the lock. */
  #stranger: { readonly session: string; readonly since: number } | undefined;
  #leaderlessSince: number;
  #lastBeatAt: number;
  #looking: Promise<void> | undefined;
  #loops: Promise<unknown> = Promise.resolve();

  /** Throws PD_DATABASE_UNUSABLE, PD_SECRET_KEY_WRONG. */
  static async join(settings: MemberSettings): Promise<Membership> {
    const { clock, signal } = settings;
    const membership = new Membership(settings);
    for (const until = clock.now() + PATIENCE_MS; ;) {
      try {
        await membership.#join();
        break;
      } catch (error) {
        if (isLost(error) && clock.now() < until && !signal.aborted) {
          await clock.sleepUntil(clock.now() + LOOK_MS, signal);
          continue;
        }
        await membership.#pool.end();
        if (error instanceof PdError) throw error;
        throw new PdError("PD_DATABASE_UNUSABLE", `Cannot join the cluster: ${messageOf(error)}`, { cause: error, fix: "Check --database-url" });
      }
    }
    membership.#loops = Promise.all([membership.#keepBeating(), membership.#keepLooking(), membership.#keepWatch()]);
    return membership;
  }

  private constructor(settings: MemberSettings) {
    this.#settings = settings;
    this.#instance = settings.clock.randomText(12);
    [this.#lastBeatAt, this.#leaderlessSince] = [settings.clock.now(), settings.clock.now()];
    this.#pool = new pg.Pool({
      ...clientConfig(settings.config, "headwater node"),
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      max: 3,
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

  /** It has not reached the database for a while. */
  get isBlind(): boolean {
    return this.#settings.clock.now() - this.#lastBeatAt >= STEP_DOWN_AFTER_MS;
  }

  /** As of the last beat. */
  get leader(): ClusterNode | undefined {
    return leaderOf(this.#nodes);
  }

  /** Asks the database. Callers at the same time share the answer. */
  async look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  /** Writes what has changed about this node, then looks. */
  async tell(): Promise<void> {
    await this.#beat();
    await this.#looking;
    await this.look();
  }

  async nodes(): Promise<readonly ClusterNode[]> {
    return (await this.#read()).nodes;
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

  /** Resolves when this node leads. Rejects when `signal` aborts. */
  async untilLeading(signal: AbortSignal): Promise<Leadership> {
    const { config, clock, log, node, keyIds } = this.#settings;
    const onSession = (name: string): void => {
      this.#session = name;
      void this.tell();
    };
    const candidate = { node: node.id, keyIds };
    for (;;) {
      signal.throwIfAborted();
      try {
        return (this.#leadership = await Leadership.claim({
          config,
          clock,
          signal,
          candidate,
          patienceMs: undefined,
          onSession,
          mayLead: () => this.#mayLead(),
        }));
      } catch (error) {
        if (!signal.aborted) log.error("cannot wait for the leadership: trying again", { reason: messageOf(error) });
      }
      this.#session = "";
      await clock.sleepUntil(clock.now() + RETRY_MS, signal);
    }
  }

  /** Why this node could not lead. People see it, and no leader hands over to this node. */
  tellProblem(problem: string): void {
    this.#problem = problem;
    void this.tell();
  }

  /** Ends the leadership. */
  async release(): Promise<void> {
    const leadership = this.#leadership;
    this.#leadership = undefined;
    this.#session = "";
    await leadership?.close();
  }

  async leave(): Promise<void> {
    await this.release();
    await this.#loops;
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
      if (theirs.length > 0 && !theirs.some((key) => keyIds.includes(key))) throw wrongKey(theirs, keyIds);
      await client.query(FORGET);
      await client.query(JOIN, [node.id, this.#instance, node.apiUrl, node.endpointUrl, node.version]);
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
    await this.look();
  }

  #mayLead(): boolean {
    const { clock } = this.#settings;
    return !this.isDraining || clock.now() - this.#leaderlessSince >= DRAINED_TOO_LONG_MS;
  }

  async #keepBeating(): Promise<void> {
    const { clock, signal } = this.#settings;
    while (!signal.aborted) {
      await clock.sleepUntil(clock.now() + BEAT_MS, signal);
      if (!signal.aborted) await this.#beat();
    }
  }

  async #keepLooking(): Promise<void> {
    const { clock, signal } = this.#settings;
    while (!signal.aborted) {
      await clock.sleepUntil(clock.now() + BEAT_MS, signal);
      if (!signal.aborted) await this.look();
    }
  }

  async #keepWatch(): Promise<void> {
    const { clock, signal } = this.#settings;
    while (!signal.aborted) {
      await clock.sleepUntil(clock.now() + LOOK_MS, signal);
      const silentMs = clock.now() - this.#lastBeatAt;
      if (silentMs >= STEP_DOWN_AFTER_MS) this.#leadership?.lose(`the database was not reached for ${Math.floor(silentMs / 1000)} s`);
    }
  }

  /** A sign of life. A leader that misses several steps down. */
  async #beat(): Promise<void> {
    const { clock, node } = this.#settings;
    const beganAt = clock.now();
    try {
      const { rowCount } = await this.#pool.query(BEAT, [node.id, this.#instance, this.#session, this.#problem]);
      if (rowCount === 0) await this.#afterLostRow();
      else this.#lastBeatAt = Math.max(this.#lastBeatAt, beganAt);
    } catch {
      // The next one tries again.
    }
  }

  async #lookOnce(): Promise<void> {
    const { clock, node, isServing } = this.#settings;
    try {
      await this.#pool.query(TELL_READY, [node.id, isServing()]);
      const state = await this.#read();
      this.#nodes = state.nodes;
      if (this.leader !== undefined) this.#leaderlessSince = clock.now();
      await this.#endAbandoned(state);
    } catch {
      // The next one tries again.
    }
  }

  /** The lock is held by a node that hangs, or whose machine or network is gone. */
  async #endAbandoned({ abandoned, isSilent }: State): Promise<void> {
    const { clock } = this.#settings;
    if (abandoned === undefined) return void (this.#stranger = undefined);
    if (this.#stranger?.session !== abandoned) this.#stranger = { session: abandoned, since: clock.now() };
    if (isSilent || clock.now() - this.#stranger.since >= SILENT_AFTER_MS) await this.#pool.query(END_HOLDER, [abandoned]);
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

  async #read(): Promise<State> {
    const [found, { rows }] = await Promise.all([
      this.#pool.query<{ node: string | null; is_ready: boolean | null; holder: string | null }>(STATE),
      this.#pool.query<Readonly<Record<string, unknown>>>(NODES),
    ]);
    const [state] = found.rows;
    const [leader, holder] = [state?.node ?? "", state?.holder ?? undefined];
    const nodes = rows.map((row): ClusterNode => {
      const hasLock = holder !== undefined && row["session"] === holder;
      return {
        id: String(row["id"]),
        apiUrl: String(row["api_url"]),
        endpointUrl: String(row["endpoint_url"]),
        version: String(row["version"]),
        startedAt: Number(row["started_at"]),
        silentMs: Math.max(0, Number(row["silent_ms"])),
        isDraining: row["is_draining"] === true,
        isCandidate: row["is_candidate"] === true,
        problem: String(row["problem"]),
        isLeader: hasLock && row["id"] === leader,
        isReady: state?.is_ready === true,
      };
    });
    const holding = rows.find((row) => row["session"] === holder);
    const isSilent = holding !== undefined && Number(holding["silent_ms"]) >= SILENT_AFTER_MS;
    const isKnown = holder === undefined || leader === "" || (holding !== undefined && !isSilent);
    return { nodes, abandoned: isKnown ? undefined : holder, isSilent };
  }
}

function wrongKey(theirs: readonly string[], own: readonly string[]): PdError {
  return new PdError(
    "PD_SECRET_KEY_WRONG",
    `Cannot join the cluster: its secrets are sealed with key ${theirs.join(", ")}, and this node has ${own.join(", ")}`,
    {
      fix: "Give all nodes the same PD_SECRET_KEY",
    },
  );
}
