import { type AlertProp, alertKind } from "./alert-prop.ts";
import { type AppHookProp, appHookKind } from "./app-hook-prop.ts";
import { type AppProp, appKind } from "./app-prop.ts";
import { type DataStoreProp, dataStoreKind } from "./data-store-prop.ts";
import { type DbProp, dbKind } from "./db-prop.ts";
import { type DirProp, dirKind } from "./dir-prop.ts";
import { type HttpProp, httpKind } from "./http-prop.ts";
import { type HttpRequestProp, httpRequestKind } from "./http-request-prop.ts";
import type { PropKind } from "./prop-kind.ts";
import { type SqlProp, sqlKind } from "./sql-prop.ts";
import { type TimerProp, timerKind } from "./timer-prop.ts";
import { type UserProp, userKind } from "./user-prop.ts";

export type PropDeclaration =
  | AlertProp
  | AppHookProp
  | AppProp
  | DataStoreProp
  | DbProp
  | DirProp
  | HttpProp
  | HttpRequestProp
  | SqlProp
  | TimerProp
  | UserProp;

const KINDS: { readonly [Kind in PropDeclaration["kind"]]: PropKind<Extract<PropDeclaration, { kind: Kind }>> } = {
  alert: alertKind,
  app: appKind,
  "app-hook": appHookKind,
  "data-store": dataStoreKind,
  db: dbKind,
  dir: dirKind,
  http: httpKind,
  "http-request": httpRequestKind,
  sql: sqlKind,
  timer: timerKind,
  user: userKind,
};

const BY_TYPE: ReadonlyMap<string, PropKind<PropDeclaration>> = new Map(Object.values(KINDS).flatMap((kind) => kind.types.map((type) => [type, kind])));

/** Use the result only with props of this kind. */
export function kindOf({ kind }: PropDeclaration): PropKind<PropDeclaration> {
  return KINDS[kind];
}

/** Unknown types are user input. */
export function kindOfType(type: string): PropKind<PropDeclaration> {
  return BY_TYPE.get(type) ?? userKind;
}
