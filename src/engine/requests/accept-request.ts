import type { EngineSettings } from "../../ports/engine-settings.ts";
import type { RunStore } from "../../ports/stores/run-store.ts";
import { challengeOf, isWanted } from "../../domain/source/app-hook.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type InvocationId, invocationId } from "../../domain/ids.ts";
import { type BadResponse, type HttpResponse, type Outcome, isFailed } from "../../domain/run/invocation.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import type { AppHookProp } from "../../domain/props/app-hook-prop.ts";
import type { HttpTrigger } from "../../domain/run/trigger.ts";
import type { CommittedRun } from "../runs/commits/commit-run.ts";
import { type Cancel, DeadlineQueue } from "./deadline-queue.ts";
import type { InvokeOptions } from "../runs/source/invoke-options.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import { type PendingPorts, runUntilStored } from "./pending.ts";
import { untilKnown } from "../runs/commits/in-doubt.ts";

/**
 * In characters. A request is kept in memory until its run ends. One source may hold a quarter, so that it does not
 * delay others. A source that holds nothing may accept a request of any size. Requests up to SMALL are limited only by
 * the call queue.
 */
const MOST_HELD = 2 ** 27;
const MOST_HELD_OF_ONE = MOST_HELD / 4;
const SMALL = 65_536;

const IGNORED: HttpResponse = { status: 200, headers: { "content-type": "application/json; charset=utf-8" }, body: '{"status":"ignored"}', encoding: "utf8" };

/** A response waits this long for its run to end, so that both need only one commit. */
const RESPONSE_HOLD_MS = 5;
/** A response that may depend on unstored state waits longer. If its run were interrupted, another client could get the same values. */
const UNSETTLED_HOLD_MS = 1000;

export interface RequestPorts extends PendingPorts {
  readonly store: Pick<RunStore, "storePending">;
  readonly settings: Pick<EngineSettings, "acceptMs" | "responseMs">;
}

/**
 * A 2xx response means that the request or its finished run is durable. A short run is committed and answered in one
 * step. The request of a longer run is stored first, so that it is repeated if the server ends.
 */
export class RequestAcceptor {
  readonly #ports: RequestPorts;
  readonly #slow: DeadlineQueue;
  readonly #unanswered: DeadlineQueue;
  readonly #held: DeadlineQueue;
  readonly #unsettled: DeadlineQueue;
  readonly #kept = new CharacterBudget();

  /** `over` aborts when every request has been answered or dropped. */
  constructor(ports: RequestPorts, over: AbortSignal) {
    const { clock, settings } = ports;
    this.#ports = ports;
    this.#slow = new DeadlineQueue(clock, settings.acceptMs, over);
    this.#unanswered = new DeadlineQueue(clock, settings.responseMs, over);
    this.#held = new DeadlineQueue(clock, RESPONSE_HOLD_MS, over);
    this.#unsettled = new DeadlineQueue(clock, UNSETTLED_HOLD_MS, over);
  }

  /** Throws PD_NOT_FOUND when the source has no HTTP interface, PD_TOO_BUSY, PD_NOT_STORED. */
  accept(live: LiveSource, trigger: HttpTrigger): Promise<HttpResponse> {
    const { props } = live.definition;
    const http = props.find((prop) => prop.kind === "http");
    if (http === undefined) return this.#acceptHook(live, trigger);
    return http.customResponse ? this.#answerCustom(this.#requestOf(live, trigger)) : this.#answerDefault(this.#requestOf(live, trigger));
  }

  async #acceptHook(live: LiveSource, trigger: HttpTrigger): Promise<HttpResponse> {
    const { props } = live.definition;
    const hook = props.find((prop) => prop.kind === "app-hook");
    if (hook === undefined) throw new PdError("PD_NOT_FOUND", `${live.source.slug} has no HTTP interface`);
    const challenge = challengeOf(trigger);
    if (challenge !== undefined) return { status: 200, headers: { "content-type": "text/plain" }, body: challenge, encoding: "utf8" };
    if (!isWanted(trigger, await this.#eventNames(live, hook))) return IGNORED;
    return this.#answerDefault(this.#requestOf(live, { ...trigger, isAppHook: true }));
  }

  /** Undefined means all events, also when the component fails or does not answer in time. */
  async #eventNames(live: LiveSource, hook: AppHookProp): Promise<readonly string[] | undefined> {
    let cancel: Cancel = () => {};
    const late = new Promise<undefined>((resolve) => (cancel = this.#slow.add(() => resolve(undefined))));
    try {
      return await Promise.race([live.questions.eventNames(hook), late]);
    } catch (error) {
      this.#ports.log.warn("an app hook failed to list its events and gets all", { source: live.source.slug, reason: messageOf(error) });
      return undefined;
    } finally {
      cancel();
    }
  }

  #requestOf(live: LiveSource, trigger: HttpTrigger): StoredRequest {
    const { clock } = this.#ports;
    const onOver = this.#kept.add(live.source, trigger.body.length);
    return new StoredRequest(this.#ports, live, { trigger, id: invocationId(clock.now(), clock.randomText(8)), onOver });
  }

  /** Answers 200 as soon as the run or its request is stored. */
  #answerDefault(request: StoredRequest): Promise<HttpResponse> {
    return new Promise<HttpResponse>((resolve, reject) => {
      const answer = (): void => resolve(accepted(request.id));
      request.cancels.push(this.#slow.add(() => request.store().then(answer, reject)));
      request.run({ responseStatus: () => 200 }).then(answer, reject);
    });
  }

  /** Defaults to 200 when `run` ended, 500 when it threw, 504 when neither happened in time. */
  #answerCustom(request: StoredRequest): Promise<HttpResponse> {
    let answer: HttpResponse | undefined;
    let isSent = false;
    let release: Cancel = () => {};
    let onResponse = (_response: HttpResponse | BadResponse, _isUnsettled: boolean): void => {};
    const stored = new Promise<HttpResponse>((resolve, reject) => {
      const answerOnceStored = (response: HttpResponse): void => {
        answer ??= response;
        isSent = true;
        request.store().then(
          () => resolve(response),
          (error: unknown) => {
            response.rest?.giveUp();
            reject(error);
          },
        );
      };
      request.cancels.push(this.#unanswered.add(() => answerOnceStored(late(request.id))));
      onResponse = (response, isUnsettled) => {
        if (answer !== undefined) return "problem" in response ? undefined : response.rest?.giveUp();
        const usable = "problem" in response ? failed(request.id) : response;
        answer = usable;
        release = (isUnsettled ? this.#unsettled : this.#held).add(() => answerOnceStored(usable));
        request.cancels.push(release);
      };
    });
    // The response of a discarded try is void, unless it was sent already.
    const onVoid = (): void => {
      release();
      if (isSent) return;
      answer?.rest?.giveUp();
      answer = undefined;
    };
    // A body that failed before any of it was sent is no response.
    const answerAfter = (outcome: Outcome): HttpResponse | undefined => (answer?.rest !== undefined && isFailed(outcome) && !isSent ? undefined : answer);
    const finished = request
      .run({
        onResponse: (...given) => onResponse(...given),
        onVoid,
        responseStatus: (outcome) => answerAfter(outcome)?.status ?? statusWithoutRespond(outcome),
      })
      .then((run) => answerAfter(run.invocation.outcome) ?? answerWithoutRespond(run));
    return Promise.race([stored, finished]);
  }
}

class CharacterBudget {
  readonly #bySource = new Map<string, number>();
  #sum = 0;

  /** Returns the release function. Throws PD_TOO_BUSY. */
  add({ id, slug }: LiveSource["source"], length: number): () => void {
    const own = this.#bySource.get(id) ?? 0;
    if (length > SMALL && own > 0 && (own + length > MOST_HELD_OF_ONE || this.#sum + length > MOST_HELD))
      throw new PdError("PD_TOO_BUSY", `Cannot accept a request to ${slug}: its waiting requests hold ${own} characters, those of all sources ${this.#sum}`);
    this.#change(id, length);
    return () => this.#change(id, -length);
  }

  #change(id: string, by: number): void {
    this.#sum += by;
    const own = (this.#bySource.get(id) ?? 0) + by;
    if (own === 0) this.#bySource.delete(id);
    else this.#bySource.set(id, own);
  }
}

class StoredRequest {
  readonly id: InvocationId;
  /** Called when the run ends. */
  readonly cancels: Cancel[] = [];
  readonly #ports: RequestPorts;
  readonly #live: LiveSource;
  readonly #trigger: HttpTrigger;
  readonly #onOver: () => void;
  #storing: Promise<void> | undefined;

  constructor(ports: RequestPorts, live: LiveSource, { trigger, id, onOver }: { trigger: HttpTrigger; id: InvocationId; onOver: () => void }) {
    this.#onOver = onOver;
    this.id = id;
    this.#ports = ports;
    this.#live = live;
    this.#trigger = trigger;
  }

  store(): Promise<void> {
    const { store, clock } = this.#ports;
    const request = { id: this.id, sourceId: this.#live.source.id, trigger: this.#trigger, receivedAt: clock.now() };
    this.#storing ??= untilKnown(this.#ports, () => store.storePending(request));
    return this.#storing;
  }

  /** Rejects only while the trigger is not stored. The client can then send it again. */
  run(options: InvokeOptions): Promise<CommittedRun> {
    const onEnded = (): void => this.#cancelAll();
    const { onResponse, onVoid, responseStatus } = options;
    return this.#live
      .invoke(this.#trigger, { id: this.id, onEnded, onResponse, onVoid, responseStatus })
      .catch((error: unknown) => this.#runAfterAll(error, options))
      .finally(this.#onOver);
  }

  #cancelAll(): void {
    for (const cancel of this.cancels) cancel();
  }

  async #runAfterAll(error: unknown, { responseStatus }: InvokeOptions): Promise<CommittedRun> {
    try {
      if (this.#storing === undefined) throw error;
      await this.#storing;
      return await runUntilStored(this.#ports, this.#live, { id: this.id, trigger: this.#trigger, responseStatus });
    } finally {
      this.#cancelAll();
    }
  }
}

function answerWithoutRespond(run: CommittedRun): HttpResponse {
  const { id, outcome } = run.invocation;
  return isFailed(outcome) ? failed(id) : accepted(id);
}

function statusWithoutRespond(outcome: Outcome): number {
  return isFailed(outcome) ? 500 : 200;
}

function json(status: number, id: InvocationId, body: JsonObject): HttpResponse {
  const headers = { "content-type": "application/json; charset=utf-8", "access-control-allow-origin": "*", "x-pd-invocation-id": id };
  return { status, headers, body: JSON.stringify(body), encoding: "utf8" };
}

function accepted(id: InvocationId): HttpResponse {
  return json(200, id, { status: "ok", invocation_id: id });
}

function failed(id: InvocationId): HttpResponse {
  return json(500, id, { error: "The component failed before it answered", invocation_id: id });
}

function late(id: InvocationId): HttpResponse {
  return json(504, id, { error: "The component did not answer in time. It is still running", invocation_id: id });
}
