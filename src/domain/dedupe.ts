import { type Emit, parseTs } from "./event.ts";

export type DedupeStrategy = "unique" | "greatest" | "last";

/** What a source remembers of the ids it emitted; each strategy has its own part, and each named channel. */
export interface DedupeCache extends ChannelCache {
  /** Of channels other than the default one, the one that was emitted to last at the end; at most 100. */
  readonly channels?: Readonly<Record<string, ChannelCache>>;
}

export interface ChannelCache {
  /** Oldest first, at most 100. */
  readonly unique?: readonly string[];
  readonly greatest?: string;
  readonly last?: string;
}

export interface DroppedEmit {
  readonly emit: Emit;
  readonly reason: string;
}

export interface DedupeResult {
  readonly kept: readonly Emit[];
  readonly dropped: readonly DroppedEmit[];
  /** Emits that the strategy could not judge; they are kept and the run's log says so. */
  readonly warnings: readonly string[];
  readonly cache: DedupeCache;
}

const NO_EMIT: Emit = { payload: "" };
/** Size of the `unique` cache (components.md, Limits). */
const UNIQUE_IDS = 100;

const MOST_CHANNELS = 100;

/**
 * Decides which emits of one run become events. `emits` are already in order (`orderEmits`). Each channel is a stream of
 * its own: a source that emits to itself first, and then what it got to everyone, uses one id for both (registry.md §2).
 */
export function dedupe(strategy: DedupeStrategy | undefined, cache: DedupeCache, emits: readonly Emit[]): DedupeResult {
  if (strategy === undefined || emits.length === 0) return { kept: emits, dropped: [], warnings: [], cache };
  const names = new Set(emits.map(({ name = "" }) => name));
  if (names.size === 1 && names.has("")) return dedupeChannel(strategy, cache, emits);
  const results = [...names].map((channel) => {
    const before = channel === "" ? cache : (cache.channels?.[channel] ?? {});
    return {
      channel,
      ...dedupeChannel(
        strategy,
        before,
        emits.filter(({ name = "" }) => name === channel),
      ),
    };
  });
  const kept = new Set(results.flatMap((result) => result.kept));
  return {
    kept: emits.filter((emit) => kept.has(emit)),
    dropped: results.flatMap(({ dropped }) => dropped),
    warnings: results.flatMap(({ warnings }) => warnings),
    cache: { ...(results.find(({ channel }) => channel === "")?.cache ?? cache), channels: channelsAfter(cache, results) },
  };
}

function channelsAfter({ channels = {} }: DedupeCache, results: readonly { channel: string; cache: ChannelCache }[]): Record<string, ChannelCache> {
  const touched = results.filter(({ channel }) => channel !== "");
  const untouched = Object.entries(channels).filter(([name]) => !touched.some(({ channel }) => channel === name));
  return Object.fromEntries([...untouched, ...touched.map(({ channel, cache }) => [channel, cache] as const)].slice(-MOST_CHANNELS));
}

function dedupeChannel(strategy: DedupeStrategy, cache: ChannelCache, emits: readonly Emit[]): DedupeResult {
  switch (strategy) {
    case "unique":
      return unique(cache, emits);
    case "greatest":
      return greatest(cache, emits);
    case "last":
      return last(cache, emits);
  }
}

function unique(cache: ChannelCache, emits: readonly Emit[]): DedupeResult {
  const ids = [...(cache.unique ?? [])];
  const judged = judgeEach(emits, "unique", (id) => {
    if (ids.includes(id)) return `unique: id ${JSON.stringify(id)} was emitted before`;
    ids.push(id);
    if (ids.length > UNIQUE_IDS) ids.shift();
    return undefined;
  });
  return { ...judged, cache: { ...cache, unique: ids } };
}

function greatest(cache: ChannelCache, emits: readonly Emit[]): DedupeResult {
  let largest = cache.greatest;
  const judged = judgeEach(emits, "greatest", (id) => {
    if (largest !== undefined && !isGreater(id, largest)) return `greatest: id ${id} is not larger than ${largest}`;
    largest = id;
    return undefined;
  });
  return { ...judged, cache: largest === undefined ? cache : { ...cache, greatest: largest } };
}

function last(cache: ChannelCache, emits: readonly Emit[]): DedupeResult {
  const match = cache.last === undefined ? -1 : emits.findLastIndex((emit) => idText(emit) === cache.last);
  const judged = judgeEach(emits, "last", (_id, place) => (place <= match ? `last: not after the event with id ${JSON.stringify(cache.last)}` : undefined));
  const after = emits.slice(match + 1).filter((emit) => idText(emit) !== undefined);
  // With timestamps the newest counts (components.md, Emission 2); emits are in the order of theirs.
  const newest = idText(after.findLast(({ ts }) => parseTs(ts) !== undefined) ?? after.at(-1) ?? NO_EMIT);
  return { ...judged, cache: newest === undefined ? cache : { ...cache, last: newest } };
}

type Judge = (id: string, place: number) => string | undefined;

function judgeEach(emits: readonly Emit[], strategy: DedupeStrategy, judge: Judge): Omit<DedupeResult, "cache"> {
  const kept: Emit[] = [];
  const dropped: DroppedEmit[] = [];
  const warnings: string[] = [];
  emits.forEach((emit, place) => {
    const id = idText(emit);
    const obstacle = id === undefined ? missingId(emit) : strategy === "greatest" ? notANumber(id) : undefined;
    const reason = id === undefined || obstacle !== undefined ? undefined : judge(id, place);
    if (obstacle !== undefined) warnings.push(`An event was kept without dedupe: strategy "${strategy}" wants ${obstacle}`);
    if (reason === undefined) kept.push(emit);
    else dropped.push({ emit, reason });
  });
  return { kept, dropped, warnings };
}

function idText(emit: Emit): string | undefined {
  return emit.id === undefined || emit.id === "" ? undefined : String(emit.id);
}

function missingId(emit: Emit): string {
  return emit.unusableId === undefined ? "an id, and $emit was given none" : `a text or a number as id, not ${emit.unusableId}`;
}

function notANumber(id: string): string | undefined {
  return id.trim() !== "" && Number.isFinite(Number(id)) ? undefined : `a number as id, not ${JSON.stringify(id)}`;
}

/** Whole numbers are compared digit by digit, so that ids beyond 2^53 keep their order. */
function isGreater(left: string, right: string): boolean {
  const isWhole = /^-?\d+$/;
  if (isWhole.test(left) && isWhole.test(right)) return BigInt(left) > BigInt(right);
  return Number(left) > Number(right);
}
