import { performance } from "node:perf_hooks";
import v8 from "node:v8";
import vm from "node:vm";

/** As they are before a component's process loses them. */
const { setFlagsFromString } = v8;
const { runInNewContext } = vm;

/** How often it is looked at. */
const LOOK_MS = 10_000;
/** A server looks for the first time after so long: its start allocates much that it does not need afterwards. */
export const AFTER_START_MS = 1500;
/** Share of that time in which the thread may have been busy. */
const QUIET = 0.05;
/** Less is not worth a collection. */
const WORTH_BYTES = 8 * 2 ** 20;

/**
 * Frees unused memory of this thread's heap once there is little to do. V8 collects only during allocations, so it would
 * keep that memory after a load. Takes tens of milliseconds, at most once for each 8 MB of growth.
 */
export function collectWhenQuiet({ lookMs = LOOK_MS, firstLookMs = lookMs }: { readonly lookMs?: number; readonly firstLookMs?: number } = {}): void {
  let collect: (() => void) | undefined;
  let [before, kept] = [performance.eventLoopUtilization(), 0];
  const look = (): void => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > QUIET || process.memoryUsage().heapTotal < kept + WORTH_BYTES) return;
    collect ??= collector();
    // The first one shrinks what new objects are made in, the second gives that back.
    collect();
    collect();
    kept = process.memoryUsage().heapTotal;
    before = performance.eventLoopUtilization();
  };
  if (firstLookMs < lookMs) setTimeout(look, firstLookMs).unref();
  setInterval(look, lookMs).unref();
}

/** V8's own, which new contexts have while a flag is set. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  return () => void (typeof gc === "function" && gc());
}
