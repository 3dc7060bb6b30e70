import { PdError, messageOf } from "../../domain/errors.ts";
import { type DeployedId, type InvocationId, type RunId, isInvocationId, isRunId, isWorkflowId } from "../../domain/ids.ts";
import { describeOutcome, isFailed } from "../../domain/run/invocation.ts";
import { eventFor } from "../../domain/run/event-of-trigger.ts";
import { holds, matchOf, readSearch } from "../../domain/search/query.ts";
import { type JsonValue, isRecord, parseJson } from "../../domain/text/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Meter } from "../../ports/meter.ts";
import type { SearchDocument, SearchHit, SearchIndex, SearchKind } from "../../ports/search-index.ts";
import type { EventRange, EventStore } from "../../ports/stores/event-store.ts";
import type { RunStore } from "../../ports/stores/run-store.ts";
import type { Retention } from "../../ports/stores/store.ts";
import type { WorkflowStore } from "../../ports/stores/workflow-store.ts";

const LOOK_EVERY_MS = 500;
const PRUNE_EVERY_MS = 60_000;
/** Documents that are added together, so that runs wait for a few milliseconds at most. */
const TOGETHER = 25;
const PAUSE_MS = 5;
/** Runs get the rest: a pause is so many times as long as the work before it, up to the longest. */
const REST = 9;
/** Batches of one kind in a row, so that neither runs nor the events of a source wait for the others. */
const MOST_BATCHES = 20;
const LONGEST_REST_MS = 100;
/** Sources whose pruned events and runs leave the index, between two looks for new ones. */
const LOOKED_THROUGH_TOGETHER = 20;
/** Characters of a document that can be found. */
const MOST_TEXT = 20_000;
/** Runs that wait. Beyond it, the sources are looked through again. */
const MOST_WAITING = 10_000;
/** Hits that are looked at for one page, when places must hold. */
const MOST_LOOKED_AT = 2000;
const LOOKED_AT_TOGETHER = 200;

interface SearchPorts {
  readonly index: SearchIndex | undefined;
  readonly store: Pick<EventStore, "listEventsSince" | "listEvents" | "lastSeq"> &
    Pick<RunStore, "listInvocations" | "getInvocation" | "invocationLogs"> &
    Pick<WorkflowStore, "listRuns" | "getRun">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly retention: Retention;
  /** Sources and workflows, without the triggers of workflows. */
  readonly scopes: () => readonly DeployedId[];
}

export interface Searched {
  readonly text: string;
  readonly kind?: SearchKind;
  readonly scope?: DeployedId;
  readonly failedOnly?: boolean;
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
  readonly offset: number;
}

interface WaitingRun {
  readonly scope: DeployedId;
  readonly id: InvocationId | RunId;
}

interface EventSpan {
  readonly after: number;
  readonly to: number;
  /** Batches. */
  readonly most: number;
}

/** Puts events and runs into an index a moment after they are stored, and finds them by words, places and time. */
export class Search implements Meter {
  readonly #ports: SearchPorts;
  /** Have new events. */
  readonly #active = new Set<DeployedId>();
  /** The store has removed their oldest runs or events. */
  readonly #pruned = new Set<DeployedId>();
  #runs: WaitingRun[] = [];
  /** Runs may be missing, as those of an earlier server at the start. */
  #isIncomplete = true;
  #prunedAt = 0;

  constructor(ports: SearchPorts) {
    this.#ports = ports;
  }

  ran({ scope, id, trigger }: Parameters<Meter["ran"]>[0]): void {
    if (this.#ports.index !== undefined && trigger !== "step") this.#wait({ scope, id });
  }

  workflowRan({ scope, id }: Parameters<Meter["workflowRan"]>[0]): void {
    if (this.#ports.index !== undefined) this.#wait({ scope, id });
  }

  attempted(): void {}

  eventsStored(scope: DeployedId): void {
    if (this.#ports.index !== undefined) this.#active.add(scope);
  }

  pruned(scope: DeployedId): void {
    if (this.#ports.index !== undefined) this.#pruned.add(scope);
  }

  /** Removes events that the store has deleted, and their words from the files. */
  async eventsDeleted(scope: DeployedId, { fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER, channel }: EventRange): Promise<void> {
    const { index, signal } = this.#ports;
    if (index === undefined) return;
    while (!signal.aborted && index.dropEvents(scope, fromSeq, toSeq) > 0) await this.#pause();
    // Those of other channels are still stored.
    if (channel !== undefined)
      await this.#addEventsBetween(index, scope, { after: fromSeq - 1, to: Math.min(toSeq, index.newestEvent(scope)), most: Number.MAX_SAFE_INTEGER });
    index.purge();
  }

  #wait(run: WaitingRun): void {
    if (this.#runs.length < MOST_WAITING) this.#runs.push(run);
    else if (!this.#isIncomplete) {
      // They are found again when everything is looked through.
      this.#runs = [];
      this.#miss();
    }
  }

  #miss(): void {
    this.#isIncomplete = true;
    try {
      this.#ports.index?.setIncomplete();
    } catch (error) {
      // Such as a full disk. A start before the next success may leave runs out.
      this.#ports.log.warn("the search index cannot be written", { reason: messageOf(error) });
    }
  }

  async keep(): Promise<void> {
    const { clock, signal, log, index } = this.#ports;
    if (index === undefined) return;
    while (!signal.aborted) {
      let isBehind = false;
      try {
        await this.catchUp();
        isBehind = this.#runs.length > 0 || this.#active.size > 0;
      } catch (error) {
        if (signal.aborted) break;
        this.#miss();
        log.warn("events and runs could not be put into the search index", { reason: messageOf(error) });
      }
      await clock.sleepUntil(clock.now() + (isBehind ? PAUSE_MS : LOOK_EVERY_MS), signal);
    }
    index.close();
  }

  /** Puts new runs and events into the index. What is left is for the next call. */
  async catchUp(): Promise<void> {
    const { index, scopes, clock } = this.#ports;
    if (index === undefined) return;
    if (this.#isIncomplete) {
      this.#isIncomplete = false;
      for (const scope of scopes()) {
        this.#active.add(scope);
        await this.#addMissingRuns(index, scope);
      }
    }
    for (let batch = 0; batch < MOST_BATCHES && this.#runs.length > 0; batch++) {
      const some = this.#runs.splice(0, TOGETHER);
      // Sources may have been deployed meanwhile.
      const known = this.#known();
      const kept = some.filter(({ scope }) => known.has(scope));
      await this.#addRuns(index, kept);
    }
    const active = [...this.#active];
    this.#active.clear();
    for (const scope of active) {
      if (this.#known().has(scope)) await this.#addEvents(index, scope);
    }
    await this.#dropPruned(index);
    if (clock.now() >= this.#prunedAt + PRUNE_EVERY_MS) await this.#prune(index);
  }

  #known(): ReadonlySet<string> {
    return new Set(this.#ports.scopes());
  }

  async #addRuns(index: SearchIndex, runs: readonly WaitingRun[]): Promise<void> {
    const began = this.#ports.clock.now();
    const documents = await Promise.all(runs.map((run) => this.#documentOfRun(run)));
    index.add(documents.filter((one) => one !== undefined));
    await this.#rest(began);
  }

  async #addEvents(index: SearchIndex, scope: DeployedId): Promise<void> {
    const { store } = this.#ports;
    // An older database was restored.
    if (index.newestEvent(scope) > (await store.lastSeq(scope))) await this.#repeated(() => index.forget(scope));
    await this.#addEventsBetween(index, scope, { after: index.newestEvent(scope), to: Number.MAX_SAFE_INTEGER, most: MOST_BATCHES });
  }

  /** Their numbers are greater than `after`. At most so many batches; the rest is for later. */
  async #addEventsBetween(index: SearchIndex, scope: DeployedId, { after, to, most }: EventSpan): Promise<void> {
    const { store, signal, clock } = this.#ports;
    let seen = after;
    for (let batch = 0; batch < most && !signal.aborted; batch++) {
      const began = clock.now();
      const events = (await store.listEventsSince(scope, seen, TOGETHER)).filter(({ seq }) => seq <= to);
      const last = events.at(-1);
      if (last === undefined) return;
      const documents = events.map(({ id, storedAt, channel, summary = "", dedupeId = "", payload }): SearchDocument => {
        return { kind: "event", scope, ref: id, at: storedAt, text: withId(`${summary} ${payload}`, `${channel} ${dedupeId} ${id}`), hasFailed: false };
      });
      index.add(documents, { scope, seq: last.seq });
      seen = last.seq;
      await this.#rest(began);
    }
    this.#active.add(scope);
  }

  /** Adds those that are stored and not in the index, newest first. */
  async #addMissingRuns(index: SearchIndex, scope: DeployedId): Promise<void> {
    const { store, signal, clock } = this.#ports;
    // A run of a workflow may have waited for long, so all of them are looked at.
    let isComplete = !isWorkflowId(scope) && index.isComplete(scope);
    let before: string | undefined;
    while (!signal.aborted) {
      const began = clock.now();
      const page: readonly { readonly id: InvocationId | RunId }[] = isWorkflowId(scope)
        ? await store.listRuns(scope, { limit: 100, ...(isRunId(before) ? { before } : {}) })
        : await store.listInvocations(scope, { limit: 100, ...(isInvocationId(before) ? { before } : {}) });
      const missing = page.filter(({ id }) => !index.has({ kind: "run", scope, ref: id }));
      // When this is interrupted, older ones are missing.
      if (missing.length > 0 && isComplete) index.setComplete(scope, (isComplete = false));
      for (let from = 0; from < missing.length; from += TOGETHER)
        await this.#addRuns(
          index,
          missing.slice(from, from + TOGETHER).map(({ id }) => ({ scope, id })),
        );
      const oldest = page.at(-1);
      if (oldest === undefined) return index.setComplete(scope, true);
      // Runs leave the queue in their order, so the older ones are there too.
      if (missing.length === 0 && isComplete) return;
      before = oldest.id;
      if (missing.length === 0) await this.#rest(began);
    }
  }

  async #documentOfRun({ scope, id }: WaitingRun): Promise<SearchDocument | undefined> {
    const { store } = this.#ports;
    if (isRunId(id)) {
      const run = await store.getRun(id);
      if (run === undefined || run.endedAt === undefined) return undefined;
      const text = `${run.failure === undefined ? "" : `${run.failure.namespace}: ${run.failure.message} `}${wordsOf(run.trigger.event)}`;
      return { kind: "run", scope, ref: id, at: run.startedAt, text: withId(text, id), hasFailed: run.state === "failed" };
    }
    const invocation = await store.getInvocation(id);
    if (invocation === undefined) return undefined;
    const [event, lines] = [await eventFor(invocation.trigger, () => undefined), await store.invocationLogs(id)];
    const outcome = isFailed(invocation.outcome) ? describeOutcome(invocation.outcome) : "";
    const text = `${outcome} ${lines
      .map((line) => line.text)
      .join(" ")
      .slice(0, MOST_TEXT / 2)} ${wordsOf(event)}`;
    return { kind: "run", scope, ref: id, at: invocation.startedAt, text: withId(text, id), hasFailed: isFailed(invocation.outcome) };
  }

  async #prune(index: SearchIndex): Promise<void> {
    const { clock, retention } = this.#ports;
    this.#prunedAt = clock.now();
    const known = this.#known();
    for (const scope of index.scopes().filter((one) => !known.has(one))) await this.#repeated(() => index.forget(scope));
    await this.#repeated(() => index.prune(clock.now() - retention.maxAgeMs));
  }

  /** For a few sources at a time. */
  async #dropPruned(index: SearchIndex): Promise<void> {
    for (const scope of [...this.#pruned].slice(0, LOOKED_THROUGH_TOGETHER)) {
      this.#pruned.delete(scope);
      for (const kind of ["event", "run"] as const) await this.#dropOldest(index, { kind, scope });
    }
  }

  async #dropOldest(index: SearchIndex, of: Pick<SearchDocument, "kind" | "scope">): Promise<void> {
    const { signal, clock } = this.#ports;
    for (let count = 1; !signal.aborted; count = TOGETHER) {
      const began = clock.now();
      const gone: string[] = [];
      const oldest = index.oldest(of, count);
      for (const ref of oldest) {
        if ((await this.#eventOf({ ...of, ref })) !== undefined) break;
        gone.push(ref);
      }
      index.drop(of, gone);
      if (gone.length === 0 || gone.length < oldest.length) return;
      await this.#rest(began);
    }
  }

  /** Until nothing is left to remove. */
  async #repeated(remove: () => number): Promise<void> {
    const { signal, clock } = this.#ports;
    for (let began = clock.now(); !signal.aborted && remove() > 0; began = clock.now()) await this.#rest(began);
  }

  #rest(began: number): Promise<void> {
    const { clock, signal } = this.#ports;
    const now = clock.now();
    return clock.sleepUntil(now + Math.min(LONGEST_REST_MS, Math.max(PAUSE_MS, REST * (now - began))), signal);
  }

  #pause(): Promise<void> {
    const { clock, signal } = this.#ports;
    return clock.sleepUntil(clock.now() + PAUSE_MS, signal);
  }

  /** Newest first. Throws PD_BAD_INPUT when search is off. */
  async find({ text, limit, offset, ...filter }: Searched): Promise<readonly SearchHit[]> {
    const { index } = this.#ports;
    if (index === undefined)
      throw new PdError("PD_BAD_INPUT", "Cannot search: this server has no search index", { fix: "Start the server with --search, or set PD_SEARCH=true" });
    const wanted = readSearch(text);
    const match = matchOf(wanted);
    // Nothing in the text can be a word.
    if (match === undefined && text.trim() !== "") return [];
    const query = { ...filter, ...(match === undefined ? {} : { match }) };
    const found: SearchHit[] = [];
    // With places, each hit is looked at to count it.
    const step = wanted.paths.length === 0 ? limit : LOOKED_AT_TOGETHER;
    let left = wanted.paths.length === 0 ? 0 : offset;
    for (let at = wanted.paths.length === 0 ? offset : 0, looked = 0; looked < MOST_LOOKED_AT && found.length < limit; at += step, looked += step) {
      const hits = index.find({ ...query, limit: step, offset: at });
      for (const hit of hits) {
        const event = await this.#eventOf(hit);
        // It was deleted or pruned.
        if (event === undefined) index.drop(hit, [hit.ref]);
        else if (holds(event, wanted.paths) && left-- <= 0 && found.length < limit) found.push(hit);
      }
      if (hits.length < step) break;
    }
    return found;
  }

  /** Undefined when it is not stored any more. */
  #eventOf({ kind, scope, ref }: Pick<SearchHit, "kind" | "scope" | "ref">): Promise<JsonValue | undefined> {
    return kind === "event" ? this.#payloadOf(scope, ref) : this.#eventOfRun(ref);
  }

  async #payloadOf(scope: DeployedId, id: string): Promise<JsonValue | undefined> {
    const seq = Number(id.split("-")[1]);
    const [event] = await this.#ports.store.listEvents(scope, { limit: 1, beforeSeq: seq + 1, afterSeq: seq - 1 });
    return event?.id === id ? (parseJson(event.payload) ?? event.payload) : undefined;
  }

  async #eventOfRun(id: string): Promise<JsonValue | undefined> {
    const { store } = this.#ports;
    if (isRunId(id)) return (await store.getRun(id))?.trigger.event;
    const invocation = isInvocationId(id) ? await store.getInvocation(id) : undefined;
    return invocation === undefined ? undefined : (parseJson(JSON.stringify((await eventFor(invocation.trigger, () => undefined)) ?? null)) ?? null);
  }
}

/** At the end, because a hit shows the beginning when no words were asked for. */
function withId(text: string, id: string): string {
  return `${text.trim().slice(0, MOST_TEXT)} ${id}`;
}

/** The body first, without its copies, and without the escapes of JSON. */
function wordsOf(event: unknown): string {
  const { body, ...rest } = isRecord(event) ? event : {};
  const ordered = body === undefined ? event : { body, ...rest };
  const text = JSON.stringify(ordered ?? null, (name: string, value: unknown) => (name === "rawBody" || name === "bodyRaw" ? undefined : value));
  return text.replaceAll(/\\[nrt]/g, " ");
}
