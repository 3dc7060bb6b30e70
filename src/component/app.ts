import type { Auth } from "./interfaces.ts";
import type { AnyProp, BooleanProp, BooleansProp, IntegerProp, IntegersProp, ObjectProp, StringProp, StringsProp } from "./props.ts";

export type PropDefinitions = Readonly<
  Record<string, StringProp | StringsProp | IntegerProp | IntegersProp | BooleanProp | BooleansProp | ObjectProp | AnyProp>
>;

/** How an app's account is used, and props that components reuse. */
export interface AppDefinition<Definitions, Methods> {
  readonly type: "app";
  /** Slug of the app, which selects its accounts. */
  readonly app: string;
  /** Props that components reuse with `propDefinition`. In their `options`, `this` is the app. */
  readonly propDefinitions?: Definitions;
  /** Methods, called as `this.<name>()` in the app and as `this.<appProp>.<name>()` in components. */
  readonly methods?: Methods;
}

export interface App<Definitions, Methods> {
  readonly type: "app";
  readonly app: string;
  readonly propDefinitions: Definitions;
  readonly methods: Methods;
}

/** `this` in the methods and options of an app. */
export type AppThis<Methods> = Methods & {
  /** Credentials of the account: the fields of the app, or `oauth_access_token`. */
  readonly $auth: Auth;
};
