import { canAsk } from "../ask/can-ask.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { askProp } from "./ask-prop.ts";
import type { Question } from "../ask/answer-check.ts";
import type { AskedComponent } from "./asked-component.ts";
import type { CliContext } from "../context.ts";
import { PropWalk } from "./prop-walk.ts";

interface Asking<Value> {
  readonly props: JsonObject;
  readonly send: (props: JsonObject) => Promise<Value>;
  readonly component: AskedComponent;
  /** True asks first, and about optional props. False asks only after an error. */
  readonly isGuided: boolean;
  /** Kept when a question is aborted. */
  readonly answers?: JsonObject;
  readonly signal?: AbortSignal;
  readonly asks?: () => void;
}

/** For missing and wrong values. Throws the server's error when it cannot ask. */
export async function askingForProps<Value>(cli: CliContext, flags: { prompt?: boolean | undefined }, asking: Asking<Value>): Promise<Value> {
  const { props, send, component, isGuided, answers = {}, signal, asks } = asking;
  if (!canAsk(cli, flags)) return send(props);
  const walk = new PropWalk(cli, component, { given: props, answers, signal });
  let isWalking = isGuided && Object.keys(props).length === 0;
  if (isWalking) asks?.();
  for (;;) {
    if (isWalking) await walk.fill();
    try {
      return await send(walk.values);
    } catch (error) {
      asks?.();
      if (!(await walk.mend(error))) throw error;
      isWalking = isGuided;
    }
  }
}

/** An empty answer keeps a value with `isKept`. */
export async function askEach(
  cli: CliContext,
  questions: readonly Question[],
  { component, signal }: { component: AskedComponent; signal: AbortSignal },
): Promise<JsonObject> {
  const answers: JsonObject = {};
  for (const prop of questions) {
    const answer = await askProp(cli, prop, { signal, load: component.choices(prop, answers), component });
    if (answer === "" && prop.isKept === true) continue;
    answers[prop.name] = answer === undefined || (answer === "" && prop.optional === true) ? null : answer;
  }
  return answers;
}
