import type { Auth, DataStore, Db, HttpInterface, HttpRequest, RespondingHttpInterface, SqlValue, TimerInterface } from "./interfaces.ts";
import type { IsUnchecked, Unchecked } from "./unchecked.ts";

export type Schedule =
  | { readonly intervalSeconds: number; readonly cron?: never; readonly timezone?: never; readonly catchUp?: CatchUp }
  | { readonly cron: string; readonly timezone?: string; readonly intervalSeconds?: never; readonly catchUp?: CatchUp };
/** Times missed while the server was down: one run for all (`latest`), no run (`skip`), or one run each (`all`). */
export type CatchUp = "latest" | "skip" | "all";

export interface OptionsContext {
  /** Number of the page, from 0. */
  readonly page: number;
  /** `context` that the method returned with the previous page. */
  readonly prevContext: Unchecked;
  /** Text typed by the user, with `useQuery: true`. */
  readonly query?: string;
  /** Values that a `propDefinition` passes. */
  readonly [input: string]: Unchecked;
}

type Scalar = string | number | boolean;
export type Choice<Value> = Value | { readonly label: string; readonly value: Value };
/**
 * A list, or a method that returns a page of choices as a list or `{ options, context }`. Its `this` has the earlier
 * props, the methods and, in an app, `$auth`: TypeScript cannot infer that while it reads the props.
 */
export type Options<Value> = readonly Choice<Value>[] | ((this: Unchecked, context: OptionsContext) => void);

export interface PropText {
  /** Shown instead of the prop's name. */
  readonly label?: string;
  /** Shown next to the input, as Markdown. */
  readonly description?: string;
  /** May be empty. `this.<prop>` is then the default or `undefined`. */
  readonly optional?: boolean;
  /** Not asked for, and without a value. */
  readonly disabled?: boolean;
  readonly hidden?: boolean;
  /** Its value decides on further props: `additionalProps` is called again. */
  readonly reloadProps?: boolean;
}

interface ChosenProp<Type extends string, Value extends Scalar> extends PropText {
  readonly type: Type;
  readonly options?: Options<Value>;
  readonly default?: Type extends `${string}[]` ? readonly (Value | string)[] : Value | string;
  /** `this.<prop>` is `{ label, value }`. */
  readonly withLabel?: boolean;
  /** `options` receives the typed text as `query`. */
  readonly useQuery?: boolean;
}

export interface StringProp extends ChosenProp<"string", string> {
  /** Stored encrypted and never shown. */
  readonly secret?: boolean;
  /** `file-ref` means a path or URL of a file. */
  readonly format?: string;
}
export interface StringsProp extends ChosenProp<"string[]", string> {
  readonly secret?: boolean;
  readonly format?: string;
}
export interface IntegerProp extends ChosenProp<"integer", number> {
  readonly min?: number;
  readonly max?: number;
}
export interface IntegersProp extends ChosenProp<"integer[]", number> {
  readonly min?: number;
  readonly max?: number;
}
export interface BooleanProp extends ChosenProp<"boolean", boolean> {}
export interface BooleansProp extends ChosenProp<"boolean[]", boolean> {}
export interface ObjectProp extends PropText {
  readonly type: "object";
  readonly default?: object | string;
}
export interface AnyProp extends PropText {
  readonly type: "any";
  readonly default?: unknown;
}
export interface HttpProp extends PropText {
  readonly type: "$.interface.http";
  /** The component answers requests itself with `this.<prop>.respond()`. */
  readonly customResponse?: boolean;
}
export interface TimerProp extends PropText {
  readonly type: "$.interface.timer";
  /** Schedule when the user gives none. Without a default, the timer runs every hour. */
  readonly default?: Schedule;
  /** A schedule that the user cannot change. */
  readonly static?: Schedule;
}
export interface AppHookProp extends PropText {
  readonly type: "$.interface.apphook";
  readonly appProp: string;
  readonly eventNames: readonly string[] | (() => void);
  readonly static?: boolean;
  readonly remote?: boolean;
}
export interface DbProp extends PropText {
  readonly type: "$.service.db";
}
export interface DataStoreProp extends PropText {
  readonly type: "data_store";
}
export interface HttpRequestProp extends PropText {
  readonly type: "http_request";
  readonly default?: object;
}
export interface SqlProp extends PropText {
  readonly type: "sql";
  readonly auth: { readonly app: string };
  readonly default?: object;
}
export interface DirProp extends PropText {
  readonly type: "dir";
  readonly accessMode?: "read" | "write" | "read-write";
  readonly sync?: boolean;
}
export interface AlertProp extends PropText {
  readonly type: "alert";
  readonly alertType?: "info" | "neutral" | "warning" | "error";
  readonly content?: string;
}
/** The hosted platform's form fills these with ids of one app. */
export interface PlatformProp extends PropText {
  readonly type: `$.airtable.${string}` | `$.discord.${string}`;
  readonly appProp?: string;
  readonly baseIdProp?: string;
  readonly tableIdProp?: string;
}
/** The result of `defineApp`, an app from a package, or `{ type: "app", app: "slack" }`. */
export interface AppProp extends PropText {
  readonly type: "app";
  readonly app: string;
  readonly propDefinitions?: object;
  readonly methods?: object;
}
/** A prop that an app defines. Attributes next to `propDefinition` override the definition. */
export interface DefinedProp extends PropText {
  readonly type?: never;
  /** The app, the definition's name, and input for its `options`: an object, or a function of earlier props. */
  readonly propDefinition: readonly [app: object, name: string, inputs?: object | ((component: Unchecked) => void)];
  readonly options?: Options<Unchecked>;
  readonly default?: unknown;
  readonly withLabel?: boolean;
  readonly useQuery?: boolean;
  readonly secret?: boolean;
  readonly min?: number;
  readonly max?: number;
}

export type PropDeclaration =
  | "$.service.db"
  | "$.interface.http"
  | "$.interface.timer"
  | StringProp
  | StringsProp
  | IntegerProp
  | IntegersProp
  | BooleanProp
  | BooleansProp
  | ObjectProp
  | AnyProp
  | HttpProp
  | TimerProp
  | AppHookProp
  | DbProp
  | DataStoreProp
  | HttpRequestProp
  | SqlProp
  | DirProp
  | AlertProp
  | PlatformProp
  | AppProp
  | DefinedProp;

export type Props = Readonly<Record<string, PropDeclaration>>;

/** The declared type, or that of the app's definition. */
export type TypeOf<Declared> = Declared extends string
  ? Declared
  : Declared extends { readonly type: infer Type extends string }
    ? Type
    : DefinitionOf<Declared> extends { readonly type: infer Type extends string }
      ? Type
      : never;

type DefinitionOf<Declared> = Declared extends { readonly propDefinition: readonly [infer App, infer Name, ...unknown[]] }
  ? IsUnchecked<App> extends true
    ? Unchecked
    : App extends { readonly propDefinitions?: infer Definitions }
      ? Name extends keyof Definitions
        ? Definitions[Name]
        : Unchecked
      : Unchecked
  : never;

/** The declared attribute, or that of the app's definition. */
type Said<Declared, Attribute extends string> =
  Declared extends Readonly<Record<Attribute, infer Value>>
    ? Value
    : Declared extends { readonly propDefinition: unknown }
      ? DefinitionOf<Declared> extends Readonly<Record<Attribute, infer Value>>
        ? Value
        : undefined
      : undefined;

interface ValueOfType {
  string: string;
  "string[]": string[];
  integer: number;
  "integer[]": number[];
  boolean: boolean;
  "boolean[]": boolean[];
  object: Record<string, Unchecked>;
  any: Unchecked;
  "$.interface.timer": TimerInterface;
  "$.interface.apphook": HttpInterface;
  "$.service.db": Db;
  data_store: DataStore;
  http_request: HttpRequest;
  sql: SqlValue;
  dir: { readonly path: string };
  alert: undefined;
}

type Labelled<Value> = Value extends (infer Item)[] ? { readonly label: string; readonly value: Item }[] : { readonly label: string; readonly value: Value };

type WithLabel<Declared, Value> = Said<Declared, "withLabel"> extends true ? Labelled<Value> : Value;

export type AppInstance<App> = { readonly $auth: Auth } & MethodsOf<App>;

/** Apps of other libraries declare `methods` as optional. */
type MethodsOf<App> = App extends { readonly methods?: infer Methods } ? (unknown extends Methods ? unknown : NonNullable<Methods>) : unknown;

type ValueWhenGiven<Declared> =
  IsUnchecked<Declared> extends true
    ? Unchecked
    : TypeOf<Declared> extends "app"
      ? AppInstance<Declared>
      : TypeOf<Declared> extends "$.interface.http"
        ? Declared extends { readonly customResponse: true }
          ? RespondingHttpInterface
          : HttpInterface
        : TypeOf<Declared> extends keyof ValueOfType
          ? WithLabel<Declared, ValueOfType[TypeOf<Declared>]>
          : Unchecked;

type MayBeMissing<Declared> = Said<Declared, "optional"> extends true ? (undefined extends Said<Declared, "default"> ? true : false) : false;

/** Type of `this.<prop>` for a declaration. */
export type ValueOf<Declared> = MayBeMissing<Declared> extends true ? ValueWhenGiven<Declared> | undefined : ValueWhenGiven<Declared>;

export type ValuesOf<Declared> = { -readonly [Name in keyof Declared]: ValueOf<Declared[Name]> };

/** Rejects names of definitions that the app does not have. */
export type WithKnownDefinitions<Declared> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { readonly propDefinition: readonly [infer App, infer Wanted, ...unknown[]] }
    ? IsUnchecked<App> extends true
      ? unknown
      : App extends { readonly propDefinitions: infer Definitions }
        ? Wanted extends keyof Definitions
          ? unknown
          : { readonly propDefinition: readonly [App, keyof Definitions, ...unknown[]] }
        : unknown
    : unknown;
};
