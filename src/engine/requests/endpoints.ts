import type { HttpResponse } from "../../domain/run/invocation.ts";
import type { HttpTrigger } from "../../domain/run/trigger.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import type { RequestAcceptor } from "./accept-request.ts";

interface EndpointPorts {
  /** Undefined when no source has this key. */
  sourceOf(endpointKey: string): LiveSource | undefined;
  /** Hands a request to the workflow that owns the source. Undefined when the source answers itself. */
  answerOfWorkflow(live: LiveSource, trigger: HttpTrigger): Promise<HttpResponse | undefined>;
  readonly acceptor: RequestAcceptor;
}

/** Only active sources have an endpoint. */
export class Endpoints {
  readonly #ports: EndpointPorts;

  constructor(ports: EndpointPorts) {
    this.#ports = ports;
  }

  has(endpointKey: string): boolean {
    return this.#ports.sourceOf(endpointKey)?.source.active === true;
  }

  /** Undefined when no active source has this key. */
  async accept(endpointKey: string, trigger: HttpTrigger): Promise<HttpResponse | undefined> {
    const live = this.#ports.sourceOf(endpointKey);
    if (live?.source.active !== true) return undefined;
    const answer = live.source.workflowId === undefined ? undefined : await this.#ports.answerOfWorkflow(live, trigger);
    return answer ?? this.#ports.acceptor.accept(live, trigger);
  }
}
