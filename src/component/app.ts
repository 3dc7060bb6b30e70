import type { Auth } from "./interfaces.ts";
import type { AnyProp, BooleanProp, BooleansProp, IntegerProp, IntegersProp, ObjectProp, StringProp, StringsProp } from "./props.ts";

export type PropDefinitions = Readonly<
  Record<string, StringProp | StringsProp | IntegerProp | IntegersProp | BooleanProp | BooleansProp | ObjectProp | AnyProp>
>;

/** What an app's file exports: how its account is used, and props that components reuse. */
export interface AppDefinition<Definitions, Methods> {
  readonly type: "app";
  /** Slug of the app, by which accounts are found. */
  readonly app: string;
  /** Props that components take over by `propDefinition`; `this` in their `options` is the app. */
  readonly propDefinitions?: Definitions;
  /** Called as `this.<name>()` in the app, and as `this.<appProp>.<name>()` in components. */
  readonly methods?: Methods;
}

/** An app, as components import it. */
export interface App<Definitions, Methods> {
  readonly type: "app";
  readonly app: string;
  readonly propDefinitions: Definitions;
  readonly methods: Methods;
}

/** `this` in an app's methods and options. */
export type AppThis<Methods> = Methods & {
  /** Credentials of the account: the fields of the app, or `oauth_access_token`. */
  readonly $auth: Auth;
};
