import { PdError } from "../../../domain/errors.ts";
import type { HttpResponse } from "../../../domain/run/invocation.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { messageIdOf } from "../../../domain/delivery/message.ts";
import type { HttpTrigger } from "../../../domain/run/trigger.ts";
import { bindingOf } from "../../../domain/workflow/binding.ts";
import type { DeliveryStore } from "../../../ports/stores/delivery-store.ts";
import type { LiveSource } from "../../runs/source/live-source.ts";
import type { Answers } from "./answers.ts";
import type { LiveWorkflow } from "./live-workflow.ts";
import type { WorkflowPlan } from "../plan.ts";

export interface RequestPorts {
  readonly answers: Answers;
  readonly store: Pick<DeliveryStore, "countPending">;
  readonly settings: {
    readonly responseMs: number;
  };
}

export class WorkflowRequests {
  readonly #ports: RequestPorts;
  readonly #workflowOf: (id: string) => LiveWorkflow | undefined;

  /** `workflowOf` throws PD_DATABASE_DAMAGED. */
  constructor(ports: RequestPorts, workflowOf: (id: string) => LiveWorkflow | undefined) {
    this.#ports = ports;
    this.#workflowOf = workflowOf;
  }

  /** Undefined, with nothing stored, when no run of this workflow answers. Throws PD_TOO_BUSY, PD_DATABASE_DAMAGED. */
  async answer(trigger: LiveSource, request: HttpTrigger): Promise<HttpResponse | undefined> {
    const live = this.#workflowOf(trigger.source.workflowId ?? "");
    if (live === undefined) return undefined;
    const plan = await live.plan();
    const isWaitedFor = isAnswered(plan, bindingOf(live.source.configured).triggers.indexOf(trigger.source.id));
    await this.#requireRoom(live, plan);
    return isWaitedFor ? this.#afterRun(trigger, request) : undefined;
  }

  /** The client learns that its request was not accepted. */
  async #requireRoom({ id, source }: LiveWorkflow, { workflow }: WorkflowPlan): Promise<void> {
    const most = workflow.settings.queue;
    if (most === undefined) return;
    const pending = await this.#ports.store.countPending(id);
    if (pending >= most) throw new PdError("PD_TOO_BUSY", `Cannot accept a request to ${source.slug}: ${pending} messages are waiting`);
  }

  async #afterRun(trigger: LiveSource, request: HttpTrigger): Promise<HttpResponse> {
    const { answers, settings } = this.#ports;
    const { stored, invocation } = await trigger.invoke(request);
    const [event] = stored.events;
    const workflowId = trigger.source.workflowId ?? "";
    const waiting = { workflowId, withinMs: settings.responseMs };
    const isGone = this.#workflowOf(workflowId) === undefined;
    const answer = isGone ? "gone" : event === undefined ? undefined : await answers.of(messageIdOf(trigger.source.id, event), waiting);
    if (answer === "gone") return plainAnswer(410, { error: "The workflow was deleted before it answered", invocation_id: invocation.id });
    if (answer === "late") return plainAnswer(504, { error: "The workflow did not answer in time. It is still running", invocation_id: invocation.id });
    return answer ?? plainAnswer(400, { error: "No $.respond called in workflow", invocation_id: invocation.id });
  }
}

/** Defaults to true when a step calls `respond`. */
function isAnswered({ workflow, steps }: WorkflowPlan, index: number): boolean {
  const trigger = workflow.triggers[index];
  if (trigger?.kind !== "http") return false;
  return trigger.customResponse ?? [...steps.values()].some(({ bundle }) => bundle.code.includes(".respond("));
}

function plainAnswer(status: number, body: JsonObject): HttpResponse {
  return { status, headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(body), encoding: "utf8" };
}
