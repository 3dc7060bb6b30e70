import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Stage, now } from "./actors.ts";
import { call, listOf } from "./api.ts";
import { pause } from "./chaos.ts";
import type { TorturedDatabase } from "./database.ts";
import { type Tortured, TorturedServer } from "./server.ts";

interface ClusterSettings {
  readonly program: string;
  readonly home: string;
  readonly flags: readonly string[];
  readonly database: TorturedDatabase;
  readonly count: number;
}

const VARIABLES = { PD_ADVERTISE: "127.0.0.1", PD_SECRET_KEY: "ab".repeat(32) };

/** Nodes on one database, each behind a proxy of its own. Clients ask them in turn. */
export class TorturedCluster implements Tortured {
  readonly nodes: readonly TorturedServer[];
  #asked = 0;

  static async start({ program, home, flags, database, count }: ClusterSettings): Promise<TorturedCluster> {
    const nodes: TorturedServer[] = [];
    for (let place = 0; place < count; place++) {
      const own = join(home, `node-${place}`);
      mkdirSync(own);
      nodes.push(await TorturedServer.start(program, { home: own, flags: [...flags, ...(await database.flagsOf(place))], variables: VARIABLES }));
    }
    return new TorturedCluster(nodes);
  }

  private constructor(nodes: readonly TorturedServer[]) {
    this.nodes = nodes;
  }

  get apiUrl(): string {
    return this.#next()?.apiUrl ?? "";
  }

  get endpointUrl(): string {
    return this.#next()?.endpointUrl ?? "";
  }

  get key(): string {
    return this.nodes[0]?.key ?? "";
  }

  children(): readonly { pid: number; command: string }[] {
    return this.nodes.flatMap((node) => node.children());
  }

  #next(): TorturedServer | undefined {
    return this.nodes[this.#asked++ % this.nodes.length];
  }
}

/** A leader that hangs for longer than its lease, a node that is cut off from the database, a leader that is drained. */
export async function hitCluster(stage: Stage, { nodes }: TorturedCluster, database: TorturedDatabase): Promise<void> {
  const random = stage.random.fork();
  while (!stage.signal.aborted) {
    await sleep(random.between(4000, 12_000));
    const place = random.between(0, nodes.length - 1);
    const node = nodes[place];
    if (stage.signal.aborted || node === undefined) return;
    const kind = random.pick(["hang", "cut off", "drain", "drain"] as const) ?? "drain";
    stage.history.blows.push({ at: now(), kind: `node ${kind}` });
    if (kind === "hang") await pause(node.pid, random.between(3000, 20_000));
    else if (kind === "cut off") await database.cutOff(place, random.between(1000, 12_000));
    else await drainLeader(stage);
  }
}

async function drainLeader({ server }: Stage): Promise<void> {
  const found = await call(server, "GET /v1/cluster/nodes");
  const leader = found.kind === "answered" ? listOf(found.body["data"]).find(({ role }) => role === "leading") : undefined;
  if (leader === undefined) return;
  const what = `PUT /v1/cluster/nodes/${encodeURIComponent(String(leader["node"]))}`;
  await call(server, what, { draining: true });
  await sleep(1500);
  for (let tries = 0; tries < 20; tries++) {
    const ended = await call(server, what, { draining: false });
    if (ended.kind === "answered" && ended.status < 500) return;
    await sleep(300);
  }
}
