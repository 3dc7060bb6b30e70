import { canAsk } from "../ask/can-ask.ts";
import type { JsonObject } from "../../domain/json.ts";
import { askProp } from "./ask-prop.ts";
import type { Question } from "../ask/answer-check.ts";
import type { AskedComponent } from "./asked-component.ts";
import type { CliContext } from "../context.ts";
import { PropWalk } from "./prop-walk.ts";

interface Asking<Value> {
  /** What was given without asking. */
  readonly props: JsonObject;
  readonly send: (props: JsonObject) => Promise<Value>;
  readonly component: AskedComponent;
  /** The person is asked from the beginning, about optional props as well; else only for what turns out to be missing. */
  readonly isGuided: boolean;
  /** Answers, kept also when a question is taken back. */
  readonly answers?: JsonObject;
  /** Takes a question back: it is no longer the one to ask. */
  readonly signal?: AbortSignal;
  /** Told when questions may begin. */
  readonly asks?: () => void;
}

/**
 * Sends a request with the values that were given and answered; what turns out to be missing or wrong is asked for.
 * Without a person at the terminal the error, which says what is missing, stands.
 */
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

/** Asks for a value of each prop of a source; for one with `isKept` no answer means the value that it has. */
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
