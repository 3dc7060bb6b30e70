import type pg from "pg";

/** Held by the session of the server that may use the database. */
export const LEADER_LOCK = "hashtextextended('headwater server ' || current_schema(), 0)";
/** Process ids are used again, so its start belongs to the name of a session. */
export const SESSION_NAME = "a.pid || ' ' || (extract(epoch from a.backend_start) * 1000000)::bigint";
export const HOLDER = `select a.pid, ${SESSION_NAME} as session from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and a.datname = current_database()
    and ((l.classid::bigint << 32) | l.objid::bigint) = ${LEADER_LOCK}`;

/** Of no revision, so that nodes of two versions can share them. */
const TABLES = `
create table if not exists leadership (
  only_one boolean primary key default true check (only_one),
  cluster text not null,
  epoch bigint not null,
  token text not null,
  node text not null,
  is_ready boolean not null,
  key_ids text not null
);
create table if not exists cluster_nodes (
  id text primary key,
  instance text not null,
  api_url text not null,
  endpoint_url text not null,
  version text not null,
  session text not null,
  is_draining boolean not null,
  problem text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
)`;

/** Servers that start at the same time wait for each other. */
export async function makeClusterTables(client: Pick<pg.ClientBase, "query">): Promise<void> {
  await client.query(`begin; select pg_advisory_xact_lock(hashtextextended('headwater cluster ' || current_schema(), 0)); ${TABLES}; commit`);
}
