import type { Clock } from "../../ports/clock.ts";
import type { EngineSettings } from "../../ports/engine-settings.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import { isSameJson } from "../../domain/text/json.ts";
import type { PropDeclaration } from "../../domain/props/kinds.ts";
import { nextInstant, parseTimer } from "../../domain/timer/schedule.ts";
import type { Timer } from "../../ports/stores/timer-store.ts";

export interface TimerContext {
  readonly source: DeployedComponent;
  /** A timer with the same schedule keeps its plan. */
  readonly before: readonly Timer[];
}

export function planTimers(
  { clock, settings }: { readonly clock: Clock; readonly settings: Pick<EngineSettings, "catchUp"> },
  declared: readonly PropDeclaration[],
  { source, before }: TimerContext,
): Timer[] {
  const now = clock.now();
  return declared.flatMap((prop) => {
    if (prop.kind !== "timer") return [];
    const parsed = parseTimer(source.configured[prop.name] ?? {});
    const schedule = typeof parsed === "string" ? prop.default : parsed.schedule;
    const catchUp = (typeof parsed === "string" ? undefined : parsed.catchUp) ?? settings.catchUp;
    const kept = before.find((timer) => timer.prop === prop.name && timer.catchUp === catchUp && isSameJson({ ...timer.schedule }, { ...schedule }));
    if (kept !== undefined) return [kept];
    const nextAt = nextInstant(schedule, now, now);
    return [{ sourceId: source.id, prop: prop.name, schedule, catchUp, anchorAt: now, ...(nextAt === undefined ? {} : { nextAt }) }];
  });
}
