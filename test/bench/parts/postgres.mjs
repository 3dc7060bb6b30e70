import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { env, folder, load, median, pd, round, spread, startLimit } from "../support.mjs";

const ROUNDS = 5;
const CODE = `export default { name: "Emits", version: "1", dedupe: "unique", props: { http: "$.interface.http" },
  run(event) { globalThis.n = (globalThis.n ?? 0) + 1; this.$emit(event.body, { id: globalThis.n }); } };`;

/** The same source on PostgreSQL, on SQLite, and without this program, one after the other in each round. */
export default async function postgres() {
  const database = spawn(process.execPath, ["scripts/run.mjs", "test/bench/serve-postgres.ts"], { env, stdio: ["pipe", "pipe", "inherit"] });
  const socket = String((await once(database.stdout.setEncoding("utf8"), "data"))[0]).trim();
  const url = `postgres://headwater@/postgres?host=${encodeURIComponent(socket)}`;
  const path = join(folder, "emits-stores.mjs");
  writeFileSync(path, CODE);
  const [onPostgres, onSqlite] = [await server("home-postgres", path, { PD_DATABASE_URL: url }), await server("home-sqlite", path)];
  const limit = await startLimit("endpoint-postgres.mjs", socket);
  const sides = { limit, postgres: onPostgres, sqlite: onSqlite };
  const rows = [];
  for (const connections of [50, 1]) {
    for (const side of Object.values(sides)) await load(side.url, { connections });
    const all = [];
    for (let n = 0; n < ROUNDS; n++) {
      const round = {};
      for (const [name, side] of Object.entries(sides)) round[name] = await load(side.url, { connections });
      all.push(round);
    }
    rows.push(...compared(connections, all));
  }
  limit.stop();
  for (const one of [onPostgres, onSqlite]) await one.stop();
  database.stdin.end();
  await once(database, "exit");
  return rows;
}

async function server(home, path, more = {}) {
  const own = { ...env, PD_HOME: join(folder, home), ...more };
  const program = spawn(process.execPath, [pd, "up", "--json"], { env: own, stdio: ["ignore", "pipe", "inherit"] });
  await once(program.stdout.setEncoding("utf8"), "data");
  const deploy = spawn(process.execPath, [pd, "deploy", path, "--json"], { env: own, stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  deploy.stdout.setEncoding("utf8").on("data", (text) => (told += text));
  await once(deploy, "close");
  const stop = async () => {
    program.kill("SIGTERM");
    await once(program, "exit");
  };
  return { url: JSON.parse(told).endpoint_url, stop };
}

function compared(connections, all) {
  const told = (side) => {
    const of = (pick) => median(all.map((one) => pick(one[side])));
    return `${Math.round(of(({ rate }) => rate))}/s, p50 ${round(of(({ p50 }) => p50))} ms, p99 ${round(
      of(({ p99 }) => p99),
      1,
    )} ms`;
  };
  const what = `${connections === 1 ? "one connection" : `${connections} connections`}, run and event on disk before the answer`;
  return ["limit", "sqlite"].map((other) => {
    const ratios = all.map((one) => one.postgres.rate / one[other].rate);
    const name = other === "limit" ? "beside PostgreSQL without this program" : "beside SQLite";
    return { what: `PostgreSQL ${name}: ${what}`, limit: told(other), now: told("postgres"), ratio: round(median(ratios)), spread: spread(ratios) };
  });
}
