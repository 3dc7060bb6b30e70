import { type BuildContext, stop } from "esbuild";
import { IdleEnd } from "./idle-end.ts";

/** esbuild does its work in a process of its own; this is aborted, and another put in its place, when that is ended from here. */
let life = new AbortController();
const MOST_DEATHS = 3;

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
  const endsAt = performance.now() + MOST_MS;
  for (let deaths = 0; ;) {
    const before = life;
    try {
      return await withinTime(work(), endsAt - performance.now());
    } catch (error) {
      if (error instanceof TooSlow) await startAgain(before);
      if (!isServiceGone(error)) throw error;
      // One that others have ended is nobody's death here.
      if (before === life && ++deaths === MOST_DEATHS) throw error;
      await startAgain(before);
    }
  }
}

/** Aborted when the process that esbuild works in by now is ended from here: contexts that were made before are gone then. */
export function serviceLife(): AbortSignal {
  return life.signal;
}

/** It takes up as much memory as the process of a component. */
const idle = new IdleEnd(() => void stop());

/** esbuild's process stays until what this returns is called: it forgets its contexts when it ends. */
export function holdService(): () => void {
  return idle.hold();
}

/** Code that takes so long to compile is made for that; the process that is at it is ended. */
const MOST_MS = 30_000;
const LET_GO_MS = 1000;

class TooSlow extends Error {
  readonly errors = [{ text: `It takes longer than ${MOST_MS / 1000} s to compile`, location: null, notes: [] }];
}

/** Also rejects, as esbuild does, when the process is ended: of what it was at then nobody would hear again. */
async function withinTime<Value>(work: Promise<Value>, mostMs: number): Promise<Value> {
  const { signal } = life;
  const over = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(new TooSlow("the compiler takes too long")), mostMs).unref();
    over.signal.addEventListener("abort", () => clearTimeout(timer));
    signal.addEventListener("abort", () => reject(new Error("The service was stopped")), { signal: over.signal });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

/** A compiler that stands before a pipe where a folder ought to be says nothing until somebody writes into that: its process is ended. */
export async function letGoOf(building: BuildContext): Promise<void> {
  const before = life;
  try {
    await withinTime(building.dispose(), LET_GO_MS);
  } catch (error) {
    if (error instanceof TooSlow) await startAgain(before);
    else if (!isServiceGone(error)) throw error;
  }
}

/** Of several builds that a process has taken with it one forgets that process. */
async function startAgain(before: AbortController): Promise<void> {
  if (before !== life) return;
  life = new AbortController();
  await stop();
  before.abort();
}

/** What esbuild says of its process, which has no code. */
function isServiceGone(error: unknown): boolean {
  return error instanceof Error && /The service (was stopped|is no longer running)|write EPIPE/.test(error.message);
}
