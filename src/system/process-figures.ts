import { setTimeout as sleep } from "node:timers/promises";
import { Counter, Registry, collectDefaultMetrics } from "prom-client";

/** The delay of the event loop is looked at each 10 ms: before the first look there is no figure of it. */
const FIRST_LOOK_MS = 25;

const registry = new Registry();
const { user, system } = process.cpuUsage();
collectDefaultMetrics({ register: registry });
// The library counts from here on, and the process has worked before.
for (const [name, microseconds] of Object.entries({ user, system, "": user + system })) {
  const counter = registry.getSingleMetric(`process_cpu_${name === "" ? "" : `${name}_`}seconds_total`);
  if (counter instanceof Counter) counter.inc(microseconds / 1e6);
}
const looked = sleep(FIRST_LOOK_MS);

/** Memory, processor, event loop and garbage collection of this process, in the text format of Prometheus; the last two since the first call. */
export async function processFigures(): Promise<string> {
  await looked;
  return registry.metrics();
}
