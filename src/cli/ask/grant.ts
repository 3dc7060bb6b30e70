import { PdError } from "../../domain/errors.ts";
import type { Right } from "../../domain/account/rights.ts";
import type { CliContext } from "../context.ts";
import { isAgreed } from "./agree.ts";

export interface GrantFlags {
  readonly allowRun?: readonly string[] | undefined;
  readonly allowAddons?: readonly string[] | undefined;
}

interface Granting extends GrantFlags {
  readonly granted: readonly { readonly slug: string; readonly rights: readonly Right[] }[];
  readonly prompt?: boolean | undefined;
}

/**
 * `--yes` does not cover these rights: `--allow-run`, `--allow-addons` or the user must name each slug. Throws
 * PD_BAD_INPUT when it cannot ask, or for a slug that is not in the plan.
 */
export async function mayGrant(cli: CliContext, { allowRun = [], allowAddons = [], ...granting }: Granting): Promise<boolean> {
  const programs = { kind: "programs", flag: "--allow-run", named: allowRun, what: "start programs of the machine" } as const;
  const addons = { kind: "addons", flag: "--allow-addons", named: allowAddons, what: "load native code" } as const;
  return (await mayGrantOne(cli, granting, programs)) && mayGrantOne(cli, granting, addons);
}

interface Kind {
  readonly kind: Right["kind"];
  readonly flag: string;
  readonly named: readonly string[];
  readonly what: string;
}

async function mayGrantOne(cli: CliContext, { granted, prompt }: Omit<Granting, keyof GrantFlags>, { kind, flag, named, what }: Kind): Promise<boolean> {
  const receiving = granted.filter(({ rights }) => rights.some((right) => right.kind === kind)).map(({ slug }) => slug);
  const idle = named.find((slug) => !granted.some((one) => one.slug === slug));
  if (idle !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use ${flag} ${idle}: nothing in the plan has this name`);
  const asked = receiving.filter((slug) => !named.includes(slug));
  if (asked.length === 0) return true;
  const names = asked.join(", ");
  try {
    return await isAgreed(cli, { yes: undefined, prompt, question: `Let ${names} ${what}?`, attempted: `let ${names} ${what}` });
  } catch (error) {
    if (!(error instanceof PdError)) throw error;
    throw new PdError(error.code, error.message, { fix: `Read the code, then give ${asked.map((slug) => `${flag} ${slug}`).join(" ")}`, cause: error });
  }
}
