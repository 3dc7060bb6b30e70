import { join } from "node:path";
import type { FiguresRecord, StatusRecord, UsageRecord } from "./api/server.ts";
import type { Engine } from "./engine/engine.ts";
import type { StoreFacts } from "./ports/store-facts.ts";
import type { Retention, Store } from "./ports/stores/store.ts";
import type { Enclosure } from "./sandbox/wall/enclosure.ts";
import type { ServerFacts } from "./server/api/server/facts.ts";
import { systemClock } from "./system/clock.ts";
import { diskSpace, folderBytes } from "./system/home/disk.ts";
import type { Metrics } from "./system/process/metrics.ts";
import type { ServerRecord } from "./system/home/server-record.ts";

export function startedNow(endpointUrl: string, version: string): Omit<ServerRecord, "api_url"> {
  return { pid: process.pid, in_background: process.env["PD_BACKGROUND"] === "1", endpoint_url: endpointUrl, started_at_ms: systemClock.now(), version };
}

interface Parts {
  readonly engine: Engine;
  readonly store: Pick<Store, "backlog" | "usage">;
  readonly metrics: Metrics;
  readonly storeFacts: StoreFacts;
  readonly record: () => ServerRecord;
  readonly home: string;
  readonly keyPlace: StatusRecord["secret_key"];
  readonly enclosure: Enclosure;
  readonly retention: Retention;
}

/** Keyed by the name that users see. */
const FOLDERS = { packages: "packages", registries: "registries", "downloads of npm": "npm-cache", backups: "backups" } as const;
const USAGE_AGE_MS = 60_000;
const DAY_MS = 86_400_000;

export function serverFacts(parts: Parts): ServerFacts {
  let known: { endsAt: number; readonly usage: Promise<UsageRecord> } | undefined;
  return {
    status: () => statusOf(parts),
    figures: () => figuresOf(parts),
    disk: () => diskSpace(parts.home),
    database: () => parts.storeFacts.findings(),
    usage() {
      const now = systemClock.now();
      if (known !== undefined && now < known.endsAt) return known.usage;
      // Callers share a measurement in progress.
      const found = { endsAt: Number.POSITIVE_INFINITY, usage: usageOf(parts, now) };
      known = found;
      found.usage.then(
        () => (found.endsAt = systemClock.now() + USAGE_AGE_MS),
        () => (found.endsAt = 0),
      );
      return found.usage;
    },
  };
}

function statusOf({ engine, storeFacts, record, home, keyPlace, enclosure: { kind, network, reason } }: Parts): StatusRecord {
  return {
    in_background: false,
    ...record(),
    home,
    secret_key: keyPlace,
    database: storeFacts.name,
    sources: engine.sources.list().length,
    processes: engine.processes.count,
    sandbox: kind,
    component_network: network,
    no_wall: reason,
    damage: storeFacts.damage(),
  };
}

async function figuresOf({ engine, store, storeFacts, metrics }: Parts): Promise<FiguresRecord> {
  const totals = metrics.totals();
  const [size, backlog] = await Promise.all([storeFacts.size(), store.backlog()]);
  const { running, waiting } = engine.sources.load;
  return {
    at_ms: systemClock.now(),
    ...totals,
    memory_bytes: process.memoryUsage.rss(),
    database_bytes: size,
    running_calls: running,
    waiting_calls: waiting + engine.processes.waiting,
    pending_requests: backlog.requests,
    pending_deliveries: backlog.deliveries,
    postponed_events: backlog.postponed,
  };
}

async function usageOf({ store, home, retention }: Parts, now: number): Promise<UsageRecord> {
  const sizes = Object.entries(FOLDERS).map(async ([name, folder]) => ({ name, bytes: await folderBytes(join(home, folder)) }));
  // Awaited together, so that a second failure is not an unhandled rejection.
  const [kinds, { freeBytes, totalBytes }, folders] = await Promise.all([store.usage(), diskSpace(home), Promise.all(sizes)]);
  return {
    at_ms: now,
    kinds: kinds.map((kind) => ({ ...kind })),
    folders,
    free_bytes: freeBytes,
    total_bytes: totalBytes,
    keeps: { events: retention.maxEvents, invocations: retention.maxInvocations, days: retention.maxAgeMs / DAY_MS },
  };
}
