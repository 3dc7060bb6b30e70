import { withNamedAccounts } from "../../../domain/account/account.ts";
import { PdError } from "../../../domain/errors.ts";
import { describeOutcome, type LogLine, type Method, type RunResult } from "../../../domain/run/invocation.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../../domain/text/json.ts";
import { withDynamicProps } from "../../../domain/props/declared-props.ts";
import type { PropDeclaration } from "../../../domain/props/kinds.ts";
import { type ExpressionValue, expressionsIn, valueOfPath, withExpressions } from "../../../domain/workflow/expressions.ts";
import { valuesOfStep } from "../../../domain/workflow/step-props.ts";
import type { CodeStep } from "../../../domain/workflow/workflow.ts";
import type { AccountStore } from "../../../ports/stores/account-store.ts";
import { accountFinder } from "../../accounts/accounts.ts";
import { type Configuration, dynamicPropsFor } from "../../runs/questions/configure.ts";
import type { LoadedAction } from "../../workbench/actions.ts";

export type Ask = (method: Method, values: Configuration) => Promise<RunResult>;

export interface ExpressionContext {
  readonly steps: JsonObject;
  readonly context: JsonObject;
}

/** Paths into results need no process. Throws PD_BAD_PROPS. */
export async function evaluated(value: JsonValue, { steps, context }: ExpressionContext, ask: () => Promise<Ask>): Promise<JsonValue | undefined> {
  const expressions = expressionsIn(value);
  if (expressions.length === 0) return value;
  const results = new Map<string, ExpressionValue>();
  for (const expression of expressions) {
    const found = valueOfPath(expression, steps);
    if (found !== undefined) results.set(expression, found);
  }
  const rest = expressions.filter((expression) => !results.has(expression));
  if (rest.length > 0) for (const [expression, found] of await run(rest, { steps, context }, await ask())) results.set(expression, found);
  return withExpressions(value, results);
}

async function run(expressions: readonly string[], context: ExpressionContext, ask: Ask): Promise<readonly [string, ExpressionValue][]> {
  const { outcome, returned } = await ask({ kind: "evaluate", expressions, ...context }, { configured: {}, dynamicProps: [] });
  // Another call may have ended the process.
  if (outcome.kind === "interrupted" || outcome.kind === "out-of-memory" || outcome.kind === "exited")
    throw new PdError("PD_INTERRUPTED", `Cannot evaluate ${quoted(expressions[0] ?? "")}: ${describeOutcome(outcome)}`);
  if (outcome.kind !== "returned") throw new PdError("PD_BAD_PROPS", `Cannot evaluate ${quoted(expressions[0] ?? "")}: ${describeOutcome(outcome)}`);
  const answers = parseJson(returned ?? "[]");
  return expressions.map((expression, index): [string, ExpressionValue] => {
    const answer = Array.isArray(answers) ? answers[index] : undefined;
    const { problem, value } = isJsonObject(answer) ? answer : {};
    if (problem !== undefined)
      throw new PdError("PD_BAD_PROPS", `Cannot evaluate ${quoted(expression)}: ${typeof problem === "string" ? problem : JSON.stringify(problem)}`);
    return [expression, value === undefined ? {} : { value }];
  });
}

function quoted(expression: string): string {
  return `{{${expression.length > 200 ? `${expression.slice(0, 200)}…` : expression}}}`;
}

export interface CallValues extends Configuration {
  /** Values that do not fit their declaration and are passed anyway. */
  readonly notes: readonly string[];
}

interface Given {
  readonly store: AccountStore;
  readonly loaded: LoadedAction;
  readonly ask: Ask;
  readonly step: CodeStep;
}

/** `evaluated` are the step's props. Throws PD_BAD_PROPS for a missing account or data store. */
export async function callValues({ store, loaded, ask, step }: Given, evaluated: JsonObject): Promise<CallValues> {
  const { definition } = loaded.component;
  const { name } = definition;
  const findAccount = await accountFinder(store);
  const askAdditional = (values: Configuration): Promise<RunResult> => ask({ kind: "additional-props" }, values);
  const dynamicProps = await dynamicPropsFor({ name, definition, given: evaluated, isPartial: true, ask: askAdditional, findAccount });
  const declared = withDynamicProps(definition.props, dynamicProps);
  const named = withNamedAccounts({ own: definition.props, dynamic: dynamicProps }, evaluated, findAccount);
  const { values, notes, fatal } = valuesOfStep(declared, step, named);
  if (fatal.length > 0) throw new PdError("PD_BAD_PROPS", `Cannot run ${name}: ${fatal.join("; ")}`);
  return { configured: values, dynamicProps, notes };
}

/** Values for display: no secrets, and accounts by id. */
export function shownInputs(given: JsonObject, declared: readonly PropDeclaration[]): JsonObject {
  const secret = new Set(declared.flatMap((prop) => (prop.kind === "user" && prop.secret ? [prop.name] : [])));
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, secret.has(name) ? "••••" : value]));
}

export function noteLines(notes: readonly string[], at: number): readonly LogLine[] {
  return notes.map((text) => ({ at, level: "system", text: `Passed a value that does not fit its prop: ${text}` }));
}
