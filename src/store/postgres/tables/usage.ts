import { KINDS, type Kind } from "../../../domain/health/usage.ts";
import type { Store } from "../../../ports/stores/store.ts";
import { KIND_OF } from "../../rows/table-kinds.ts";
import type { Database } from "../connection/sql.ts";

/** With indexes and long values. */
const BYTES = "select relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables where schemaname = current_schema()";
const COUNTED: Partial<Record<Kind, string>> = { events: "events", runs: "invocations", deliveries: "deliveries" };
const BACKLOG = `select (select count(*) from pending_requests) as requests, (select count(*) from deliveries where state = 'pending') as deliveries,
  (select count(*) from postponed_events) as postponed`;

export function usageReads(db: Pick<Database, "all" | "first">): Pick<Store, "backlog" | "usage"> {
  return {
    async backlog() {
      const { requests, deliveries, postponed } = (await db.first(BACKLOG)) ?? {};
      return { requests: Number(requests), deliveries: Number(deliveries), postponed: Number(postponed) };
    },
    async usage() {
      const bytes = new Map<Kind, number>();
      for (const { name, bytes: size } of await db.all(BYTES)) {
        const kind = KIND_OF[String(name)] ?? "other";
        bytes.set(kind, (bytes.get(kind) ?? 0) + Number(size));
      }
      return Promise.all(
        KINDS.map(async (kind) => {
          const table = COUNTED[kind];
          const count = table === undefined ? {} : { count: Number((await db.first(`select count(*) as count from ${table}`))?.["count"]) };
          return { kind, bytes: bytes.get(kind) ?? 0, ...count };
        }),
      );
    },
  };
}
