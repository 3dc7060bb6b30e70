import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { componentPath } from "../support/components.ts";
import { eventually } from "../support/eventually.ts";
import { PdHome, type Server, killHard } from "../support/pd.ts";
import { TAKE_LOCK, newDatabase, postgresForTests } from "../support/postgres.ts";

const server = postgresForTests();
const SECRET_KEY = "ab".repeat(32);

async function databaseUrl(): Promise<string> {
  const { database } = await newDatabase(server());
  return `postgres://headwater@/${database}?host=${encodeURIComponent(server().folder)}`;
}

function databaseOf(url: string): string {
  return /@\/(\w+)/.exec(url)?.[1] ?? "";
}

interface RunningNode {
  readonly home: PdHome;
  readonly running: Server;
  readonly id: string;
}

function homeOf(url: string, more: Readonly<Record<string, string>> = {}): Promise<PdHome> {
  return PdHome.make({ PD_DATABASE_URL: url, PD_SECRET_KEY: SECRET_KEY, PD_ADVERTISE: "127.0.0.1", PD_PUBLIC_URL: "http://balancer.test", ...more });
}

async function nodeOn(url: string, more: Readonly<Record<string, string>> = {}): Promise<RunningNode> {
  const home = await homeOf(url, more);
  const running = await home.up();
  return { home, running, id: new URL(running.apiUrl).host };
}

/** The first one leads. */
async function cluster(count: number): Promise<{ url: string; nodes: readonly RunningNode[] }> {
  const url = await databaseUrl();
  const nodes: RunningNode[] = [];
  for (let n = 0; n < count; n++) {
    const node = await nodeOn(url);
    nodes.push(node);
    await eventually(async () => Object.keys(await roles(node)).length === nodes.length);
  }
  return { url, nodes };
}

async function roles({ running }: RunningNode): Promise<Record<string, string>> {
  const { data } = await running.api.get("/v1/cluster/nodes").catch(() => ({ data: [] }));
  const listed = Array.isArray(data) ? data : [];
  return Object.fromEntries(listed.map((node) => Object(node)).map(({ node, role }) => [String(node), String(role)]));
}

/** By what another node says. */
function untilLeads(node: RunningNode, asked: RunningNode): Promise<unknown> {
  return eventually(async () => (await roles(asked))[node.id] === "leading");
}

async function deployAt({ home }: RunningNode): Promise<string> {
  const source = await home.json("deploy", componentPath("http-plain.mjs"));
  return new URL(String(source["endpoint_url"])).pathname;
}

function send({ running }: RunningNode, path: string, id: number): Promise<Response | undefined> {
  const call = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) };
  return fetch(running.endpointUrl + path, call).catch(() => undefined);
}

async function storedIds({ home }: RunningNode): Promise<number[]> {
  const events: unknown = await home.json("events", "http-plain", "-n", "1000");
  return Array.isArray(events) ? events.map(({ event }) => Number(event.id)).toSorted((a, b) => a - b) : [];
}

let clients = 0;

/** Clients that send to all nodes until they are stopped. */
class Load {
  readonly acknowledged: number[] = [];
  readonly refused: (number | undefined)[] = [];
  readonly #clients: readonly Promise<void>[];
  #isOver = false;

  constructor(nodes: readonly RunningNode[], path: string) {
    onTestFinished(() => this.stop());
    this.#clients = nodes.map(async (node) => {
      const first = ++clients * 100_000;
      for (let id = first; !this.#isOver; id++) {
        const status = (await send(node, path, id))?.status;
        if (status === 200) this.acknowledged.push(id);
        else {
          this.refused.push(status);
          await sleep(5);
        }
      }
    });
  }

  async untilMore(): Promise<void> {
    const count = this.acknowledged.length;
    await eventually(async () => this.acknowledged.length >= count + 30);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
  }
}

describe("a cluster", () => {
  it("serves requests, commands, logs and its page at any node, with one key", async () => {
    const { nodes } = await cluster(2);
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error("two nodes were started");
    await eventually(async () => (await roles(second))[second.id] === "standby");
    expect((await roles(second))[first.id]).toBe("leading");
    expect(second.running.apiKey).toBe(first.running.apiKey);
    const path = await deployAt(second);
    expect((await send(second, path, 1))?.status).toBe(200);
    expect((await send(first, path, 2))?.status).toBe(200);
    expect([await storedIds(first), await storedIds(second)]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(await (await fetch(`${second.running.apiUrl}/readyz`)).text()).toBe("ready");
    expect(await (await fetch(second.running.apiUrl)).text()).toContain("<title>");
    const { stdout } = await second.home.pd("cluster");
    expect(stdout).toMatch(new RegExp(`${first.id} +leading.*\\n${second.id} +standby|${second.id} +standby.*\\n${first.id} +leading`));
    const stream = await fetch(`${second.running.apiUrl}/sources/http-plain/sse`, { headers: { authorization: `Bearer ${second.running.apiKey}` } });
    const reader = stream.body?.getReader();
    await send(second, path, 3);
    let read = "";
    while (!read.includes('"id":3')) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      read += new TextDecoder().decode(value);
    }
    expect(read).toContain('"id":3');
    await reader?.cancel();
  });

  it("loses nothing that it acknowledged when its leader is killed under load, and the next one serves its sources", async () => {
    const { url, nodes } = await cluster(3);
    const [first, second, third] = nodes;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three nodes were started");
    const path = await deployAt(first);
    const load = new Load([second, third], path);
    await load.untilMore();
    await killHard(first.running.child);
    await load.untilMore();
    // Long before it has been silent for 5 s.
    expect((await roles(second))[first.id]).not.toBe("standby");
    const leader = Object.entries(await roles(second)).find(([, role]) => role === "leading")?.[0];
    const [next, last] = leader === second.id ? [second, third] : [third, second];
    expect(leader).toBe(next.id);
    const again = await nodeOn(url);
    await killHard(next.running.child);
    const lastLoad = new Load([last, again], path);
    await lastLoad.untilMore();
    await Promise.all([load.stop(), lastLoad.stop()]);
    const ids = await storedIds(again);
    expect(load.acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("fails no request while its leader is drained or stopped, and drains no leader that nobody could replace", async () => {
    const { nodes } = await cluster(2);
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error("two nodes were started");
    const path = await deployAt(first);
    const load = new Load(nodes, path);
    await load.untilMore();
    const drained = await second.home.pd("cluster", "drain", first.id);
    expect([drained.code, drained.stderr]).toEqual([0, expect.stringContaining(`${second.id} leads`)]);
    expect(await roles(second)).toEqual({ [first.id]: "draining", [second.id]: "leading" });
    await load.untilMore();
    const refused = await second.home.pd("cluster", "drain", second.id);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("PD_CONFLICT")]);
    expect((await second.home.pd("cluster", "drain", "10.0.0.1:1")).stderr).toContain("PD_NOT_FOUND");
    await first.home.pd("cluster", "drain", first.id, "--undo");
    await eventually(async () => (await roles(first))[first.id] === "standby");
    await load.stop();
    expect(load.refused).toEqual([]);

    const one = new Load([first], path);
    await one.untilMore();
    expect((await second.home.pd("down")).code).toBe(0);
    await one.untilMore();
    await one.stop();
    expect(one.refused).toEqual([]);
    expect(await roles(first)).toEqual({ [first.id]: "leading" });
  });

  it("goes on without a leader that hangs, which writes nothing when it wakes up", async () => {
    const { nodes } = await cluster(2);
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error("two nodes were started");
    const path = await deployAt(first);
    const load = new Load([first, second], path);
    await load.untilMore();
    first.running.child.kill("SIGSTOP");
    onTestFinished(() => void first.running.child.kill("SIGCONT"));
    await untilLeads(second, second);
    await load.untilMore();
    first.running.child.kill("SIGCONT");
    await eventually(async () => (await roles(first))[first.id] === "standby");
    await load.untilMore();
    await load.stop();
    const ids = await storedIds(second);
    expect(load.acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(first.running.stderr()).toContain("this node no longer leads");
  });

  it("is led by a drained node rather than by none", async () => {
    const { nodes } = await cluster(2);
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error("two nodes were started");
    await first.running.api.put(`/v1/cluster/nodes/${second.id}`, { draining: true });
    await killHard(first.running.child);
    await eventually(async () => second.running.stderr().includes("this node leads"));
    expect((await roles(second))[second.id]).toBe("draining");
  });

  it("takes the lock back from a session that belongs to no living node", async () => {
    const { url, nodes } = await cluster(1);
    const [first] = nodes;
    if (first === undefined) throw new Error("a node was started");
    const stranger = new pg.Client(server().config(databaseOf(url)));
    stranger.on("error", () => {});
    await stranger.connect();
    const isEnded = new Promise((resolve) => stranger.once("end", resolve));
    await stranger.query(TAKE_LOCK);
    await isEnded;
    await untilLeads(first, first);
  });

  it("waits for PostgreSQL when that crashes, and one of its nodes leads afterwards", async () => {
    const { nodes } = await cluster(2);
    const [first] = nodes;
    if (first === undefined) throw new Error("two nodes were started");
    const path = await deployAt(first);
    const load = new Load(nodes, path);
    await load.untilMore();
    await server().stop("SIGQUIT");
    const [, second] = nodes;
    await eventually(async () => first.running.stderr().includes("no longer leads") || second?.running.stderr().includes("no longer leads"));
    const told = await first.home.pd("status");
    expect([told.code, told.stdout]).toEqual([0, expect.stringMatching(/^Node: +127/m)]);
    await server().run();
    await load.untilMore();
    await load.stop();
    const ids = await storedIds(first);
    expect(load.acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it("takes no node without its secret key or on SQLite, and one that gives its own address away leaves", async () => {
    const url = await databaseUrl();
    const first = await nodeOn(url, { PD_PORT: "0" });
    await eventually(async () => (await roles(first))[first.id] === "leading");
    const refusals: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ PD_SECRET_KEY: "cd".repeat(32) }, "PD_SECRET_KEY_WRONG"],
      [{ PD_SECRET_KEY: "" }, "PD_SECRET_KEY_WRONG"],
      [{ PD_DATABASE_URL: "" }, "PD_BAD_INPUT"],
      [{ PD_ADVERTISE: "127.0.0.1:80" }, "PD_BAD_INPUT"],
      [{ PD_ADVERTISE: "" }, "PD_DATABASE_IN_USE"],
    ];
    const tried = refusals.map(async ([more, code]) => {
      const { code: exit, stderr } = await (await homeOf(url, more)).pd("up");
      expect([exit === 0, stderr]).toEqual([false, expect.stringContaining(code)]);
    });
    await Promise.all(tried);
    await server().ask(`update cluster_nodes set instance = 'another' where id = '${first.id}'`, databaseOf(url));
    await eventually(async () => first.running.child.exitCode !== null);
    expect([first.running.child.exitCode, first.running.stderr()]).toEqual([1, expect.stringContaining("another node has the address")]);
  });

  it("has a leader only of a version that knows the schema", async () => {
    const { url, nodes } = await cluster(1);
    const [first] = nodes;
    if (first === undefined) throw new Error("a node was started");
    const path = await deployAt(first);
    await server().ask("insert into schema_revision (revision) values (99)", databaseOf(url));
    const older = await nodeOn(url);
    expect((await send(older, path, 1))?.status).toBe(200);
    await killHard(first.running.child);
    await eventually(async () => older.running.stderr().includes("99"));
    expect(older.running.child.exitCode).toBe(null);
    await server().ask("delete from schema_revision where revision = 99", databaseOf(url));
    await untilLeads(older, older);
    expect((await send(older, path, 2))?.status).toBe(200);
  });
});
