/** What props are declared as, and what `this.<prop>` is because of it (contract: Props). */
import type { Auth, DataStore, Db, HttpInterface, HttpRequest, RespondingHttpInterface, SqlValue, TimerInterface } from "./interfaces.ts";
import type { IsUnchecked, Unchecked } from "./unchecked.ts";

/** A schedule: every so many seconds, or a cron expression. */
export type Schedule =
  | { readonly intervalSeconds: number; readonly cron?: never; readonly timezone?: never; readonly catchUp?: CatchUp }
  | { readonly cron: string; readonly timezone?: string; readonly intervalSeconds?: never; readonly catchUp?: CatchUp };
/** What becomes of the times that were missed while the server was down. */
export type CatchUp = "latest" | "skip" | "all";

/** What is asked of a method that lists choices. */
export interface OptionsContext {
  /** From 0. */
  readonly page: number;
  /** What the page before has returned as `context`. */
  readonly prevContext: Unchecked;
  /** What was typed; with `useQuery: true`. */
  readonly query?: string;
  /** Values of earlier props that a `propDefinition` hands over. */
  readonly [input: string]: Unchecked;
}

type Scalar = string | number | boolean;
export type Choice<Value> = Value | { readonly label: string; readonly value: Value };
/**
 * A list of choices, or a method that returns a page of them: a list, or `{ options, context }`. Its `this` has earlier
 * props, methods and, in an app, `$auth`; no compiler can know it while the props themselves are being read.
 */
export type Options<Value> = readonly Choice<Value>[] | ((this: Unchecked, context: OptionsContext) => void);

/** What every prop that a person fills in may say. */
export interface PropText {
  /** Shown in place of the prop's name. */
  readonly label?: string;
  /** Shown near the input; Markdown. */
  readonly description?: string;
  /** It may be left empty: `this.<prop>` is then its default, or `undefined`. */
  readonly optional?: boolean;
  /** Not asked for, and not given. */
  readonly disabled?: boolean;
  /** Not shown. */
  readonly hidden?: boolean;
  /** Its value decides which further props there are: `additionalProps` is asked again. */
  readonly reloadProps?: boolean;
}

interface ChosenProp<Type extends string, Value extends Scalar> extends PropText {
  readonly type: Type;
  readonly options?: Options<Value>;
  readonly default?: Type extends `${string}[]` ? readonly (Value | string)[] : Value | string;
  /** `this.<prop>` is `{ label, value }`. */
  readonly withLabel?: boolean;
  /** `options` gets what was typed, as `query`. */
  readonly useQuery?: boolean;
}

export interface StringProp extends ChosenProp<"string", string> {
  /** Kept sealed, never shown. */
  readonly secret?: boolean;
  /** `file-ref`: a path or an address of a file. */
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
  /** The component answers by `this.<prop>.respond()`. */
  readonly customResponse?: boolean;
}
export interface TimerProp extends PropText {
  readonly type: "$.interface.timer";
  /** Where the user gives none; without it, every hour. */
  readonly default?: Schedule;
  /** A schedule that the user may not change. */
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
/** Props that a platform's form fills in with ids of one app. */
export interface PlatformProp extends PropText {
  readonly type: `$.airtable.${string}` | `$.discord.${string}`;
  readonly appProp?: string;
  readonly baseIdProp?: string;
  readonly tableIdProp?: string;
}
/** An app: as `defineApp` or a package returns it, or `{ type: "app", app: "slack" }` without a file. */
export interface AppProp extends PropText {
  readonly type: "app";
  /** Slug of the app. */
  readonly app: string;
  readonly propDefinitions?: object;
  readonly methods?: object;
}
/** A prop as an app defines it; what is said beside `propDefinition` overrides the definition. */
export interface DefinedProp extends PropText {
  readonly type?: never;
  /** The app, the name of its definition, and what its `options` are to know: an object, or a function of earlier props. */
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

/** The type that a declaration names, by itself or by its app's definition. */
export type TypeOf<Declared> = Declared extends string
  ? Declared
  : Declared extends { readonly type: infer Type extends string }
    ? Type
    : DefinitionOf<Declared> extends { readonly type: infer Type extends string }
      ? Type
      : never;

/** What an app defines for a prop. */
type DefinitionOf<Declared> = Declared extends { readonly propDefinition: readonly [infer App, infer Name, ...unknown[]] }
  ? IsUnchecked<App> extends true
    ? Unchecked
    : App extends { readonly propDefinitions?: infer Definitions }
      ? Name extends keyof Definitions
        ? Definitions[Name]
        : Unchecked
      : Unchecked
  : never;

/** What a declaration says of itself, or its app's definition in its place. */
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

/** An app as a component uses it: its methods, and the credentials of the account. */
export type AppInstance<App> = { readonly $auth: Auth } & MethodsOf<App>;

/** Apps of other libraries declare their methods as optional. */
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

/** It may be left empty, and nothing stands in for it. */
type MayBeMissing<Declared> = Said<Declared, "optional"> extends true ? (undefined extends Said<Declared, "default"> ? true : false) : false;

/** `this.<prop>` for what is declared. */
export type ValueOf<Declared> = MayBeMissing<Declared> extends true ? ValueWhenGiven<Declared> | undefined : ValueWhenGiven<Declared>;

/** The values of all props, as members of `this`. */
export type ValuesOf<Declared> = { -readonly [Name in keyof Declared]: ValueOf<Declared[Name]> };

/** Refuses the name of a definition that the app has not. */
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
