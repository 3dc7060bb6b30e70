import type { AccountRecord } from "../api/accounts.ts";
import type { PropRecord } from "../api/props.ts";
import { didYouMean } from "../domain/text/did-you-mean.ts";
import { PdError } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/text/json.ts";
import type { ChosenActions } from "./chosen-actions.ts";

export interface Accounts {
  readonly accounts: readonly AccountRecord[];
  readonly fixed: ChosenActions["accounts"];
}

export function appOf({ app, auth, name }: PropRecord): string {
  return app ?? auth?.app ?? name;
}

export function isAskedFor(prop: PropRecord, { fixed }: Accounts): boolean {
  return prop.type === "app" && fixed[appOf(prop)] === undefined;
}

/**
 * Throws PD_BAD_INPUT when no action uses a fixed account's app, and PD_ACCOUNT_NOT_FOUND for a missing account.
 * `mayBeOthers`: the actions may use further apps.
 */
export function requireFixed({ fixed, accounts }: Accounts, { apps, mayBeOthers }: { apps: ReadonlySet<string>; mayBeOthers: boolean }): void {
  for (const [app, wanted] of Object.entries(fixed)) {
    if (!apps.has(app) && !mayBeOthers)
      throw new PdError("PD_BAD_INPUT", `Cannot use an account of ${JSON.stringify(app)}: no offered action uses this app${didYouMean(app, apps)}`);
    const names = accounts.filter(({ app: of }) => of.name_slug === app).flatMap(({ id, name }) => [name, id]);
    if (!names.includes(wanted))
      throw new PdError(
        "PD_ACCOUNT_NOT_FOUND",
        `Cannot use the account ${JSON.stringify(wanted)}: no account of ${app} has this name${didYouMean(wanted, names)}`,
        {
          fix: `pd accounts connect ${app} --name ${wanted}`,
        },
      );
  }
}

export function accountSchema(prop: PropRecord, around: Accounts): JsonObject {
  const names = accountsOf(prop, around).map(({ name }): JsonValue => name);
  const [only] = names;
  return {
    type: "string",
    description: `The account of ${appOf(prop)} to use${names.length === 0 ? ": none is connected yet" : ""}`,
    ...(names.length === 0 ? {} : { enum: names }),
    ...(names.length === 1 && only !== undefined ? { default: only } : {}),
  };
}

/** The fixed account, else the one in the arguments, else the only one. Throws PD_ACCOUNT_NOT_FOUND. */
export function accountFor(key: string, prop: PropRecord, { args, around }: { args: JsonObject; around: Accounts }): AccountRecord | undefined {
  const all = accountsOf(prop, around);
  const fixed = around.fixed[appOf(prop)];
  const wanted = fixed ?? args[prop.name] ?? (all.length === 1 ? all[0]?.name : undefined);
  if (wanted === undefined && prop.optional === true) return undefined;
  const found = all.filter(({ id, name }) => name === wanted || id === wanted);
  if (found.length === 1) return found[0];
  const names = all.map(({ name }) => name);
  const problem =
    found.length > 1
      ? `${found.length} accounts have the name ${JSON.stringify(wanted)}`
      : wanted === undefined
        ? `${prop.name} is missing`
        : `no account of ${appOf(prop)} has the name ${JSON.stringify(wanted)}`;
  throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot call ${key}: ${problem}`, {
    fix: names.length === 0 ? `Connect one: pd accounts connect ${appOf(prop)}` : `Use one of ${names.join(", ")}`,
  });
}

function accountsOf(prop: PropRecord, { accounts }: Accounts): readonly AccountRecord[] {
  return accounts.filter(({ app }) => app.name_slug === appOf(prop));
}
