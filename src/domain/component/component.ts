import { BARE_FUNCTION } from "./bare-function.ts";
import type { DedupeStrategy } from "../event/dedupe.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { isRecord } from "../text/json.ts";
import type { PropDeclaration } from "../props/kinds.ts";
import { readProps } from "../props/read-props.ts";

export type HookName = "deploy" | "activate" | "deactivate";

export interface ComponentDefinition {
  readonly name: string;
  readonly version: string;
  readonly key?: string;
  readonly description?: string;
  /** `workflow` comes from a folder, never from code. */
  readonly type: "source" | "action" | "app" | "workflow";
  readonly dedupe?: DedupeStrategy;
  readonly props: readonly PropDeclaration[];
  readonly hooks: readonly HookName[];
  readonly hasAdditionalProps?: true;
  readonly hasSample?: true;
  readonly warnings: readonly string[];
}

export type ReadDefinition =
  | { readonly kind: "valid"; readonly definition: ComponentDefinition }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export function readStepDefinition(raw: unknown, code: string, namespace: string): ReadDefinition {
  if (raw === BARE_FUNCTION) return readDefinition({ name: namespace, version: STEP_VERSION, type: "action", hasRun: true }, code);
  if (!isRecord(raw)) return readDefinition(raw, code);
  const { name, version, key: _unpublished, ...rest } = raw;
  return readDefinition({ ...rest, name: isText(name) ? name : namespace, version: isText(version) ? version : STEP_VERSION, type: "action" }, code);
}

const STEP_VERSION = "0.0.0";

/** Apps that do not use their account still list its field names. */
function readsAccount(code: string): boolean {
  return code.split("\n").some((line) => !/^\s*(?:\/\/|\*)/.test(line) && line.replaceAll("Object.keys(this.$auth)", "").includes("$auth"));
}

/** Limit for name, version, key and quoted values. */
const MOST_CHARACTERS = 300;
const MOST_PROBLEMS = 20;
const HOOKS: readonly HookName[] = ["deploy", "activate", "deactivate"];

/**
 * Returns all problems. Ignores unknown keys. App props become optional when `code`, the bundle, does not read `$auth`.
 */
export function readDefinition(raw: unknown, code: string): ReadDefinition {
  if (!isRecord(raw)) return { kind: "invalid", problems: [`the default export is ${raw === undefined ? "missing" : describe(raw)}; expected an object`] };
  const type = raw["type"] === "action" || raw["type"] === "app" ? raw["type"] : "source";
  const { props: declared, problems: propProblems, warnings } = readProps(raw["props"]);
  const props = readsAccount(code) ? declared : declared.map((prop) => (prop.kind === "app" ? { ...prop, optional: true } : prop));
  const dedupe = readDedupe(raw["dedupe"]);
  const problems = [
    ...(isText(raw["name"]) ? [] : [`name is ${describe(raw["name"])}; expected a non-empty string`]),
    ...(isText(raw["version"]) ? [] : [`version is ${describe(raw["version"])}; expected a string such as "0.0.1"`]),
    ...(raw["hasRun"] === true || isStandIn(type, props) ? [] : ["run is missing; expected a method, called for each event"]),
    ...(dedupe === "invalid" && type === "source"
      ? [`dedupe is ${describe(raw["dedupe"])}; expected "unique", "greatest" or "last"${isText(raw["dedupe"]) ? didYouMean(raw["dedupe"], STRATEGIES) : ""}`]
      : []),
    ...["name", "version", "key"].flatMap((member) => tooLong(member, raw[member])),
    ...propProblems.slice(0, MOST_PROBLEMS),
    ...(propProblems.length > MOST_PROBLEMS ? [`${propProblems.length - MOST_PROBLEMS} more props are not valid`] : []),
  ];
  if (problems.length > 0) return { kind: "invalid", problems };
  const named: unknown[] = Array.isArray(raw["hooks"]) ? raw["hooks"] : [];
  const hooks = HOOKS.filter((hook) => named.includes(hook));
  const unknownHooks = named
    .filter((name) => !HOOKS.some((hook) => hook === name))
    .map((name) => `hook ${String(name)} is never called: the hooks are ${HOOKS.join(", ")}`);
  const definition: ComponentDefinition = {
    name: String(raw["name"]),
    version: String(raw["version"]),
    type,
    props,
    hooks,
    warnings: [...warnings, ...unknownHooks],
    ...(raw["hasAdditionalProps"] === true ? { hasAdditionalProps: true } : {}),
    ...(raw["hasSample"] === true ? { hasSample: true } : {}),
    ...(isText(raw["key"]) ? { key: raw["key"] } : {}),
    ...(isText(raw["description"]) ? { description: raw["description"] } : {}),
    ...(dedupe === undefined || dedupe === "invalid" ? {} : { dedupe }),
  };
  return { kind: "valid", definition };
}

function tooLong(member: string, value: unknown): string[] {
  const isIt = typeof value === "string" && value.length > MOST_CHARACTERS;
  return isIt ? [`${member} has ${value.length} characters; expected at most ${MOST_CHARACTERS}`] : [];
}

/** A source without `run` emits what triggers it. */
function isStandIn(type: string, props: readonly PropDeclaration[]): boolean {
  return type === "source" && props.some(({ kind }) => kind === "timer" || kind === "http");
}

const STRATEGIES: readonly DedupeStrategy[] = ["unique", "greatest", "last"];

function readDedupe(raw: unknown): DedupeStrategy | undefined | "invalid" {
  if (raw === undefined || raw === null) return undefined;
  return STRATEGIES.find((strategy) => strategy === raw) ?? "invalid";
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  return typeof value === "function" ? "a function" : (JSON.stringify(value) ?? typeof value).slice(0, MOST_CHARACTERS);
}
