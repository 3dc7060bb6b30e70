import type { JsonObject, JsonValue } from "./json.ts";
import type { CatchUp, Schedule } from "./schedule.ts";

/** The scalar types of user input props; `any` also stands for types this version does not know. */
export type ScalarType = "string" | "boolean" | "integer" | "object" | "any";

export interface PropOption {
  readonly label: string;
  readonly value: JsonValue;
}

/** What every prop that takes a value has (platform.md §4.3). */
interface Input {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional: boolean;
  /** Not shown, so nobody can be asked for it. */
  readonly hidden?: true;
  /** Its value is ignored. */
  readonly disabled?: true;
  /** Its value decides what `additionalProps` declares. */
  readonly reloadProps?: true;
}

/** User input, asked for at deploy. */
export interface UserProp extends Input {
  readonly kind: "user";
  /** As declared, e.g. `string[]`. */
  readonly type: string;
  readonly scalar: ScalarType;
  readonly isArray: boolean;
  readonly secret: boolean;
  readonly default?: JsonValue;
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly PropOption[];
  /** Choices are asked for: `options` is a method, or the type has choices of its own. */
  readonly remoteOptions: boolean;
  /** The method wants what was typed. */
  readonly useQuery?: true;
  /** The value is kept with its label; code reads `{ label, value }`. */
  readonly withLabel?: true;
}

export interface HttpProp {
  readonly kind: "http";
  readonly name: string;
  readonly customResponse: boolean;
}

export interface TimerProp {
  readonly kind: "timer";
  readonly name: string;
  readonly default: Schedule;
  /** What the component wants of missed instants, unless the user says otherwise. */
  readonly catchUp?: CatchUp;
  /** A `static` schedule may not be changed by the user (platform.md §4.2). */
  readonly isStatic: boolean;
}

/** An endpoint that the user's own app at a third party posts its events to. */
export interface AppHookProp {
  readonly kind: "app-hook";
  readonly name: string;
  /** Which events are wanted; absent: all, or the component tells by a method. */
  readonly eventNames?: readonly string[];
  /** `eventNames` is a method. */
  readonly namesByMethod?: true;
}

export interface DbProp {
  readonly kind: "db";
  readonly name: string;
}

export interface AppProp extends Input {
  readonly kind: "app";
  /** Name slug of the app. */
  readonly app: string;
}

/** A key-value store that several components share; the value is its name. */
export interface DataStoreProp extends Input {
  readonly kind: "data-store";
}

/** A request that the user describes and the component performs. */
export interface HttpRequestProp extends Input {
  readonly kind: "http-request";
  readonly default?: JsonObject;
}

/** A query in the language of the app's database. */
export interface SqlProp extends Input {
  readonly kind: "sql";
  readonly app?: string;
}

/** Shown to whoever configures; has no value. */
export interface AlertProp {
  readonly kind: "alert";
  readonly name: string;
  readonly alertType: string;
  readonly content: string;
  readonly hidden?: true;
}

/** Gives access to files under /tmp, which every run has here; has no value. */
export interface DirProp {
  readonly kind: "dir";
  readonly name: string;
  readonly accessMode?: string;
  readonly sync?: boolean;
}

export type InputProp = UserProp | AppProp | DataStoreProp | HttpRequestProp | SqlProp;
export type InterfaceProp = HttpProp | TimerProp | AppHookProp;
export type PropDeclaration = InputProp | InterfaceProp | DbProp | AlertProp | DirProp;

/** Prop name → what the user gave or a default said. Interfaces other than timers and `db` have no value. */
export type ConfiguredProps = JsonObject;

const INPUTS: readonly PropDeclaration["kind"][] = ["user", "app", "data-store", "http-request", "sql"];

export function isInput(prop: PropDeclaration): prop is InputProp {
  return INPUTS.includes(prop.kind);
}

/** Requests to the source's endpoint run it. */
export function hasEndpoint(props: readonly PropDeclaration[]): boolean {
  return props.some(({ kind }) => kind === "http" || kind === "app-hook");
}

/** Static props, with what `additionalProps` has added or changed (platform.md §4.3). */
export function withDynamicProps(declared: readonly PropDeclaration[], dynamic: readonly PropDeclaration[]): readonly PropDeclaration[] {
  if (dynamic.length === 0) return declared;
  const byName = new Map(dynamic.map((prop) => [prop.name, prop]));
  const names = new Set(declared.map(({ name }) => name));
  return [...declared.map((prop) => byName.get(prop.name) ?? prop), ...dynamic.filter(({ name }) => !names.has(name))];
}

/** Names of the data stores that these values give to a component: it reaches no others. */
export function dataStoresOf(props: readonly PropDeclaration[], configured: ConfiguredProps): readonly string[] {
  return props.flatMap(({ kind, name }) => {
    const store = kind === "data-store" ? configured[name] : undefined;
    return typeof store === "string" ? [store] : [];
  });
}
