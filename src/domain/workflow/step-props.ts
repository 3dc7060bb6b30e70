import type { FileProblem } from "../text/bounded-yaml.ts";
import type { ComponentDefinition } from "../component/component.ts";
import { nearestTo } from "../text/did-you-mean.ts";
import { type JsonObject, type JsonValue, parseJson } from "../text/json.ts";
import { checkProps } from "../props/check-props.ts";
import { propFacts, takesValue } from "../props/declared-props.ts";
import type { PropDeclaration } from "../props/kinds.ts";
import { type UserProp, withoutLabels } from "../props/user-prop.ts";
import { expressionsIn } from "./expressions.ts";
import type { CodeStep } from "./workflow.ts";

export interface CheckedStep {
  /** With the line of the prop. */
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
}

const EDITOR_PROP = "_props_cursor";

type GivenStep = Pick<CodeStep, "namespace" | "line" | "props" | "propLines" | "written">;

/** Checks literals. Results of expressions, and props from `additionalProps`, are unknown until the step runs. */
export function checkStep(step: GivenStep, { props: declared, hasAdditionalProps }: ComponentDefinition): CheckedStep {
  const problems: FileProblem[] = [];
  const warnings: FileProblem[] = [];
  const at = (name: string, problem: string): FileProblem => ({
    line: step.propLines[name] ?? step.line,
    problem: `prop ${name} of ${step.namespace} ${problem}`,
  });
  const given = literals(declared, step);
  for (const prop of declared) {
    if (!takesValue(prop)) continue;
    const { name } = prop;
    if (isComputed(step.props[name]) || isComputed(propFacts(prop).default)) continue;
    const [problem] = checkProps([prop], name in given ? { [name]: given[name] } : {}).problems;
    if (problem === undefined) continue;
    if (problem.isMissing || hasNoMeaning(prop, given[name])) problems.push(at(name, problem.problem));
    else warnings.push(at(name, `${problem.problem}; it is passed unchanged`));
  }
  for (const { path, line, text, value } of step.written) {
    const [name = "", ...inner] = path.map(String);
    const prop = declared.find((one) => one.name === name);
    if (keepsText(prop) || isSameNumber(text, value)) continue;
    const place = [name, ...inner].join(".");
    problems.push({ line, problem: `prop ${place} of ${step.namespace} is ${text}, which a number stores as ${value}: put it in quotes to make it a string` });
  }
  if (hasAdditionalProps !== true) {
    const names = new Set(declared.map(({ name }) => name));
    const unknown = Object.keys(step.props).filter((name) => !names.has(name) && name !== EDITOR_PROP);
    for (const [index, nearest] of nearestTo(unknown, names).entries()) {
      const name = unknown[index] ?? "";
      warnings.push(at(name, `is not declared by its code${nearest}: it is ignored`));
    }
  }
  return { problems, warnings };
}

/** `notes` are about values that do not fit and are passed on anyway. */
export interface StepValues {
  readonly values: JsonObject;
  readonly notes: readonly string[];
  /** The step cannot run. */
  readonly fatal: readonly string[];
}

export function withComputedDefaults(declared: readonly PropDeclaration[], props: JsonObject): JsonObject {
  const usual = declared.flatMap((prop): [string, JsonValue][] => {
    const { default: value } = propFacts(prop);
    return value !== undefined && isComputed(value) && (props[prop.name] ?? "") === "" ? [[prop.name, value]] : [];
  });
  return { ...props, ...Object.fromEntries(usual) };
}

/** `evaluated` has the results of expressions, which are not converted, as on the hosted platform. Literals are converted to the type of the prop. */
export function valuesOfStep(declared: readonly PropDeclaration[], step: Pick<CodeStep, "props" | "written">, evaluated: JsonObject): StepValues {
  const written = literals(declared, step);
  const values: JsonObject = {};
  const notes: string[] = [];
  const fatal: string[] = [];
  for (const prop of declared) {
    const { name } = prop;
    const computed = isComputed(step.props[name]) || (!(name in step.props) && name in evaluated);
    if (prop.kind === "user" && computed && !isDisabled(prop)) {
      const value = exactValue(prop, { given: step.props[name], evaluated: evaluated[name] });
      if (value !== undefined) values[name] = value;
      if (value !== undefined && value !== null) notes.push(...checkProps([prop], { [name]: value }).problems.map(({ problem }) => `${name} ${problem}`));
      continue;
    }
    const given = prop.kind === "user" ? written[name] : evaluated[name];
    const checked = checkProps([prop], given === undefined ? {} : { [name]: given });
    Object.assign(values, checked.values);
    for (const { problem, isMissing } of checked.problems) {
      const isReference = prop.kind === "app" || prop.kind === "data-store";
      if (isReference || (isMissing && !computed)) fatal.push(`${name} ${problem}`);
      else if (given !== undefined) {
        values[name] = given;
        notes.push(`${name} ${problem}`);
      }
    }
  }
  const names = new Set(declared.map(({ name }) => name));
  return { values: { ...Object.fromEntries(Object.entries(evaluated).filter(([name]) => !names.has(name))), ...values }, notes, fatal };
}

function isDisabled(prop: UserProp): boolean {
  return prop.disabled === true;
}

/** A string for a list prop becomes a list. Labels stay only with `withLabel`. */
function exactValue(prop: UserProp, { given, evaluated }: { given: JsonValue | undefined; evaluated: JsonValue | undefined }): JsonValue | undefined {
  if (evaluated === undefined) return undefined;
  const plain = prop.withLabel === true ? evaluated : withoutLabels(evaluated);
  if (!prop.isArray) return plain;
  if (typeof plain === "string") return [plain];
  // A list in the file may mix literals and expressions.
  if (!Array.isArray(given) || !Array.isArray(plain)) return plain;
  const single = { ...prop, isArray: false };
  return plain.map((item, index) => (isComputed(given[index]) ? item : (checkProps([single], { [prop.name]: item }).values[prop.name] ?? item)));
}

/** For a string prop, a scalar keeps its spelling, such as `01067`. */
function literals(declared: readonly PropDeclaration[], { props, written }: Pick<CodeStep, "props" | "written">): JsonObject {
  const given: JsonObject = { ...props };
  for (const prop of declared) {
    const value = given[prop.name];
    if (prop.kind === "user" && value !== undefined) given[prop.name] = literalOf(prop, keepsText(prop) ? asWritten(prop.name, value, written) : value);
  }
  return given;
}

/** For a list prop, a JSON list is parsed, and other text is one item. */
function literalOf(prop: UserProp, value: JsonValue): JsonValue {
  if (typeof value !== "string" || !prop.isArray || value === "") return value;
  const read = value.trimStart().startsWith("[") ? parseJson(value) : undefined;
  return Array.isArray(read) ? read : [value];
}

function asWritten(name: string, value: JsonValue, written: CodeStep["written"]): JsonValue {
  const textAt = (...path: readonly (string | number)[]): string | undefined =>
    written.find((one) => one.path.length === path.length && one.path.every((part, index) => part === path[index]))?.text;
  if (Array.isArray(value)) return value.map((item, index) => textAt(name, index) ?? item);
  return textAt(name) ?? value;
}

function keepsText(prop: PropDeclaration | undefined): boolean {
  return prop?.kind === "user" && prop.scalar === "string";
}

function isSameNumber(text: string, value: number | boolean): boolean {
  if (typeof value === "boolean") return true;
  const digits = text.replaceAll("_", "");
  if (/^[-+]?0\d/.test(digits)) return false;
  // A fraction or exponent has several spellings.
  return !/^[-+]?\d+$/.test(digits) ? !/\d{17,}/.test(digits) : Number.isSafeInteger(value);
}

/** Such as text for a number. */
function hasNoMeaning(prop: PropDeclaration, given: JsonValue | undefined): boolean {
  if (prop.kind === "app" || prop.kind === "data-store") return typeof given !== "object";
  if (prop.kind !== "user" || typeof given !== "string") return false;
  if (prop.scalar === "integer") return given.trim() === "" || !Number.isSafeInteger(Number(given));
  if (prop.scalar === "boolean") return given !== "true" && given !== "false";
  return prop.scalar === "object" && !prop.isArray;
}

function isComputed(value: JsonValue | undefined): boolean {
  return value !== undefined && expressionsIn(value).length > 0;
}
