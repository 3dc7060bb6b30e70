import { nearestTo } from "../text/did-you-mean.ts";
import { type JsonObject, type JsonValue, isSameJson, textAsJson } from "../text/json.ts";
import type { ConfiguredProps } from "./declared-props.ts";
import { type PropDeclaration, kindOf } from "./kinds.ts";
import { type CheckedProp, isNothing } from "./prop-kind.ts";

export interface PropProblem {
  readonly prop: string;
  readonly problem: string;
  readonly isMissing: boolean;
}

export interface CheckedProps {
  readonly values: ConfiguredProps;
  readonly problems: readonly PropProblem[];
}

/** Fills in defaults, converts text, and collects all problems. */
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
  for (const [index, name] of unknown.entries())
    problems.push({ prop: name, problem: `is not a prop of the component${nearest[index] ?? ""}`, isMissing: false });
  return { values, problems };
}

function isSecretInput(prop: PropDeclaration): boolean {
  return prop.kind === "user" && prop.secret;
}

function withoutValue(problem: string): string {
  return problem.replace(/, got .*$/s, ", got another value");
}

/** Values that do not fit stay unchanged. */
export function readableProps(declared: readonly PropDeclaration[], given: JsonObject): JsonObject {
  return { ...given, ...checkProps(declared, given).values };
}

/** Omits schedules, which do not follow a changed default. */
export function defaultsAmong(declared: readonly PropDeclaration[], values: JsonObject): JsonObject {
  const { values: usual } = checkProps(
    declared.filter(({ kind }) => kind !== "timer"),
    {},
  );
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => Object.hasOwn(usual, name) && isSameJson(usual[name], value)));
}

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
  // The user cannot fill in a hidden prop.
  return checked.isMissing === true && hidden === true ? {} : checked;
}

/** The API shows server-provided values as objects. Callers may send those back. */
function withoutInput(prop: PropDeclaration, given: JsonValue | undefined): CheckedProp {
  if (isNothing(given) || kindOf(prop).isGivenByServer !== true) return {};
  const read = typeof given === "string" ? textAsJson(given) : given;
  return typeof read === "object" ? {} : { problem: `does not accept a value, got ${JSON.stringify(given)}` };
}
