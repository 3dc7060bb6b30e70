import { compileFunction } from "node:vm";
import type { EvaluateMethod } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import { jsonText } from "./state.ts";

type Evaluated = { readonly value?: unknown } | { readonly problem: string };

/** Expressions see `steps`, `$` and `event`, which workflows from before 2021 use. */
export function evaluateAll({ expressions, steps, context }: EvaluateMethod): readonly Evaluated[] {
  const event = isRecord(steps["trigger"]) ? steps["trigger"]["event"] : undefined;
  return expressions.map((source): Evaluated => {
    try {
      const evaluate = compileFunction(`"use strict"; return (${source}\n);`, ["steps", "$", "event"]);
      const value: unknown = Reflect.apply(evaluate, undefined, [steps, { context }, event]);
      // JSON conversion happens here, so that an error names the expression.
      return value === undefined ? {} : { value: JSON.parse(jsonText(value, `{{${source}}}`) ?? "null") };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  });
}
