import { basename, join } from "node:path";
import type { Engine } from "./engine/engine.ts";
import type { Cluster } from "./ports/cluster.ts";
import type { Log } from "./ports/log.ts";
import type { StoreFacts } from "./ports/store-facts.ts";
import type { Store } from "./ports/stores/store.ts";
import type { ServerFacts } from "./server/api/server/facts.ts";
import { LateApi } from "./server/late-api.ts";
import type { Resealing } from "./store/sealed-store.ts";
import { systemClock } from "./system/clock.ts";
import type { Metrics } from "./system/process/metrics.ts";
import type { OwnPorts } from "./system/http/own-ports.ts";
import { browserPids } from "./system/process/opener.ts";
import { programFile } from "./system/program-files.ts";
import type { ServerRecord } from "./system/home/server-record.ts";

interface ApiParts {
  readonly home: string;
  readonly log: Log;
  readonly apiKey: string;
  readonly version: string;
  readonly record: () => ServerRecord;
  readonly facts: ServerFacts;
  readonly cluster: Cluster;
  readonly metrics: Metrics;
  readonly store: Store & Resealing;
  readonly storeFacts: StoreFacts;
  /** Folder of database copies that are sent as backups. */
  readonly drafts: string;
  readonly isLoopback: boolean;
  readonly ownPorts: OwnPorts;
  readonly signal: AbortSignal;
}

export function lateApiOf(
  engine: Engine,
  { apiKey, version, record, facts, metrics, store, storeFacts, home, drafts, log, ownPorts, ...rest }: ApiParts,
): LateApi {
  const load = async () => {
    const { openApi } = await import("./server/api/api-routes.ts");
    return openApi(engine, {
      ...rest,
      apiKey,
      clock: systemClock,
      peers: {
        isOfComponent: (words) => words.includes(join(home, basename(programFile("child.cjs")))),
        serverPid: process.pid,
        browserPids,
      },
      keepPort: (port) => ownPorts.add(port),
      log,
      version,
      url: () => record().api_url,
      facts,
      metrics: () => metrics.text(),
      isReady: async () => !rest.signal.aborted && (await storeFacts.isReady()),
      pageFolder: programFile("ui"),
      backup: { copyTo: (target) => store.copyTo(target), drafts, clock: systemClock },
      rotateSecrets: () => store.rotateSecrets(),
    });
  };
  return new LateApi(load, log);
}
