import { type BuildContext, stop } from "esbuild";
import { IdleEnd } from "./idle-end.ts";

/** Aborted and replaced when esbuild's process is stopped. */
let life = new AbortController();
const MOST_DEATHS = 3;

/** Retries when esbuild's process ends. Rejects when the code does not compile, or takes longer than MOST_MS. */
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
      // Does not count an end that another call caused.
      if (before === life && ++deaths === MOST_DEATHS) throw error;
      await startAgain(before);
    }
  }
}

/** Stopping esbuild's process aborts this and ends its contexts. */
export function serviceLife(): AbortSignal {
  return life.signal;
}

/** The process needs as much memory as a component's. */
const idle = new IdleEnd(() => void stop());

/** Keeps esbuild's process and contexts until the returned function is called. */
export function holdService(): () => void {
  return idle.hold();
}

/** Only malicious code takes this long. */
const MOST_MS = 30_000;
const LET_GO_MS = 1000;

class TooSlow extends Error {
  readonly errors = [{ text: `Compiling takes longer than ${MOST_MS / 1000} s`, location: null, notes: [] }];
}

/** Also rejects when the process is stopped: esbuild then never answers. */
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

/** A compiler that blocks on a pipe in a folder's place never answers, so its process is stopped. */
export async function letGoOf(building: BuildContext): Promise<void> {
  const before = life;
  try {
    await withinTime(building.dispose(), LET_GO_MS);
  } catch (error) {
    if (error instanceof TooSlow) await startAgain(before);
    else if (!isServiceGone(error)) throw error;
  }
}

/** Only one of several failed builds stops the process. */
async function startAgain(before: AbortController): Promise<void> {
  if (before !== life) return;
  life = new AbortController();
  await stop();
  before.abort();
}

function isServiceGone(error: unknown): boolean {
  return error instanceof Error && /The service (was stopped|is no longer running)|write EPIPE/.test(error.message);
}
