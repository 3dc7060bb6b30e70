import { stop } from "esbuild";
import { IdleEnd } from "./idle-end.ts";

/** esbuild does its work in a process of its own; this one counts how often that had to be started again. */
let restarts = 0;
const MOST_TRIES = 3;

/** Has esbuild do something, and starts its process again when that has ended. Rejects as the work does for code that does not compile. */
export async function onService<Value>(work: () => Promise<Value>): Promise<Value> {
  const release = holdService();
  try {
    return await withRestarts(work);
  } finally {
    release();
  }
}

async function withRestarts<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    const before = restarts;
    try {
      return await withinTime(work());
    } catch (error) {
      if (error instanceof TooSlow) await startAgain(before);
      if (!isServiceGone(error) || tries === MOST_TRIES) throw error;
      await startAgain(before);
    }
  }
}

/** It takes up as much memory as the process of a component. */
const idle = new IdleEnd(() => void stop());

/** esbuild's process stays until what this returns is called: it forgets its contexts when it ends. */
export function holdService(): () => void {
  return idle.hold();
}

/** Code that takes so long to compile is made for that; the process that is at it is ended. */
const MOST_MS = 30_000;

class TooSlow extends Error {
  readonly errors = [{ text: `It takes longer than ${MOST_MS / 1000} s to compile`, location: null, notes: [] }];
}

async function withinTime<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TooSlow("the compiler takes too long")), MOST_MS).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
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
