import { setMaxListeners } from "node:events";
import { onTestFinished } from "vitest";
import type { Store } from "../../src/ports/stores/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { WriterSettings } from "../../src/store/sqlite/writing/writer-client.ts";
import { systemClock } from "../../src/system/clock.ts";
import { programFile } from "../../src/system/program-files.ts";

/** All stores of the process listen. */
const never = new AbortController();
setMaxListeners(0, never.signal);

export const STORE_DEFAULTS: Pick<
  WriterSettings,
  "maintenanceEntry" | "mustExist" | "clock" | "signal" | "onDamage" | "onUnchecked" | "onUnreadable" | "onRevision"
> = {
  maintenanceEntry: programFile("maintenance.cjs"),
  mustExist: false,
  clock: systemClock,
  signal: never.signal,
  onDamage: () => {},
  onUnchecked: () => {},
  onUnreadable: () => {},
  onRevision: () => {},
};

export async function openStoreAt(path: string): Promise<Store> {
  const store = await openSqliteStore({
    path,
    migrations: programFile("migrations"),
    entry: programFile("writer.cjs"),
    ...STORE_DEFAULTS,
    identity: { userId: "u_1", workspaceId: "o_1" },
  });
  onTestFinished(() => store.close());
  return store;
}
