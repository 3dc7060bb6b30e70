import type { JsonObject, JsonValue } from "../text/json.ts";
import { storeIdOf } from "./data-store-prop.ts";
import { type PropDeclaration, kindOf } from "./kinds.ts";
import type { PropFacts } from "./prop-kind.ts";

export type ConfiguredProps = JsonObject;

/** Dynamic props replace static props of the same name. */
export function withDynamicProps(declared: readonly PropDeclaration[], dynamic: readonly PropDeclaration[]): readonly PropDeclaration[] {
  if (dynamic.length === 0) return declared;
  const byName = new Map(dynamic.map((prop) => [prop.name, prop]));
  const names = new Set(declared.map(({ name }) => name));
  return [...declared.map((prop) => byName.get(prop.name) ?? prop), ...dynamic.filter(({ name }) => !names.has(name))];
}

export function propFacts(prop: PropDeclaration): PropFacts {
  return kindOf(prop).facts(prop);
}

export function takesValue(prop: PropDeclaration): boolean {
  return kindOf(prop).check !== undefined;
}

export function hasEndpoint(props: readonly PropDeclaration[]): boolean {
  return props.some((prop) => kindOf(prop).hasEndpoint === true);
}

/** The user cannot set the value, even when an earlier version allowed it. */
export function isFixed(prop: PropDeclaration): boolean {
  return kindOf(prop).check === undefined || (prop.kind === "timer" && prop.isStatic);
}

/** The value names something that must exist and may be shared. */
export function isReference({ kind }: PropDeclaration): boolean {
  return kind === "app" || kind === "data-store";
}

/** The only data stores that the component may use. */
export function dataStoresOf(props: readonly PropDeclaration[], configured: ConfiguredProps): readonly string[] {
  return props.flatMap(({ kind, name }) => {
    const store = kind === "data-store" ? (storeIdOf(configured[name]) ?? configured[name]) : undefined;
    return typeof store === "string" ? [store] : [];
  });
}

/** Required props only. Choices of other props may need them. */
export function withoutValue(declared: readonly PropDeclaration[], configured: ConfiguredProps): readonly string[] {
  return declared.filter((prop) => takesValue(prop) && !isOptional(prop) && (configured[prop.name] ?? "") === "").map(({ name }) => name);
}

function isOptional(prop: PropDeclaration): boolean {
  const { optional, default: usual } = propFacts(prop);
  return optional === true || usual !== undefined;
}

/** Made-up values for a component that is only tried out. */
export function sampleProps(declared: readonly PropDeclaration[]): JsonObject {
  const samples = declared.map((prop): [string, JsonValue | undefined] => [prop.name, kindOf(prop).sample?.(prop)]);
  return Object.fromEntries(samples.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
