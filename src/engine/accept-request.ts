import { PdError, messageOf } from "../domain/errors.ts";
import { type InvocationId, invocationId } from "../domain/ids.ts";
import type { BadResponse, HttpResponse } from "../domain/invocation.ts";
import { type JsonValue, isRecord } from "../domain/json.ts";
import type { HttpTrigger } from "../domain/trigger.ts";
import { isFailed } from "../domain/invocation.ts";
import type { CommittedRun } from "./commit-run.ts";
import { DeadlineQueue } from "./deadline-queue.ts";
import type { LiveSource } from "./live-source.ts";
import type { EnginePorts } from "./ports.ts";

/** A component's answer waits so long for its run to end, so that both need one commit. */
const RESPONSE_HOLD_MS = 5;

/**
 * Turns a request to an endpoint into a run and its answer. An answer of 2xx means that the request, or its finished
 * run, is on disk: a run that ends soon is committed and answered in one step; a longer one has its request stored
 * first, and is run again should the server end before it.
 */
export class RequestAcceptor {
  readonly #ports: EnginePorts;
  readonly #slow: DeadlineQueue;
  readonly #unanswered: DeadlineQueue;
  readonly #held: DeadlineQueue;

  constructor(ports: EnginePorts) {
    const { clock, settings, signal } = ports;
    this.#ports = ports;
    this.#slow = new DeadlineQueue(clock, settings.acceptMs, signal);
    this.#unanswered = new DeadlineQueue(clock, settings.responseMs, signal);
    this.#held = new DeadlineQueue(clock, RESPONSE_HOLD_MS, signal);
  }

  /** Throws PD_NOT_FOUND when the source has no HTTP interface, PD_TOO_BUSY, PD_NOT_STORED. */
  async accept(live: LiveSource, trigger: HttpTrigger): Promise<HttpResponse> {
    const http = live.component.definition.props.find((prop) => prop.kind === "http");
    if (http === undefined) throw new PdError("PD_NOT_FOUND", `${live.source.slug} has no HTTP interface`);
    const { clock } = this.#ports;
    const id = invocationId(clock.now(), clock.randomText(8));
    return http.customResponse ? this.#answerCustom(live, trigger, id) : this.#answerDefault(live, trigger, id);
  }

  /** 200 as soon as the run or its request is stored. */
  #answerDefault(live: LiveSource, trigger: HttpTrigger, id: InvocationId): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      let isStoring = false;
      const cancel = this.#slow.add(() => {
        isStoring = true;
        this.#storePending(live, trigger, id).then(() => resolve(accepted(id)), reject);
      });
      live.invoke(trigger, { id, responseStatus: () => 200 }).then(
        () => resolve(accepted(id)),
        (error: unknown) => {
          if (isStoring) this.#ports.log.error("a stored request could not be run", { source: live.source.slug, id, reason: messageOf(error) });
          reject(error);
        },
      ).finally(cancel);
    });
  }

  /** What `respond` said; 200 when `run` ended without it, 500 when it threw before, 504 when neither comes in time. */
  #answerCustom(live: LiveSource, trigger: HttpTrigger, id: InvocationId): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      let status: number | undefined;
      const answer = (response: HttpResponse): void => {
        status ??= response.status;
        resolve(response);
      };
      let pending: Promise<void> | undefined;
      const store = (): Promise<void> => (pending ??= this.#storePending(live, trigger, id));
      const cancels = [
        this.#unanswered.add(() => {
          status = 504;
          store().then(() => answer(late(id)), reject);
        }),
      ];
      const onResponse = (response: HttpResponse | BadResponse): void => {
        if (status !== undefined) return;
        const usable = "problem" in response ? failed(id) : response;
        status = usable.status;
        cancels.push(this.#held.add(() => store().then(() => answer(usable), reject)));
        held = usable;
      };
      let held: HttpResponse | undefined;
      live.invoke(trigger, { id, onResponse, responseStatus: () => status }).then(
        (run) => answer(held ?? answerWithoutRespond(run)),
        (error: unknown) => reject(error),
      ).finally(() => cancels.forEach((cancel) => cancel()));
    });
  }

  #storePending({ source }: LiveSource, trigger: HttpTrigger, id: InvocationId): Promise<void> {
    return this.#ports.store.storePending({ id, sourceId: source.id, trigger, receivedAt: this.#ports.clock.now() });
  }
}

function answerWithoutRespond({ invocation }: CommittedRun): HttpResponse {
  return isFailed(invocation.outcome) ? failed(invocation.id) : accepted(invocation.id);
}

function json(status: number, id: InvocationId, body: JsonValue): HttpResponse {
  const headers = { "content-type": "application/json; charset=utf-8", "access-control-allow-origin": "*", "x-pd-invocation-id": id };
  return { status, headers, body: JSON.stringify(isRecord(body) ? { ...body, invocation_id: id } : body), encoding: "utf8" };
}

function accepted(id: InvocationId): HttpResponse {
  return json(200, id, { status: "ok" });
}

function failed(id: InvocationId): HttpResponse {
  return json(500, id, { error: "The component failed before it answered" });
}

function late(id: InvocationId): HttpResponse {
  return json(504, id, { error: "The component did not answer in time; it goes on" });
}
