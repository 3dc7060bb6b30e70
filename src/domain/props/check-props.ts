import { nearestTo } from "../did-you-mean.ts";
import { type JsonObject, type JsonValue, isSameJson, textAsJson } from "../json.ts";
import type { ConfiguredProps } from "./declared-props.ts";
import { type PropDeclaration, kindOf } from "./kinds.ts";
import { type CheckedProp, isNothing } from "./prop-kind.ts";

export interface PropProblem {
  readonly prop: string;
  readonly problem: string;
  /** Nothing was given: asking for it would help. */
  readonly isMissing: boolean;
}

export interface CheckedProps {
  readonly values: ConfiguredProps;
  readonly problems: readonly PropProblem[];
}

/** Holds given values against declarations: defaults filled in, text turned into the declared type, every problem told. */
export function checkProps(declared: readonly PropDeclaration[], given: JsonObject): CheckedProps {
  const values: ConfiguredProps = {};
  const problems: PropProblem[] = [];
  for (const prop of declared) {
    const result = checkProp(prop, Object.hasOwn(given, prop.name) ? given[prop.name] : undefined);
    const { problem } = result;
    if (problem !== undefined)
      problems.push({ prop: prop.name, problem: isSecretInput(prop) ? withoutValue(problem) : problem, isMissing: result.isMissing === true });
    else if (result.value !== undefined) values[prop.name] = result.value;
  }
  const names = new Set(declared.map((prop) => prop.name));
  const unknown = Object.keys(given).filter((key) => !names.has(key) && given[key] !== undefined);
  const nearest = nearestTo(unknown, names);
  for (const [index, name] of unknown.entries()) problems.push({ prop: name, problem: `is no prop of the component${nearest[index] ?? ""}`, isMissing: false });
  return { values, problems };
}

function isSecretInput(prop: PropDeclaration): boolean {
  return prop.kind === "user" && prop.secret;
}

/** Problems end with the value that was given. */
function withoutValue(problem: string): string {
  return problem.replace(/, not .*$/s, ", and it is something else");
}

/** Given values in their declared types, as far as they fit; what is not declared stays as it is. */
export function readableProps(declared: readonly PropDeclaration[], given: JsonObject): JsonObject {
  return { ...given, ...checkProps(declared, given).values };
}

/**
 * Those values that are what their declarations say where nobody fills them in. Schedules are none: a default that its
 * author changes leaves a schedule as it is (platform.md §3.3).
 */
export function defaultsAmong(declared: readonly PropDeclaration[], values: JsonObject): JsonObject {
  const { values: usual } = checkProps(
    declared.filter(({ kind }) => kind !== "timer"),
    {},
  );
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => Object.hasOwn(usual, name) && isSameJson(usual[name], value)));
}

/** Declarations whose defaults are these. */
export function withDefaults(declared: readonly PropDeclaration[], defaults: JsonObject): readonly PropDeclaration[] {
  return declared.map((prop) => {
    if (prop.kind !== "user" || prop.default === undefined || !Object.hasOwn(defaults, prop.name)) return prop;
    return { ...prop, default: defaults[prop.name] ?? null };
  });
}

function checkProp(prop: PropDeclaration, given: JsonValue | undefined): CheckedProp {
  const { disabled, hidden } = "optional" in prop ? prop : {};
  if (disabled === true) return {};
  const kind = kindOf(prop);
  const checked = kind.check === undefined ? withoutInput(prop, given) : kind.check(prop, given);
  // Nobody can fill in what is not shown.
  return checked.isMissing === true && hidden === true ? {} : checked;
}

/** What a list shows of one that the server fills, such as its endpoint, may be given back with the values. */
function withoutInput(prop: PropDeclaration, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given) || kindOf(prop).isGivenByServer !== true) return {};
  const read = typeof given === "string" ? textAsJson(given) : given;
  return typeof read === "object" ? {} : { problem: `takes no value, not ${JSON.stringify(given)}` };
}
