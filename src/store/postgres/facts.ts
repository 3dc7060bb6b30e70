import { postgresFindings } from "../../domain/health/postgres-checkup.ts";
import type { Clock } from "../../ports/clock.ts";
import type { StoreFacts } from "../../ports/store-facts.ts";
import type { Connections } from "./connection/sql.ts";

/** Earlier ones do not know all that the statements use. */
export const OLDEST_VERSION = 13;
const READY_WITHIN_MS = 2000;
const LOOK = `select current_setting('server_version') as version, current_setting('synchronous_commit') as synchronous_commit,
  current_setting('fsync') as fsync, current_setting('synchronous_standby_names') as synchronous_standbys,
  (select count(*) from pg_stat_replication) as standbys,
  (select coalesce(max(extract(epoch from now() - xact_start)) * 1000, 0)::double precision from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()) as oldest_transaction_ms`;

interface Parts {
  readonly db: Connections;
  readonly clock: Clock;
  readonly version: string;
  readonly damage: () => string | undefined;
}

export function postgresFacts({ db, clock, version, damage }: Parts): StoreFacts {
  return {
    name: `PostgreSQL ${version.split(" ", 1)[0]}`,
    size: async () => Number((await db.first("select pg_database_size(current_database()) as bytes"))?.["bytes"] ?? 0),
    damage,
    async isReady() {
      const stop = new AbortController();
      const late = clock.sleepUntil(clock.now() + READY_WITHIN_MS, stop.signal).then(() => false);
      const answered = db.first("select 1 as one").then(
        () => true,
        () => false,
      );
      const isReady = await Promise.race([late, answered]);
      stop.abort();
      return isReady && damage() === undefined;
    },
    async findings() {
      const began = performance.now();
      await db.first("select 1 as one");
      const latencyMs = performance.now() - began;
      const found = (await db.first(LOOK)) ?? {};
      return postgresFindings({
        version: String(found["version"]),
        latencyMs,
        synchronousCommit: String(found["synchronous_commit"]),
        fsync: String(found["fsync"]),
        synchronousStandbys: String(found["synchronous_standbys"]),
        standbys: Number(found["standbys"]),
        oldestTransactionMs: Number(found["oldest_transaction_ms"]),
      });
    },
  };
}
