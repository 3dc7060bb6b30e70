import { type FindAccount, withNamedAccounts } from "../../../domain/account/account.ts";
import type { ComponentDefinition } from "../../../domain/component/component.ts";
import { type PropProblem, checkProps, defaultsAmong } from "../../../domain/props/check-props.ts";
import { type ConfiguredProps, isFixed, isReference, propFacts, withDynamicProps } from "../../../domain/props/declared-props.ts";
import { PdError } from "../../../domain/errors.ts";
import { type RunResult, outcomeDetails, reasonOf } from "../../../domain/run/invocation.ts";
import { type JsonObject, isSameJson, parseJson } from "../../../domain/text/json.ts";
import type { PropDeclaration } from "../../../domain/props/kinds.ts";
import { readProps } from "../../../domain/props/read-props.ts";

export interface Configuration {
  readonly configured: ConfiguredProps;
  readonly dynamicProps: readonly PropDeclaration[];
}

export type AskAdditionalProps = (values: Configuration) => Promise<RunResult>;

export interface Configuring {
  readonly name: string;
  readonly definition: ComponentDefinition;
  readonly given: JsonObject;
  /** Values of props that are no longer declared are dropped. */
  readonly kept?: JsonObject;
  /** Props that were declared for `kept`. */
  readonly keptFor?: readonly PropDeclaration[];
  /** The code or other values changed, so values that were only defaults become the current defaults. */
  readonly followsDefaults?: boolean;
  /** Values of props that were not declared recently. They are used again when they fit a current declaration. */
  readonly setAside?: JsonObject;
  readonly isPartial?: true;
  readonly ask: AskAdditionalProps;
  readonly findAccount: FindAccount;
}

export type GivenValues = Pick<Configuring, "given" | "kept" | "keptFor" | "followsDefaults">;

/** Each round may declare further props. A component that never settles gets its last answer. */
const MOST_ROUNDS = 10;

/**
 * Throws PD_BAD_PROPS with all problems, PD_ADDITIONAL_PROPS_FAILED when `additionalProps` fails or declares invalid
 * props.
 */
export async function configure(configuring: Configuring): Promise<Configuration> {
  const { name, definition, given, findAccount } = configuring;
  const dynamicProps = await dynamicPropsFor(configuring);
  const declared = withDynamicProps(definition.props, dynamicProps);
  const named = withNamedAccounts({ own: definition.props, dynamic: dynamicProps }, given, findAccount);
  const { values, problems } = checkProps(declared, { ...valuesBefore(configuring, declared), ...named });
  if (problems.length > 0) throw badProps(name, declared, problems);
  return { configured: values, dynamicProps };
}

/** Dynamic props can change what `additionalProps` declares, so it is called until two answers are the same. */
export async function dynamicPropsFor(configuring: Configuring): Promise<readonly PropDeclaration[]> {
  const { name, definition, given, isPartial, ask, findAccount } = configuring;
  if (definition.hasAdditionalProps !== true) return [];
  let dynamicProps: readonly PropDeclaration[] = [];
  const seen = new Map(definition.props.map((prop) => [prop.name, prop]));
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const declared = withDynamicProps(definition.props, dynamicProps);
    const { values, problems } = checkProps(declared, {
      ...valuesBefore(configuring, declared),
      ...pick(withNamedAccounts({ own: definition.props, dynamic: dynamicProps }, given, findAccount), declared),
    });
    const ownProblems = problems.filter(({ prop }) => definition.props.some((own) => own.name === prop) && !dynamicProps.some((other) => other.name === prop));
    if (ownProblems.length > 0 && isPartial !== true) throw badProps(name, definition.props, ownProblems);
    const next = readAnswer(name, await ask({ configured: values, dynamicProps }));
    requireSameReferences(configuring, seen, next);
    if (isSameDeclarations(next, dynamicProps)) return next;
    dynamicProps = next;
  }
  return dynamicProps;
}

type Before = Pick<Configuring, "kept" | "keptFor" | "followsDefaults" | "setAside"> & Partial<Pick<Configuring, "definition">>;

export function valuesBefore(
  { kept = {}, keptFor = [], followsDefaults = false, setAside = {}, definition }: Before,
  declared: readonly PropDeclaration[],
): JsonObject {
  const given = open(declared);
  // A dynamic prop must not turn a string that was set aside into the name of a data store.
  const isOwn = (prop: PropDeclaration): boolean => definition?.props.some(({ name, kind }) => name === prop.name && kind === prop.kind) === true;
  const returning = given.filter((prop) => Object.hasOwn(setAside, prop.name) && (prop.kind !== "data-store" || isOwn(prop)));
  const defaults = defaultsAmong(keptFor, kept);
  // A former default that is no longer valid (a third party's choices changed) is dropped without an error, and never converted.
  const isStaying = (prop: PropDeclaration): boolean =>
    !followsDefaults && isSameJson(checkProps([prop], pick(kept, [prop])).values[prop.name], kept[prop.name]);
  const isFilledIn = (prop: PropDeclaration): boolean => !Object.hasOwn(defaults, prop.name) || propFacts(prop).default === undefined || isStaying(prop);
  const isSameKind = (prop: PropDeclaration): boolean =>
    keptFor.every((known) => known.name !== prop.name || known.kind === prop.kind || !(isReference(prop) || isReference(known)));
  const filledIn = given.filter((prop) => isFilledIn(prop) && isSameKind(prop));
  return { ...checkProps(returning, pick(setAside, returning)).values, ...pick(kept, filledIn) };
}

/**
 * Throws PD_ADDITIONAL_PROPS_FAILED when a value would become an account or data store that it was not given for, or
 * the reverse.
 */
function requireSameReferences({ name, given }: Configuring, seen: Map<string, PropDeclaration>, next: readonly PropDeclaration[]): void {
  for (const prop of next) {
    const known = seen.get(prop.name) ?? prop;
    seen.set(prop.name, prop);
    if (known.kind === prop.kind || !(isReference(known) || isReference(prop)) || !Object.hasOwn(given, prop.name)) continue;
    throw new PdError(
      "PD_ADDITIONAL_PROPS_FAILED",
      `Cannot configure ${name}: its additionalProps declared "${prop.name}" as ${propFacts(prop).type}, which was ${propFacts(known).type}`,
      { fix: "Use another name: a value never becomes an account or data store that it was not given for" },
    );
  }
}

function readAnswer(name: string, { outcome, returned }: RunResult): readonly PropDeclaration[] {
  if (outcome.kind !== "returned") {
    throw new PdError("PD_ADDITIONAL_PROPS_FAILED", `Cannot configure ${name}: its additionalProps failed: ${reasonOf(outcome)}`, {
      details: outcomeDetails(outcome),
    });
  }
  const { props, problems } = readProps(parseJson(returned ?? "{}") ?? {});
  if (problems.length === 0) return props;
  throw new PdError("PD_ADDITIONAL_PROPS_FAILED", `Cannot configure ${name}: its additionalProps declared an invalid prop: ${problems.join("; ")}`);
}

function isSameDeclarations(left: readonly PropDeclaration[], right: readonly PropDeclaration[]): boolean {
  return isSameJson(parseJson(JSON.stringify(left)), parseJson(JSON.stringify(right)));
}

function open(declared: readonly PropDeclaration[]): readonly PropDeclaration[] {
  return declared.filter((prop) => !isFixed(prop));
}

function pick(given: JsonObject, declared: readonly PropDeclaration[]): JsonObject {
  const names = new Set(declared.map(({ name }) => name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name)));
}

function badProps(name: string, declared: readonly PropDeclaration[], problems: readonly PropProblem[]): PdError {
  const lines = problems.map(({ prop, problem }) => `\n  - ${prop} ${problem}`).join("");
  const fix = problems.some(({ isMissing }) => isMissing) ? {} : { fix: "Correct these values" };
  return new PdError("PD_BAD_PROPS", `Cannot configure ${name}:${lines}`, { details: { problems, props: declared.map(propFacts) }, ...fix });
}
