import type { AccountId } from "./ids.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "./json.ts";
import type { OAuthGrant } from "./oauth.ts";
import { accountIdOf } from "./props/app-prop.ts";
import type { PropDeclaration } from "./props/kinds.ts";

/** Credentials for one app: what `$auth` shows (platform.md §1.7). */
export interface AccountContent {
  readonly id: AccountId;
  /** Of all accounts of its app it alone has it. */
  readonly name: string;
  /** Name slug of the app. */
  readonly app: string;
  readonly credentials: JsonObject;
  /** How it gets new tokens by itself. */
  readonly oauth?: OAuthGrant | undefined;
  /** Why the provider does not take it any more. */
  readonly problem?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An account as it is stored. */
export interface Account extends AccountContent {
  /** Counts its changes. */
  readonly revision: number;
}

/** Finds an account by id, or by name among those of an app. */
export type FindAccount = (app: string, idOrName: string) => Account | undefined;

/** Given values in which app props name accounts by their ids; what names no account that there is stays as it is. */
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

/** Props of a component, for those who give values to them. */
export interface DeclaredProps {
  /** What its code declares. */
  readonly own: readonly PropDeclaration[];
  /** What its `additionalProps` has declared for the values that it was asked with. */
  readonly dynamic: readonly PropDeclaration[];
}

/**
 * The same where some props are dynamic. Those take an account by its id alone: a component that sees a text could declare
 * that prop as an app afterwards, and be given the account of that name.
 */
export function withNamedAccounts({ own, dynamic }: DeclaredProps, given: JsonObject, find: FindAccount): JsonObject {
  const byId: FindAccount = (app, id) => {
    const account = find(app, id);
    return account?.id === id ? account : undefined;
  };
  // One of its own that comes back unchanged was found by its name before.
  return withAccounts(dynamic, withAccounts(own, given, find), byId);
}

/** Fields that a component reads of an app's account: in the files that declare the app, or in all when nothing is read there. */
export function fieldsReadOf(app: string, texts: readonly string[]): readonly string[] {
  const declares = new RegExp(`\\bapp\\s*:\\s*["'\`]${app}["'\`]`);
  const inOwn = texts.filter((text) => declares.test(text)).flatMap(fieldsRead);
  return [...new Set(inOwn.length > 0 ? inOwn : texts.flatMap(fieldsRead))];
}

/** Names of the fields that code reads of its account, in the order in which they are met. */
export function fieldsRead(code: string): readonly string[] {
  const members = [...code.matchAll(/\$auth\s*(?:\?\.|\.)\s*([A-Za-z_]\w*)|\$auth\s*(?:\?\.)?\[\s*["'`]([\w-]+)["'`]\s*\]/g)].map(
    ([, dotted, quoted]) => dotted ?? quoted ?? "",
  );
  const taken = [...code.matchAll(/\{([^{}]*)\}\s*=\s*(?:this\.)?(?:\w+\.)?\$auth\b/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.split(/[:=]/)[0]?.trim() ?? ""),
  );
  return [...new Set([...members, ...taken].filter((name) => /^\w[\w-]*$/.test(name)))];
}
