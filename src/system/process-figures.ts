import { Registry, collectDefaultMetrics } from "prom-client";

const registry = new Registry();
collectDefaultMetrics({ register: registry });

/** Memory, processor, event loop and garbage collection of this process, in the text format of Prometheus; the last two since the first call. */
export function processFigures(): Promise<string> {
  return registry.metrics();
}
