import type { AccountId } from "../ids.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../text/json.ts";
import type { OAuthGrant } from "./oauth.ts";
import { accountIdOf } from "../props/app-prop.ts";
import type { PropDeclaration } from "../props/kinds.ts";

/** Components read the credentials as `$auth`. */
export interface AccountContent {
  readonly id: AccountId;
  /** Unique within its app. */
  readonly name: string;
  /** Name slug. */
  readonly app: string;
  readonly credentials: JsonObject;
  readonly oauth?: OAuthGrant | undefined;
  /** Why the provider rejects the account. */
  readonly problem?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Account extends AccountContent {
  readonly revision: number;
}

export type FindAccount = (app: string, idOrName: string) => Account | undefined;

/** Replaces each account's id or name with `{ authProvisionId }`. Unknown names stay strings. */
export function withAccounts(props: readonly PropDeclaration[], given: JsonObject, find: FindAccount): JsonObject {
  const named = props.flatMap((prop): [string, JsonValue][] => {
    const value = prop.kind === "app" && Object.hasOwn(given, prop.name) ? given[prop.name] : undefined;
    const text = accountIdOf(value) ?? (typeof value === "string" && !isJsonObject(parseJson(value)) ? value : undefined);
    if (prop.kind !== "app" || text === undefined) return [];
    const account = find(prop.app, text);
    return [[prop.name, account === undefined ? text : { authProvisionId: account.id }]];
  });
  return { ...given, ...Object.fromEntries(named) };
}

export interface DeclaredProps {
  readonly own: readonly PropDeclaration[];
  readonly dynamic: readonly PropDeclaration[];
}

/**
 * Dynamic props accept only ids. Otherwise a component could redeclare a string prop as an app prop, and receive the
 * account of that name.
 */
export function withNamedAccounts({ own, dynamic }: DeclaredProps, given: JsonObject, find: FindAccount): JsonObject {
  const byId: FindAccount = (app, id) => {
    const account = find(app, id);
    return account?.id === id ? account : undefined;
  };
  // The inner call has resolved names in own props that are also in `dynamic`.
  return withAccounts(dynamic, withAccounts(own, given, find), byId);
}

/** Looks at the files that declare the app, or at all files when those read no field. */
export function fieldsReadOf(app: string, texts: readonly string[]): readonly string[] {
  const declares = new RegExp(`\\bapp\\s*:\\s*["'\`]${app}["'\`]`);
  const inOwn = texts.filter((text) => declares.test(text)).flatMap(fieldsRead);
  return [...new Set(inOwn.length > 0 ? inOwn : texts.flatMap(fieldsRead))];
}

export function fieldsRead(code: string): readonly string[] {
  const members = [...code.matchAll(/\$auth\s*(?:\?\.|\.)\s*([A-Za-z_]\w*)|\$auth\s*(?:\?\.)?\[\s*["'`]([\w-]+)["'`]\s*\]/g)].map(
    ([, dotted, quoted]) => dotted ?? quoted ?? "",
  );
  const taken = [...code.matchAll(/\{([^{}]*)\}\s*=\s*(?:this\.)?(?:\w+\.)?\$auth\b/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.split(/[:=]/)[0]?.trim() ?? ""),
  );
  return [...new Set([...members, ...taken].filter((name) => /^\w[\w-]*$/.test(name)))];
}
