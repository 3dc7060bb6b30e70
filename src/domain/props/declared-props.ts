import type { JsonObject, JsonValue } from "../json.ts";
import { storeIdOf } from "./data-store-prop.ts";
import { type PropDeclaration, kindOf } from "./kinds.ts";
import type { PropFacts } from "./prop-kind.ts";

/** Prop name → what the user gave or a default said. */
export type ConfiguredProps = JsonObject;

/** Static props, with what `additionalProps` has added or changed (platform.md §4.3). */
export function withDynamicProps(declared: readonly PropDeclaration[], dynamic: readonly PropDeclaration[]): readonly PropDeclaration[] {
  if (dynamic.length === 0) return declared;
  const byName = new Map(dynamic.map((prop) => [prop.name, prop]));
  const names = new Set(declared.map(({ name }) => name));
  return [...declared.map((prop) => byName.get(prop.name) ?? prop), ...dynamic.filter(({ name }) => !names.has(name))];
}

/** One entry of `configurable_props`. */
export function propFacts(prop: PropDeclaration): PropFacts {
  return kindOf(prop).facts(prop);
}

/** Its user may configure it. */
export function takesValue(prop: PropDeclaration): boolean {
  return kindOf(prop).check !== undefined;
}

/** Requests to the source's endpoint run it. */
export function hasEndpoint(props: readonly PropDeclaration[]): boolean {
  return props.some((prop) => kindOf(prop).hasEndpoint === true);
}

/** Its user sets no value, whatever was configured for an earlier version. */
export function isFixed(prop: PropDeclaration): boolean {
  return kindOf(prop).check === undefined || (prop.kind === "timer" && prop.isStatic);
}

/** Its value stands for something that has to be there, and that others have as well. */
export function isReference({ kind }: PropDeclaration): boolean {
  return kind === "app" || kind === "data-store";
}

/** Names of the data stores that these values give to a component: it reaches no others. */
export function dataStoresOf(props: readonly PropDeclaration[], configured: ConfiguredProps): readonly string[] {
  return props.flatMap(({ kind, name }) => {
    const store = kind === "data-store" ? (storeIdOf(configured[name]) ?? configured[name]) : undefined;
    return typeof store === "string" ? [store] : [];
  });
}

/** Names of the props that want a value and have none; what asks them for choices may need it. */
export function withoutValue(declared: readonly PropDeclaration[], configured: ConfiguredProps): readonly string[] {
  return declared.filter((prop) => takesValue(prop) && !isOptional(prop) && (configured[prop.name] ?? "") === "").map(({ name }) => name);
}

function isOptional(prop: PropDeclaration): boolean {
  const { optional, default: usual } = propFacts(prop);
  return optional === true || usual !== undefined;
}

/** Values that fit the declarations, made up: enough to configure a component that is only tried out. */
export function sampleProps(declared: readonly PropDeclaration[]): JsonObject {
  const samples = declared.map((prop): [string, JsonValue | undefined] => [prop.name, kindOf(prop).sample?.(prop)]);
  return Object.fromEntries(samples.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
