/**
 * Breaks a server on purpose, then checks its promises. Exit code 1 for a broken one.
 * npm run torture -- [--minutes N] [--seed S] [--store postgres [--nodes N]] [--program <folder>] [--keep]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Stage, flowUpdates, passers, reader, requests, switches, updates, writers } from "./actors.ts";
import { hitChildren, hitServer } from "./chaos.ts";
import { check } from "./check.ts";
import { TorturedCluster, hitCluster } from "./cluster.ts";
import { TorturedDatabase, hitDatabase } from "./database.ts";
import { readFinal, untilRead } from "./final.ts";
import { newHistory } from "./history.ts";
import { Random } from "./random.ts";
import { type Tortured, TorturedServer } from "./server.ts";
import { makeWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1.5" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    program: { type: "string", default: "." },
    store: { type: "string", default: "sqlite" },
    nodes: { type: "string", default: "1" },
    sandbox: { type: "string", default: "auto" },
    keep: { type: "boolean", default: false },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
/** What is under way at the end has to come to rest, and to be read, within this time. */
const [REST_FACTOR, REST_MINUTES] = [2, 4];
/** The checker needs all events and invocations. */
const FLAGS = ["--keep-events", "10000000", "--keep-invocations", "10000000", "--timeout", "20", "--sandbox", values.sandbox];

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const home = mkdtempSync(join(tmpdir(), "headwater-torture-"));
const random = new Random(seed);
const history = newHistory();
const database = values.store === "postgres" || Number(values.nodes) > 1 ? await TorturedDatabase.start() : undefined;
const cluster =
  database !== undefined && Number(values.nodes) > 1
    ? await TorturedCluster.start({ program: resolve(values.program), home, flags: FLAGS, database, count: Number(values.nodes) })
    : undefined;
const servers = cluster?.nodes ?? [await TorturedServer.start(resolve(values.program), { home, flags: [...FLAGS, ...(database?.flags ?? [])] })];
const [only] = servers;
if (only === undefined) throw new Error("no server was started");
const server: Tortured = cluster ?? only;
const stop = async (): Promise<void> => {
  for (const one of servers) await one.stop();
  await database?.[Symbol.asyncDispose]();
};
async function giveUp(): Promise<void> {
  say("BROKEN: the server comes to its end: runs, deliveries or streams were not at rest in time");
  await Promise.race([stop(), new Promise((resolve) => setTimeout(resolve, 30_000))]);
  say(`kept: ${home}`);
  process.exit(1);
}
const world = await makeWorld(server, history, random).catch(async (error: unknown) => {
  await stop();
  throw error;
});
const [over, read] = [new AbortController(), new AbortController()];
const stage: Stage = { server, world, history, random, signal: over.signal };

const wait = (given: Random): object => ({ wait: given.chance(0.3) ? given.between(1, 40) : 0 });
const ids = (given: Random): object => ({ ids: [given.between(0, 49), given.between(0, 49), given.between(0, 49)] });
const readers = ["counter", "plain"].map((source) => reader(stage, source, read.signal));
const acting = [
  ...[0, 1, 2, 3].map((client) => requests(stage, { source: "counter", client, bodyOf: wait })),
  ...[0, 1].map((client) => requests(stage, { source: "plain", client, bodyOf: () => ({}) })),
  ...[0, 1].map((client) => requests(stage, { source: "slow", client, bodyOf: () => ({}) })),
  requests(stage, { source: "large", client: 0, bodyOf: () => ({}), pauseMs: [1000, 4000] }),
  requests(stage, { source: "deduped", client: 0, bodyOf: ids }),
  ...[0, 1].map((client) => requests(stage, { source: "flow", client, bodyOf: () => ({}) })),
  updates(stage),
  flowUpdates(stage),
  switches(stage),
  passers(stage),
  writers(stage),
  hitServer(stage, servers),
  hitChildren(stage),
  ...(database === undefined ? [] : [hitDatabase(stage, database)]),
  ...(database === undefined || cluster === undefined ? [] : [hitCluster(stage, cluster, database)]),
];
say(`torture: ${minutes} min, seed ${seed}, ${database === undefined ? "sqlite" : "postgres"}, nodes: ${servers.length}`);
setTimeout(() => over.abort(), minutes * 60_000);
setTimeout(() => void giveUp(), (minutes * (REST_FACTOR + 1) + REST_MINUTES) * 60_000).unref();
await Promise.all(acting);
for (const one of servers) await one.untilReady();
const final = await readFinal(server, world);
await untilRead(history, final);
read.abort();
await Promise.all(readers);
await stop();
for (const receiver of world.receivers) receiver.closeAllConnections();
for (const receiver of world.receivers) receiver.close();

const violations = [
  ...check(history, final),
  ...servers.flatMap(({ ownEnds }) => ownEnds).map((text) => ({ rule: "the server ends only when it is told to", text })),
];
const acknowledged = history.requests.filter(({ status }) => status !== undefined && status < 300).length;
const events = Object.values(final.events).reduce((sum, list) => sum + list.length, 0);
const deliveries = Object.values(final.deliveries).reduce((sum, states) => sum + Object.keys(states).length, 0);
const blows: Record<string, number> = {};
for (const { kind } of history.blows) blows[kind] = (blows[kind] ?? 0) + 1;
say(
  JSON.stringify({
    seed,
    minutes,
    starts: servers.reduce((sum, { starts }) => sum + starts, 0),
    requests: history.requests.length,
    acknowledged,
    events,
    deliveries,
    changes: history.changes.length,
    blows,
  }),
);
for (const { rule, text } of violations) say(`BROKEN: ${rule}: ${text}`);
say(violations.length === 0 ? "torture: every promise held" : `torture: ${violations.length} promises broken`);
if (values.keep || violations.length > 0) {
  writeFileSync(join(home, "history.json"), JSON.stringify({ history, final, violations }));
  say(`kept: ${home}`);
} else rmSync(home, { recursive: true, force: true });
process.exit(violations.length === 0 ? 0 : 1);
