import type { JsonObject } from "../../../domain/text/json.ts";
import { timerEvent } from "../../../domain/run/trigger.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { TimerStore } from "../../../ports/stores/timer-store.ts";
import type { LiveSource } from "../source/live-source.ts";

interface ManualPorts {
  readonly clock: Clock;
  readonly store: Pick<TimerStore, "listTimers">;
}

/** Defaults to the first timer's event, otherwise to that of an empty HTTP request. */
export async function manualEvent({ clock, store }: ManualPorts, live: LiveSource): Promise<JsonObject> {
  const now = clock.now();
  const [timer] = await store.listTimers([live.source.id]);
  if (timer !== undefined) return timerEvent({ plannedAt: now, schedule: timer.schedule });
  const timestamp = Math.floor(now / 1000);
  const isHttp = live.definition.props.some(({ kind }) => kind === "http");
  return isHttp ? { timestamp, method: "GET", path: "/", url: `${live.endpoint}/`, query: {}, headers: {}, body: {}, bodyRaw: "", rawBody: "" } : { timestamp };
}
