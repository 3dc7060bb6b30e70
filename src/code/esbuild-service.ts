import { stop } from "esbuild";

/** esbuild does its work in a process of its own; this one counts how often that had to be started again. */
let restarts = 0;
const MOST_TRIES = 3;

/** Has esbuild do something, and starts its process again when that has ended. Rejects as the work does for code that does not compile. */
export async function onService<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    const before = restarts;
    try {
      return await work();
    } catch (error) {
      if (!isServiceGone(error) || tries === MOST_TRIES) throw error;
      await startAgain(before);
    }
  }
}

/** Of several builds that a process has taken with it one forgets that process. */
async function startAgain(before: number): Promise<void> {
  if (before !== restarts) return;
  restarts++;
  await stop();
}

/** What esbuild says of its process, which has no code. */
function isServiceGone(error: unknown): boolean {
  return error instanceof Error && /The service (was stopped|is no longer running)|write EPIPE/.test(error.message);
}
