import { compileFunction } from "node:vm";
import type { EvaluateMethod } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import { jsonText } from "./state.ts";

/** What an expression has come to, or why it has come to nothing. */
type Evaluated = { readonly value?: unknown } | { readonly problem: string };

/** `{{…}}` of a workflow's props: each is one expression of JavaScript, with `steps` and `$`, and with `event`, as workflows of before 2021 have it. */
export function evaluateAll({ expressions, steps, context }: EvaluateMethod): readonly Evaluated[] {
  const event = isRecord(steps["trigger"]) ? steps["trigger"]["event"] : undefined;
  return expressions.map((source): Evaluated => {
    try {
      const evaluate = compileFunction(`"use strict"; return (${source}\n);`, ["steps", "$", "event"]);
      const value: unknown = Reflect.apply(evaluate, undefined, [steps, { context }, event]);
      // As JSON carries it: what it cannot say is told here, by the expression.
      return value === undefined ? {} : { value: JSON.parse(jsonText(value, `{{${source}}}`) ?? "null") };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  });
}
