import { type Emit, parseTs } from "./event.ts";

export type DedupeStrategy = "unique" | "greatest" | "last";

/** Each strategy uses its own member. */
export interface DedupeCache extends ChannelCache {
  /** Named channels, at most 100. The one emitted to last is at the end. */
  readonly channels?: Readonly<Record<string, ChannelCache>> | undefined;
}

export interface ChannelCache {
  /** Oldest first, at most 100. */
  readonly unique?: readonly string[] | undefined;
  readonly greatest?: string | undefined;
  readonly last?: string | undefined;
}

export interface DedupeChange extends ChannelChange {
  readonly channels?: Readonly<Record<string, ChannelChange>>;
}

export interface ChannelChange {
  /** New ids in the order of their emits, at most 100. */
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
  readonly warnings: readonly string[];
  readonly change?: DedupeChange | undefined;
}

interface ChannelResult extends Omit<DedupeResult, "change"> {
  readonly change?: ChannelChange | undefined;
}

const NO_EMIT: Emit = { payload: "" };

const MOST_CHANNELS = 100;

/**
 * `emits` must be sorted by `orderEmits`. Channels are independent, because a source may emit to itself and then to
 * everyone under the same id.
 */
export function dedupe(strategy: DedupeStrategy | undefined, cache: DedupeCache, emits: readonly Emit[]): DedupeResult {
  if (strategy === undefined || emits.length === 0) return { kept: emits, dropped: [], warnings: [] };
  if (emits.every(({ name = "" }) => name === "")) return dedupeChannel(strategy, cache, emits);
  const byChannel = new Map<string, Emit[]>();
  for (const emit of emits) {
    const own = byChannel.get(emit.name ?? "");
    if (own === undefined) byChannel.set(emit.name ?? "", [emit]);
    else own.push(emit);
  }
  const results = [...byChannel].map(([channel, own]) => {
    const before = channel === "" ? cache : (cache.channels?.[channel] ?? {});
    return { channel, ...dedupeChannel(strategy, before, own) };
  });
  const kept = new Set(results.flatMap((result) => result.kept));
  const named = results.filter(({ channel }) => channel !== "");
  return {
    kept: emits.filter((emit) => kept.has(emit)),
    dropped: results.flatMap(({ dropped }) => dropped),
    warnings: results.flatMap(({ warnings }) => warnings),
    change: {
      ...results.find(({ channel }) => channel === "")?.change,
      channels: Object.fromEntries(named.map(({ channel, change = {} }) => [channel, change])),
    },
  };
}

export function remember(cache: DedupeCache, change: DedupeChange): DedupeCache {
  const { unique, greatest, last } = rememberIn(cache, change);
  return { unique, greatest, last, channels: change.channels === undefined ? cache.channels : rememberChannels(cache.channels, change.channels) };
}

function rememberChannels(before: NonNullable<DedupeCache["channels"]> = {}, changes: NonNullable<DedupeChange["channels"]>): DedupeCache["channels"] {
  const untouched = Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name));
  const touched = Object.entries(changes).map(([name, change]): [string, ChannelCache] => [name, rememberIn(before[name] ?? {}, change)]);
  return Object.fromEntries([...untouched, ...touched].slice(-MOST_CHANNELS));
}

function rememberIn({ unique: known = [], greatest, last }: ChannelCache, change: ChannelChange): ChannelCache {
  const { unique: added = [] } = change;
  const unique = known.slice(Math.max(0, known.length + added.length - UNIQUE_IDS)).concat(added);
  return { unique: unique.length === 0 ? undefined : unique, greatest: change.greatest ?? greatest, last: change.last ?? last };
}

function dedupeChannel(strategy: DedupeStrategy, cache: ChannelCache, emits: readonly Emit[]): ChannelResult {
  switch (strategy) {
    case "unique":
      return unique(cache, emits);
    case "greatest":
      return greatest(cache, emits);
    case "last":
      return last(cache, emits);
  }
}

function unique({ unique: known = [] }: ChannelCache, emits: readonly Emit[]): ChannelResult {
  const ids = new RecentIds(known, emits.length);
  const judged = judgeEach(emits, "unique", (id) => (ids.learn(id) ? undefined : `unique: id ${JSON.stringify(id)} was emitted before`));
  return learning(judged, ids.added.length === 0 ? undefined : { unique: ids.added.slice(-UNIQUE_IDS) });
}

function greatest(cache: ChannelCache, emits: readonly Emit[]): ChannelResult {
  let largest = cache.greatest;
  const judged = judgeEach(emits, "greatest", (id) => {
    if (largest !== undefined && !isGreater(id, largest)) return `greatest: id ${id} is not larger than ${largest}`;
    largest = id;
    return undefined;
  });
  return learning(judged, largest === undefined || largest === cache.greatest ? undefined : { greatest: largest });
}

function last(cache: ChannelCache, emits: readonly Emit[]): ChannelResult {
  const match = cache.last === undefined ? -1 : emits.findLastIndex((emit) => idText(emit) === cache.last);
  const judged = judgeEach(emits, "last", (_id, place) => (place <= match ? `last: not after the event with id ${JSON.stringify(cache.last)}` : undefined));
  const after = emits.slice(match + 1).filter((emit) => idText(emit) !== undefined);
  // The emits are sorted by `ts`, so this is the newest.
  const newest = idText(after.findLast(({ ts }) => parseTs(ts) !== undefined) ?? after.at(-1) ?? NO_EMIT);
  return learning(judged, newest === undefined ? undefined : { last: newest });
}

function learning({ kept, dropped, warnings }: Omit<ChannelResult, "change">, change: ChannelChange | undefined): ChannelResult {
  return { kept, dropped, warnings, change };
}

type Judge = (id: string, place: number) => string | undefined;

function judgeEach(emits: readonly Emit[], strategy: DedupeStrategy, judge: Judge): Omit<DedupeResult, "change"> {
  const kept: Emit[] = [];
  const dropped: DroppedEmit[] = [];
  const warnings: string[] = [];
  emits.forEach((emit, place) => {
    const id = idText(emit);
    const obstacle = id === undefined ? missingId(emit) : strategy === "greatest" ? notANumber(id) : undefined;
    const reason = id === undefined || obstacle !== undefined ? undefined : judge(id, place);
    if (obstacle !== undefined) warnings.push(`An event was kept without dedupe: strategy "${strategy}" needs ${obstacle}`);
    if (reason === undefined) kept.push(emit);
    else dropped.push({ emit, reason });
  });
  return { kept, dropped, warnings };
}

function idText(emit: Emit): string | undefined {
  return emit.id === undefined || emit.id === "" ? undefined : String(emit.id);
}

function missingId(emit: Emit): string {
  return emit.unusableId === undefined ? "an id, but $emit got none" : `a string or number as id, got ${emit.unusableId}`;
}

function notANumber(id: string): string | undefined {
  return id.trim() !== "" && Number.isFinite(Number(id)) ? undefined : `a number as id, got ${JSON.stringify(id)}`;
}

/** BigInt keeps the order of ids beyond 2^53. */
function isGreater(left: string, right: string): boolean {
  const isWhole = /^-?\d+$/;
  if (isWhole.test(left) && isWhole.test(right)) return BigInt(left) > BigInt(right);
  return Number(left) > Number(right);
}

const UNIQUE_IDS = 100;
/** Up to this many emits, searching a list costs less than building a set. */
const FEW = 8;

/** The last 100 ids of `unique`. */
class RecentIds {
  readonly added: string[] = [];
  /** Oldest first. */
  readonly #known: readonly string[];
  readonly #recent: Set<string> | undefined;

  /** `count` is the number of ids that will be checked. */
  constructor(known: readonly string[], count: number) {
    this.#known = known;
    this.#recent = count <= FEW ? undefined : new Set(known.slice(-UNIQUE_IDS));
  }

  /** Returns false when the id is one of the last 100. */
  learn(id: string): boolean {
    const oldest = this.#oldest;
    if (this.#recent?.has(id) ?? this.#isListed(id, oldest)) return false;
    this.added.push(id);
    this.#recent?.add(id);
    if (this.#oldest > oldest) this.#recent?.delete(this.#known[oldest] ?? this.added[oldest - this.#known.length] ?? id);
    return true;
  }

  /** Position among the known ids and then the added ones. */
  get #oldest(): number {
    return Math.max(0, this.#known.length + this.added.length - UNIQUE_IDS);
  }

  #isListed(id: string, from: number): boolean {
    return this.#known.includes(id, from) || this.added.includes(id, Math.max(0, from - this.#known.length));
  }
}
