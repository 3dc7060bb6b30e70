import { type Backlog, KINDS, type Kind, type KindUsage } from "../../../domain/health/usage.ts";
import type { Database } from "../../../database/driver.ts";
import { KIND_OF } from "../../rows/table-kinds.ts";
import { row, rows } from "../../rows/rows.ts";

/** Includes indexes. */
const BYTES = `select coalesce(m.tbl_name, d.name) as name, sum(d.pgsize) as bytes
  from dbstat d left join sqlite_master m on m.name = d.name group by 1`;
const COUNTED = { events: "events", runs: "invocations", deliveries: "deliveries" } as const;

export function usageOf(db: Database): readonly KindUsage[] {
  const bytes = new Map<Kind, number>();
  for (const found of rows(db.prepare(BYTES).all())) {
    const kind = KIND_OF[String(found["name"])] ?? "other";
    bytes.set(kind, (bytes.get(kind) ?? 0) + Number(found["bytes"]));
  }
  bytes.set("free", Number(db.pragma("freelist_count")) * Number(db.pragma("page_size")));
  const count = (table: string): number => Number(row(db.prepare(`select count(*) as count from ${table}`).get())?.["count"]);
  return KINDS.map((kind) => ({ kind, bytes: bytes.get(kind) ?? 0, ...(isCounted(kind) ? { count: count(COUNTED[kind]) } : {}) }));
}

function isCounted(kind: Kind): kind is keyof typeof COUNTED {
  return kind in COUNTED;
}

const BACKLOG = `select (select count(*) from pending_requests) as requests, (select count(*) from deliveries where state = 'pending') as deliveries,
  (select count(*) from postponed_events) as postponed`;

export function backlogReads(db: Database): { backlog(): Promise<Backlog> } {
  const read = db.prepare(BACKLOG);
  return {
    async backlog() {
      const { requests, deliveries, postponed } = row(read.get()) ?? {};
      return { requests: Number(requests), deliveries: Number(deliveries), postponed: Number(postponed) };
    },
  };
}
