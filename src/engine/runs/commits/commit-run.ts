import type { Clock } from "../../../ports/clock.ts";
import type { Meter } from "../../../ports/meter.ts";
import type { EventFeed } from "./event-feed.ts";
import { type DedupeCache, type DedupeChange, type DedupeStrategy, type DroppedEmit, dedupe, remember } from "../../../domain/event/dedupe.ts";
import { type Emit, type NewEvents, type NewPostponedEvent, isTakenForSeconds, orderEmits, parseTs, isoTime, partEmits } from "../../../domain/event/event.ts";
import type { DeployedId, ListenerId } from "../../../domain/ids.ts";
import { isFailure } from "../../../domain/delivery/system-channels.ts";
import type { Trouble } from "../../../domain/alert/alert.ts";
import { type Invocation, type LogLine, type RunResult, describeOutcome } from "../../../domain/run/invocation.ts";
import { PdError } from "../../../domain/errors.ts";
import type { Committed, RunCommit, RunStore } from "../../../ports/stores/run-store.ts";
import type { LatePart } from "../../../ports/runner.ts";
import type { StepCommit } from "../../../ports/stores/workflow-store.ts";
import { isInDoubt, untilKnown } from "./in-doubt.ts";

export interface Ownership {
  readonly sourceId: DeployedId;
  readonly fence: number;
  /** Updated before the commit is durable. When the commit fails, the ownership is dropped. */
  cache: DedupeCache;
}

export interface Judged {
  readonly events: NewEvents;
  readonly postponed: readonly NewPostponedEvent[];
  readonly dropped: Readonly<Record<string, number>>;
  readonly warnings: readonly LogLine[];
  readonly learned: DedupeChange | undefined;
}

export function judgeEmits(owner: Ownership, strategy: DedupeStrategy | undefined, { emits, now }: { emits: readonly Emit[]; now: number }): Judged {
  if (emits.length === 0) return { events: [], postponed: [], dropped: {}, warnings: [], learned: undefined };
  const result = dedupe(strategy, owner.cache, orderEmits(emits));
  const { change } = result;
  if (change !== undefined) owner.cache = remember(owner.cache, change);
  const { events, postponed } = partEmits(result.kept, now);
  const texts = [...result.warnings, ...oddTimes(result.kept), ...postponed.map(({ dueAt }) => `An event is postponed until ${isoTime(dueAt)}`)];
  return {
    events,
    postponed,
    dropped: countReasons(result.dropped),
    warnings: inShort(texts).map((text) => ({ at: now, level: "system", text })),
    learned: change,
  };
}

/** Limit of different warnings and drop reasons: a run may emit 100,000 times. */
const MOST_LINES = 100;

function inShort(texts: readonly string[]): string[] {
  if (texts.length < 2) return [...texts];
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const lines = [...counts].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`));
  return lines.length <= MOST_LINES ? lines : [...lines.slice(0, MOST_LINES), `${lines.length - MOST_LINES} more lines of this kind were dropped`];
}

/** Times taken for seconds share one line, since pollers of APIs that count in seconds emit hundreds. */
function oddTimes(emits: readonly Emit[]): string[] {
  const lines: string[] = [];
  const inSeconds: (string | number)[] = [];
  for (const { ts, deliveryTs } of emits) {
    if (isUnreadable(ts)) lines.push(`Ignored the event's ts ${JSON.stringify(ts)}: not a valid time`);
    if (isUnreadable(deliveryTs)) lines.push(`Emitted the event at once: its delivery_ts ${JSON.stringify(deliveryTs)} is not a valid time`);
    if (ts !== undefined && isTakenForSeconds(ts)) inSeconds.push(ts);
    if (deliveryTs !== undefined && isTakenForSeconds(deliveryTs)) inSeconds.push(deliveryTs);
  }
  const [first] = inSeconds;
  if (first === undefined) return lines;
  const asMs = isoTime(Math.round(Number(first)));
  const others = inSeconds.length > 1 ? `, and ${inSeconds.length - 1} more like it,` : "";
  const line = `The time ${first}${others} was read as seconds: ${isoTime(parseTs(first) ?? 0)}. In milliseconds, the unit of ts and delivery_ts, it would be ${asMs}`;
  return [...lines, line];
}

function isUnreadable(time: string | number | undefined): boolean {
  return time !== undefined && parseTs(time) === undefined;
}

function countReasons(dropped: readonly DroppedEmit[]): Record<string, number> {
  const counts: Record<string, number> = {};
  let others = 0;
  for (const [place, { reason }] of dropped.entries()) {
    // A reason may contain an id.
    if (place < MOST_LINES || counts[reason] !== undefined) counts[reason] = (counts[reason] ?? 0) + 1;
    else others++;
  }
  return others === 0 ? counts : { ...counts, "others like these": others };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

export interface FinishedRun {
  readonly owner: Ownership;
  readonly strategy: DedupeStrategy | undefined;
  readonly invocation: Omit<Invocation, "durationMs" | "outcome" | "eventCount" | "dropped">;
  readonly result: RunResult;
  /** Omitted when the trigger has not been serialized yet. */
  readonly triggerText?: string | undefined;
  readonly step?: StepCommit;
}

export interface CommittedRun {
  readonly invocation: Invocation;
  readonly logs: readonly LogLine[];
  /** Built on first access. */
  readonly stored: Pick<Committed, "events">;
}

export interface CommitPorts {
  readonly store: Pick<RunStore, "commit" | "committed" | "append">;
  readonly clock: Clock;
  readonly feed: EventFeed;
  readonly meter: Meter;
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  readonly onPostponed: () => void;
  readonly onTrouble: (trouble: Trouble) => void;
  readonly signal: AbortSignal;
}

/** While the outcome is in doubt, no state may be dropped and no run repeated. */
function store(ports: CommitPorts, run: RunCommit): Promise<Committed> {
  return ports.store.commit(run).catch(async (error: unknown) => {
    if (!isInDoubt(error)) throw error;
    const { id, sourceId } = run.invocation;
    const found = await untilKnown(ports, () => ports.store.committed(id));
    if (found !== undefined) return found;
    throw new PdError("PD_NOT_STORED", `Cannot store a run of ${sourceId}: the database did not store it`, { cause: error });
  });
}

/** Throws PD_NOT_STORED, having written and announced nothing, and PD_IN_DOUBT when the server stops first. */
export async function commitRun(ports: CommitPorts, { owner, strategy, invocation, result, triggerText, step }: FinishedRun): Promise<CommittedRun> {
  const now = ports.clock.now();
  const judged = judgeEmits(owner, strategy, { emits: result.emits, now });
  const { id, sourceId, version, trigger, startedAt, replayOf, responseStatus } = invocation;
  const complete: Invocation = {
    id,
    sourceId,
    version,
    trigger,
    startedAt,
    durationMs: now - startedAt,
    outcome: result.outcome,
    eventCount: judged.events.length,
    dropped: judged.dropped,
    responseStatus,
    replayOf,
    returned: result.returned,
  };
  const logs = judged.warnings.length === 0 ? result.logs : [...result.logs, ...judged.warnings];
  const stored = await store(ports, {
    fence: owner.fence,
    invocation: complete,
    triggerText,
    events: judged.events,
    postponed: judged.postponed,
    stateChanges: result.stateChanges,
    learned: judged.learned,
    logs,
    step,
  });
  for (const line of judged.warnings) ports.feed.observe(owner.sourceId, { kind: "line", id: complete.id, line });
  ports.feed.announce(owner.sourceId, stored);
  ports.onDeliveries(stored.listeners);
  if (judged.postponed.length > 0) ports.onPostponed();
  const { durationMs, outcome, eventCount, dropped } = complete;
  ports.meter.ran({ scope: sourceId, id, trigger: complete.trigger.kind, outcome: outcome.kind, durationMs, events: eventCount, dropped: sum(dropped) });
  if (isFailure(complete)) ports.onTrouble(troubleOf(complete));
  ports.feed.observe(owner.sourceId, { kind: "ended", id, at: now, durationMs, outcome, eventCount, dropped });
  return { invocation: complete, logs, stored };
}

function troubleOf({ id, sourceId, trigger, outcome }: Invocation): Trouble {
  const isStep = trigger.kind === "step";
  return {
    kind: "failed",
    scope: sourceId,
    text: `${isStep ? `step ${trigger.namespace}: ` : ""}${describeOutcome(outcome)}`,
    run: isStep ? trigger.runId : id,
  };
}

/** Commits what a call did after it had ended, and warns about its emits in the log. */
export async function commitLate(
  ports: CommitPorts,
  owner: Ownership,
  { strategy, part }: { strategy: DedupeStrategy | undefined; part: LatePart },
): Promise<void> {
  const { emits, stateChanges, logs, outcome } = part.result;
  const now = ports.clock.now();
  const judged = judgeEmits(owner, strategy, { emits, now });
  const warning: LogLine[] = emits.length > 0 ? [{ at: now, level: "system", text: `${emits.length} emitted after run had ended: await what emits` }] : [];
  const lines = [...logs, ...warning, ...judged.warnings];
  const { events, postponed, dropped } = judged;
  const stored = await ports.store.append({
    fence: owner.fence,
    sourceId: owner.sourceId,
    invocationId: part.id,
    at: now,
    events,
    postponed,
    stateChanges,
    logs: lines,
    dropped,
    learned: judged.learned,
    ...(outcome === undefined ? {} : { outcome }),
  });
  for (const line of lines) ports.feed.observe(owner.sourceId, { kind: "line", id: part.id, line });
  ports.feed.announce(owner.sourceId, stored);
  ports.onDeliveries(stored.listeners);
  if (postponed.length > 0) ports.onPostponed();
  if (outcome !== undefined)
    ports.feed.observe(owner.sourceId, { kind: "ended", id: part.id, at: now, durationMs: 0, outcome, eventCount: events.length, dropped });
}
