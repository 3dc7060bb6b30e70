import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { env, folder, load, median, pd, round, sleep, spread } from "../support.mjs";

const ROUNDS = 5;
const KILLS = 9;
const HANGS = 3;
const CODE = `export default { name: "Emits", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };`;

/** Two nodes: what forwarding costs, and how long a takeover takes, from the signal to the first answer at the other node. */
export default async function cluster() {
  const database = spawn(process.execPath, ["scripts/run.mjs", "test/bench/serve-postgres.ts"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const socket = String((await once(database.stdout.setEncoding("utf8"), "data"))[0]).trim();
  const url = `postgres://headwater@/postgres?host=${encodeURIComponent(socket)}`;
  const start = (name) => startNode({ ...env, PD_HOME: join(folder, name), PD_DATABASE_URL: url, PD_ADVERTISE: "127.0.0.1", PD_SECRET_KEY: "ab".repeat(32) });
  const nodes = [await start("node-1"), await start("node-2")];
  await untilRoles(nodes);
  const path = join(folder, "emits-cluster.mjs");
  writeFileSync(path, CODE);
  const deployed = await pdJson(nodes[0].env, "deploy", path);
  const { pathname } = new URL(deployed.endpoint_url);
  const rows = [];
  for (const connections of [50, 1]) rows.push(await forwarding(await untilRoles(nodes), { pathname, connections }));
  const kills = [];
  for (let n = 0; n < KILLS; n++) {
    const { leader, standby } = await untilRoles(nodes);
    kills.push(await takeover(standby, pathname, () => leader.program.kill("SIGKILL")));
    nodes[nodes.indexOf(leader)] = await start(`node-${leader.env.PD_HOME.at(-1)}`);
  }
  const hangs = [];
  for (let n = 0; n < HANGS; n++) {
    const { leader, standby } = await untilRoles(nodes);
    hangs.push(await takeover(standby, pathname, () => leader.program.kill("SIGSTOP")));
    leader.program.kill("SIGCONT");
  }
  rows.push(timed("takeover after SIGKILL of the leader", kills), timed("takeover after SIGSTOP of the leader", hangs));
  for (const { program } of nodes) program.kill("SIGKILL");
  database.stdin.end();
  await once(database, "exit");
  return rows;
}

async function startNode(own) {
  const program = spawn(process.execPath, [pd, "up", "--json"], { env: own, stdio: ["ignore", "pipe", "ignore"] });
  const told = JSON.parse(String((await once(program.stdout.setEncoding("utf8"), "data"))[0]));
  return { env: own, program, endpointUrl: told.endpoint_url, id: told.node };
}

async function pdJson(own, ...words) {
  const command = spawn(process.execPath, [pd, ...words, "--json"], { env: own, stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  command.stdout.setEncoding("utf8").on("data", (text) => (told += text));
  await once(command, "close");
  return JSON.parse(told);
}

/** Waits until one leads and the other stands by. */
async function untilRoles(nodes) {
  for (;;) {
    const listed = await pdJson(nodes[0].env, "cluster").catch(() => []);
    const withRole = (role) => nodes.find(({ id }) => Array.isArray(listed) && listed.some((one) => one.node === id && one.role === role));
    const [leader, standby] = [withRole("leading"), withRole("standby")];
    if (leader !== undefined && standby !== undefined) return { leader, standby };
    await sleep(200);
  }
}

async function forwarding({ leader, standby }, { pathname, connections }) {
  const all = [];
  for (let n = 0; n <= ROUNDS; n++) {
    const [here, there] = [await load(leader.endpointUrl + pathname, { connections }), await load(standby.endpointUrl + pathname, { connections })];
    // The first one warms up.
    if (n > 0) all.push({ here, there });
  }
  const told = (side) => `${Math.round(median(all.map((one) => one[side].rate)))}/s, p50 ${round(median(all.map((one) => one[side].p50)))} ms`;
  const ratios = all.map(({ here, there }) => there.rate / here.rate);
  const what = `a request through a standby beside one to the leader: ${connections === 1 ? "one connection" : `${connections} connections`}`;
  return { what, limit: told("here"), now: told("there"), ratio: round(median(ratios)), spread: spread(ratios) };
}

async function takeover({ endpointUrl }, pathname, strike) {
  const began = performance.now();
  strike();
  for (;;) {
    const answer = await fetch(endpointUrl + pathname, { method: "POST", body: "{}" }).catch(() => undefined);
    if (answer?.status === 200) return performance.now() - began;
    await sleep(5);
  }
}

function timed(what, times) {
  return {
    what: `${what}, to the first answer at the other node, ${times.length} times`,
    now: `p50 ${Math.round(median(times))} ms (${spread(times.map((ms) => Math.round(ms)))})`,
  };
}
