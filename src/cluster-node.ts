import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import type { StatusRecord } from "./api/server.ts";
import type { Settings } from "./config.ts";
import { BEAT_MS, type ClusterNode } from "./domain/cluster/node.ts";
import { PdError, messageOf } from "./domain/errors.ts";
import type { Log } from "./ports/log.ts";
import { openAsLeader } from "./open-store.ts";
import { type OpenDoors, STOP_GRACE_MS, holdHome, openDoors, serverRecord } from "./runtime.ts";
import { Forwarder } from "./server/forwarding/forwarder.ts";
import { type Listeners, type Serving, serve } from "./serving.ts";
import { clientConfigOf } from "./store/postgres/connection/address.ts";
import type { Leadership } from "./store/postgres/cluster/leadership.ts";
import { Membership } from "./store/postgres/cluster/membership.ts";
import { systemClock } from "./system/clock.ts";
import { removeServerRecord, writeServerRecord } from "./system/home/server-record.ts";
import { writeWhole } from "./system/home/whole-files.ts";
import { type ClusterKeys, clusterKeys } from "./system/keys/cluster-keys.ts";
import { Metrics } from "./system/process/metrics.ts";
import { packageVersion } from "./system/program-files.ts";

export interface RunningNode extends AsyncDisposable {
  readonly id: string;
  readonly apiUrl: string;
  readonly endpointUrl: string;
  /** Aborts when the node cannot stay in the cluster. */
  readonly failed: AbortSignal;
}

interface NodeParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly isShared: boolean;
  readonly home: string;
  readonly keys: ClusterKeys;
  readonly version: string;
  readonly doors: OpenDoors;
}

interface DoorParts {
  readonly urlOf: (leader: ClusterNode) => string;
  readonly listenerOf: (listeners: Listeners) => RequestListener;
  readonly answersHere: (request: IncomingMessage, response: ServerResponse) => boolean;
}

const PLAIN = { "content-type": "text/plain" };
const RETRY_MS = 5000;
const LOOK_MS = 200;
/** The next leader starts meanwhile. */
const HAND_OVER_MS = 5000;

/**
 * A server that shares its database with other nodes. Throws PD_HOME_UNUSABLE, PD_HOME_IN_USE, PD_PORT_TAKEN,
 * PD_DATABASE_UNUSABLE, PD_SECRET_KEY_WRONG, PD_BAD_INPUT.
 */
export async function startNode(settings: Settings, log: Log, { isShared }: { readonly isShared: boolean }): Promise<RunningNode> {
  if (settings.databaseUrl === "")
    throw new PdError("PD_BAD_INPUT", "Cannot join a cluster: the nodes of a cluster share a PostgreSQL database", {
      fix: "Give all of them the same --database-url",
    });
  const keys = clusterKeys(process.env);
  if (settings.publicUrl === "")
    log.warn("endpoints get the address of the node that leads, which changes with the leader: give --public-url, the address of the balancer in front");
  const place = await holdHome(settings.home);
  try {
    const { home } = place;
    await writeWhole(join(home, "api-key"), `${keys.apiKey}\n`);
    let metrics: Metrics | undefined;
    const doors = await openDoors(settings, { log, count: (status) => metrics?.refused(status) });
    const version = await packageVersion();
    const node = new Node({ settings, log, isShared, home, keys, version, doors }, (next) => (metrics = next));
    try {
      await writeServerRecord(home, serverRecord(doors, version, node.id)());
      await node.join();
    } catch (error) {
      await removeServerRecord(home);
      await doors.close(0);
      throw error;
    }
    return {
      id: node.id,
      apiUrl: doors.apiUrl,
      endpointUrl: doors.endpointUrl,
      failed: node.failed,
      async [Symbol.asyncDispose]() {
        await removeServerRecord(home);
        await node.stop();
        place.release();
      },
    };
  } catch (error) {
    place.release();
    throw error;
  }
}

/** Waits for the leadership, serves, and waits again when it is lost or given up. */
class Node {
  readonly id: string;
  readonly #parts: NodeParts;
  readonly #onMetrics: (metrics: Metrics) => void;
  readonly #stopping = new AbortController();
  readonly #left = new AbortController();
  readonly #api: Forwarder;
  readonly #endpoints: Forwarder;
  readonly #urls: Pick<ClusterNode, "apiUrl" | "endpointUrl">;
  readonly #underWay = new Set<ServerResponse>();
  #membership: Membership | undefined;
  #listeners: Listeners | undefined;
  #life: Promise<void> = Promise.resolve();
  #isHandingOver = false;
  #knownLeader = "";

  constructor(parts: NodeParts, onMetrics: (metrics: Metrics) => void) {
    this.#parts = parts;
    this.#onMetrics = onMetrics;
    const { settings, doors } = parts;
    const host = settings.advertise.includes(":") ? `[${settings.advertise}]` : settings.advertise;
    const [apiUrl, endpointUrl] = [`http://${host}:${doors.apiPort}`, `http://${host}:${new URL(doors.endpointUrl).port}`];
    this.#urls = { apiUrl, endpointUrl };
    this.id = new URL(apiUrl).host;
    const answersHere = (request: IncomingMessage, response: ServerResponse): boolean => this.#answersHere(request, response);
    this.#api = this.#forwarder({ urlOf: (leader) => leader.apiUrl, listenerOf: ({ api }) => api, answersHere });
    this.#endpoints = this.#forwarder({ urlOf: (leader) => leader.endpointUrl, listenerOf: ({ endpoints }) => endpoints, answersHere: () => false });
  }

  get failed(): AbortSignal {
    return this.#member.failed;
  }

  get #member(): Membership {
    if (this.#membership === undefined) throw new PdError("PD_STARTING", "Cannot use the cluster yet: this node has not joined it");
    return this.#membership;
  }

  async join(): Promise<void> {
    const { settings, log, keys, version, doors } = this.#parts;
    const config = clientConfigOf(settings.databaseUrl, settings.databasePasswordFile);
    this.#membership = await Membership.join({
      config,
      clock: systemClock,
      log,
      signal: this.#left.signal,
      node: { ...this.#urls, id: this.id, version },
      keyIds: keys.ids,
      isServing: () => this.#listeners !== undefined && !this.#isHandingOver,
    });
    doors.answerWith({ api: this.#api.listener, endpoints: this.#endpoints.listener });
    log.info("joined the cluster", { node: this.id, leader: this.#membership.leader?.id ?? "none yet" });
    this.#life = this.#live();
  }

  /** A leader hands over first: its requests wait for the next leader. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const isLeading = this.#listeners !== undefined;
    await this.#life;
    if (isLeading) await this.#untilOtherLeads();
    for (const forwarder of [this.#api, this.#endpoints]) forwarder.endStreams();
    await this.#parts.doors.close(STOP_GRACE_MS);
    this.#left.abort();
    await this.#member.leave();
    for (const forwarder of [this.#api, this.#endpoints]) forwarder.close();
  }

  #otherLeader(): ClusterNode | undefined {
    const leader = this.#membership?.leader;
    return leader?.id === this.id ? undefined : leader;
  }

  /** The doors stay open meanwhile. */
  async #untilOtherLeads(): Promise<void> {
    const until = systemClock.now() + HAND_OVER_MS;
    const isOther = (): boolean => this.#otherLeader() !== undefined;
    await this.#member.tell();
    while (this.#member.canHandOver && !isOther() && systemClock.now() < until) {
      await systemClock.sleepUntil(systemClock.now() + LOOK_MS, this.#left.signal);
      await this.#member.look();
    }
    // By then, the other nodes know the next leader as well.
    if (isOther()) await systemClock.sleepUntil(systemClock.now() + BEAT_MS, this.#left.signal);
  }

  async #live(): Promise<void> {
    const { log } = this.#parts;
    const member = this.#member;
    void this.#followLeader();
    while (!this.#stopping.signal.aborted) {
      const leadership = await this.#untilLeading();
      if (leadership === undefined) return;
      let serving: Serving | undefined;
      try {
        serving = await this.#serve(leadership);
        member.tellProblem("");
        log.info("this node leads", { node: this.id });
        await this.#untilOver(leadership);
      } catch (error) {
        this.#listeners = undefined;
        log.error("cannot lead: another node may, and this one tries again", { reason: messageOf(error) });
        await member.release();
        if (!leadership.lost.aborted) member.tellProblem(messageOf(error));
        await systemClock.sleepUntil(systemClock.now() + RETRY_MS, this.#stopping.signal);
      }
      if (serving !== undefined) await this.#endServing(serving, leadership);
      await member.release();
    }
  }

  /** Undefined when the node stops. */
  async #untilLeading(): Promise<Leadership | undefined> {
    const over = AbortSignal.any([this.#stopping.signal, this.#member.failed]);
    try {
      return await this.#member.untilLeading(over);
    } catch (error) {
      if (over.aborted) return undefined;
      throw error;
    }
  }

  async #serve(leadership: Leadership): Promise<Serving> {
    const { settings, log, isShared, home, keys, version, doors } = this.#parts;
    const metrics = new Metrics();
    this.#onMetrics(metrics);
    return serve(settings, {
      isShared,
      home,
      log,
      apiKey: keys.apiKey,
      version,
      doors,
      record: serverRecord(doors, version, this.id),
      cluster: this.#member,
      metrics,
      openStore: (signal) => openAsLeader(leadership, { settings, home, log, signal }),
      listen: (listeners) => {
        this.#listeners = listeners;
        void this.#member.tell();
      },
    });
  }

  /** Drained, taken over by another node, cut off from the database, or stopping. */
  async #untilOver({ lost }: Leadership): Promise<void> {
    const over = AbortSignal.any([lost, this.#stopping.signal]);
    while (!over.aborted && !(this.#member.isDraining && this.#member.canHandOver)) await systemClock.sleepUntil(systemClock.now() + LOOK_MS, over);
  }

  async #endServing(serving: Serving, { lost }: Leadership): Promise<void> {
    const { log } = this.#parts;
    this.#isHandingOver = true;
    // The other nodes then hold requests for the next leader.
    if (!lost.aborted) await this.#member.tell();
    this.#listeners = undefined;
    this.#isHandingOver = false;
    log.info("this node no longer leads", { reason: lost.aborted ? messageOf(lost.reason) : this.#stopping.signal.aborted ? "it stops" : "it is draining" });
    const graceMs = lost.aborted ? 0 : STOP_GRACE_MS;
    try {
      await serving.end(graceMs, this.#untilAnswered(graceMs));
    } catch (error) {
      log.error("could not end all work of the leader", { reason: messageOf(error) });
    }
  }

  /** Streams end with the engine. */
  async #untilAnswered(graceMs: number): Promise<void> {
    const until = systemClock.now() + graceMs;
    while (this.#underWay.size > 0 && systemClock.now() < until) await systemClock.sleepUntil(systemClock.now() + 10, this.#left.signal);
    for (const response of this.#underWay) response.destroy();
  }

  async #followLeader(): Promise<void> {
    while (!this.#left.signal.aborted) {
      const leader = this.#member.leader;
      if (leader !== undefined && leader.id !== this.#knownLeader) {
        this.#knownLeader = leader.id;
        this.#api.keepOnly(leader.apiUrl);
        this.#endpoints.keepOnly(leader.endpointUrl);
      }
      await systemClock.sleepUntil(systemClock.now() + LOOK_MS, this.#left.signal);
    }
  }

  #forwarder({ urlOf, listenerOf, answersHere }: DoorParts): Forwarder {
    return new Forwarder({
      signer: this.#parts.keys,
      clock: systemClock,
      signal: this.#left.signal,
      leaderUrl: () => {
        const leader = this.#membership?.leader;
        return leader === undefined || (leader.id === this.id && this.#listeners === undefined) ? undefined : urlOf(leader);
      },
      look: async () => this.#membership?.look(),
      own: () => {
        const listeners = this.#listeners;
        return listeners === undefined ? undefined : (request, response) => this.#answer(listenerOf(listeners), { request, response });
      },
      answersHere,
    });
  }

  #answer(listener: RequestListener, { request, response }: { request: IncomingMessage; response: ServerResponse }): void {
    this.#underWay.add(response);
    response.once("close", () => this.#underWay.delete(response));
    listener(request, response);
  }

  /** Health checks, and commands that look for the server of a home while no node leads. */
  #answersHere({ url, headers }: IncomingMessage, response: ServerResponse): boolean {
    const hasLeader = this.#otherLeader() !== undefined && !this.#member.isBlind;
    if (url === "/healthz") response.writeHead(200, PLAIN).end("ok");
    else if (url === "/readyz" && hasLeader && !this.#stopping.signal.aborted) response.writeHead(200, PLAIN).end("ready");
    else if (url === "/readyz") response.writeHead(503, PLAIN).end("not ready");
    else if (url === "/v1/status" && !hasLeader && headers.authorization === `Bearer ${this.#parts.keys.apiKey}`)
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: this.#status() }));
    else return false;
    return true;
  }

  #status(): StatusRecord {
    const { doors, version, home, settings } = this.#parts;
    return {
      in_background: false,
      ...serverRecord(doors, version, this.id)(),
      home,
      secret_key: "environment",
      sources: 0,
      database: "PostgreSQL",
      sandbox: "belt",
      no_wall: "this node runs no components now",
      component_network: settings.componentNetwork,
    };
  }
}
