import type { WorkflowId } from "../../../domain/ids.ts";
import { Turns } from "../../../domain/source/turns.ts";
import type { WorkflowSettings } from "../../../domain/workflow/workflow.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { WorkflowStore } from "../../../ports/stores/workflow-store.ts";

interface ThrottlePorts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly store: Pick<WorkflowStore, "countBegun">;
}

interface Throttled {
  readonly workflowId: WorkflowId;
  readonly limit: () => Promise<WorkflowSettings["throttle"]>;
}

/** Messages beyond the limit of a time window wait in order of arrival. */
export class Throttle {
  readonly #ports: ThrottlePorts;
  readonly #throttled: Throttled;
  #onTheirWay = 0;
  readonly #turns = new Turns();
  #change = new AbortController();

  constructor(ports: ThrottlePorts, throttled: Throttled) {
    this.#ports = ports;
    this.#throttled = throttled;
  }

  changed(): void {
    this.#change.abort();
    this.#change = new AbortController();
  }

  /** The message counts as in flight until the returned function is called. Also resolves when the server stops. */
  async admitted(): Promise<() => void> {
    if ((await this.#throttled.limit()) === undefined) return () => {};
    await this.#turns.take(() => this.#untilRoom());
    let isOver = false;
    return () => {
      if (!isOver) this.#onTheirWay--;
      isOver = true;
    };
  }

  async #untilRoom(): Promise<void> {
    const { store, clock, signal } = this.#ports;
    while (!signal.aborted) {
      const limit = await this.#throttled.limit();
      const windowMs = (limit?.seconds ?? 0) * 1000;
      const begin = windowMs === 0 ? 0 : Math.floor(clock.now() / windowMs) * windowMs;
      const hasRoom = limit === undefined || (await store.countBegun(this.#throttled.workflowId, begin)) + this.#onTheirWay < limit.runs;
      if (hasRoom) break;
      await clock.sleepUntil(begin + windowMs, AbortSignal.any([signal, this.#change.signal]));
    }
    this.#onTheirWay++;
  }
}
