import { PdError } from "../domain/errors.ts";
import type { DeployedId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { isSameJson } from "../domain/json.ts";
import { checkProps } from "../domain/check-props.ts";
import type { ConfiguredProps, PropDeclaration } from "../domain/prop.ts";
import { nextInstant, parseTimer } from "../domain/schedule.ts";
import type { Timer } from "../ports/timer-store.ts";
import type { EnginePorts } from "./ports.ts";

/** Declared props and given values → configured props. Throws PD_BAD_PROPS with everything that is missing or wrong. */
export function resolveProps(name: string, declared: readonly PropDeclaration[], given: JsonObject): ConfiguredProps {
  const { values, problems } = checkProps(declared, given);
  if (problems.length === 0) return values;
  const lines = problems.map(({ prop, problem }) => `\n  - ${prop} ${problem}`).join("");
  const fix = problems.some(({ isMissing }) => isMissing) ? {} : { fix: "Correct these values" };
  throw new PdError("PD_BAD_PROPS", `Cannot configure ${name}:${lines}`, { details: { problems, props: declared }, ...fix });
}

/** Values kept over an update: those whose prop is still declared. */
export function carriedProps(declared: readonly PropDeclaration[], before: ConfiguredProps): JsonObject {
  const names = new Set(declared.map((prop) => prop.name));
  return Object.fromEntries(Object.entries(before).filter(([name]) => names.has(name)));
}

export interface TimerContext {
  readonly sourceId: DeployedId;
  readonly configured: ConfiguredProps;
  /** An unchanged schedule goes on as it was planned. */
  readonly before: readonly Timer[];
}

/** The timers that a source with these props has from now on. */
export function planTimers({ clock, settings }: EnginePorts, declared: readonly PropDeclaration[], { sourceId, configured, before }: TimerContext): Timer[] {
  const now = clock.now();
  return declared.flatMap((prop) => {
    if (prop.kind !== "timer") return [];
    const parsed = parseTimer(configured[prop.name] ?? {});
    const schedule = typeof parsed === "string" ? prop.default : parsed.schedule;
    const catchUp = (typeof parsed === "string" ? undefined : parsed.catchUp) ?? settings.catchUp;
    const kept = before.find((timer) => timer.prop === prop.name && timer.catchUp === catchUp && isSameJson({ ...timer.schedule }, { ...schedule }));
    if (kept !== undefined) return [kept];
    const nextAt = nextInstant(schedule, now, now);
    return [{ sourceId, prop: prop.name, schedule, catchUp, anchorAt: now, ...(nextAt === undefined ? {} : { nextAt }) }];
  });
}
