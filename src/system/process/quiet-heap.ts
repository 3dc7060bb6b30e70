import { performance } from "node:perf_hooks";
import v8 from "node:v8";
import vm from "node:vm";

/** Taken before a component's process loses them. */
const { setFlagsFromString } = v8;
const { runInNewContext } = vm;

const LOOK_MS = 10_000;
/** First check of a server, whose start allocates much that it does not need later. */
export const AFTER_START_MS = 1500;
/** The thread may have been busy for this share. */
const QUIET = 0.05;
/** Less is not worth a collection. */
const WORTH_BYTES = 8 * 2 ** 20;

/** V8 collects only during allocations, so it would keep a load's memory. Takes tens of milliseconds, at most once for each 8 MB of growth. */
export function collectWhenQuiet({ lookMs = LOOK_MS, firstLookMs = lookMs }: { readonly lookMs?: number; readonly firstLookMs?: number } = {}): void {
  let collect: (() => void) | undefined;
  let [before, kept] = [performance.eventLoopUtilization(), 0];
  const look = (): void => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > QUIET || process.memoryUsage().heapTotal < kept + WORTH_BYTES) return;
    collect ??= collector();
    // The first call shrinks the space for new objects, the second returns it.
    collect();
    collect();
    kept = process.memoryUsage().heapTotal;
    before = performance.eventLoopUtilization();
  };
  if (firstLookMs < lookMs) setTimeout(look, firstLookMs).unref();
  setInterval(look, lookMs).unref();
}

/** V8's own: new contexts have it while a flag is set. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  return () => void (typeof gc === "function" && gc());
}
