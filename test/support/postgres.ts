import type pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Store } from "../../src/ports/stores/store.ts";
import { LEADER_LOCK } from "../../src/store/postgres/cluster/cluster-tables.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { systemClock } from "../../src/system/clock.ts";
import { programFile } from "../../src/system/program-files.ts";
import { PostgresServer } from "./postgres-server.ts";

/** One server for all tests of a file. */
export function postgresForTests(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === undefined) throw new Error("PostgreSQL has not started");
    return server;
  };
}

export async function openPostgresAt(config: pg.ClientConfig, signal: AbortSignal = new AbortController().signal): Promise<Store> {
  const store = await openPostgresStore({
    config,
    migrations: programFile("postgres-migrations"),
    identity: { userId: "u_1", workspaceId: "o_1" },
    clock: systemClock,
    signal,
    onUnreadable: () => {},
    onMigration: () => {},
  });
  onTestFinished(() => store.close());
  return store;
}

/** Ends the session of the server that has the lock, and gets it before that can open another one. */
export const TAKE_LOCK = `do $$ begin
  perform pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and a.datname = current_database();
  loop exit when pg_try_advisory_lock(${LEADER_LOCK}); end loop;
end $$`;

let databases = 0;
const withTemplate = new WeakSet<PostgresServer>();

/** A new database on the server, with all tables. */
export async function newDatabase(server: PostgresServer): Promise<pg.ClientConfig> {
  if (!withTemplate.has(server)) {
    withTemplate.add(server);
    await server.ask("create database template_of_tests");
    await (await openPostgresAt(server.config("template_of_tests"))).close();
  }
  const name = `test_${++databases}`;
  await server.ask(`create database ${name} template template_of_tests`);
  return server.config(name);
}
