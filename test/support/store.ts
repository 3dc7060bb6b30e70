import { setMaxListeners } from "node:events";
import type { WriterSettings } from "../../src/store/sqlite/writer-client.ts";
import { systemClock } from "../../src/system/clock.ts";
import { programFile } from "../../src/system/program-files.ts";

/** Every store of a test process listens to it. */
const never = new AbortController();
setMaxListeners(0, never.signal);

/** What a store of a test is opened with, beside its own file. */
export const STORE_DEFAULTS: Pick<WriterSettings, "maintenanceEntry" | "mustExist" | "clock" | "signal" | "onDamage" | "onRevision"> = {
  maintenanceEntry: programFile("maintenance.js"),
  mustExist: false,
  clock: systemClock,
  signal: never.signal,
  onDamage: () => {},
  onRevision: () => {},
};
