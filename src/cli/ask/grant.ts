import { PdError } from "../../domain/errors.ts";
import type { Right } from "../../domain/rights.ts";
import type { CliContext } from "../context.ts";
import { isAgreed } from "./agree.ts";

interface Granting {
  /** What a plan would grant, by the slug of who gets it. */
  readonly granted: readonly { readonly slug: string; readonly rights: readonly Right[] }[];
  /** Slugs that `--allow-run` names. */
  readonly allowRun: readonly string[] | undefined;
  readonly prompt?: boolean | undefined;
}

/**
 * Whether a person has agreed to let these start programs. `--yes` says nothing of that: each one is named by
 * `--allow-run`, or asked about. Throws PD_BAD_INPUT where nobody can be asked, and for a name that gets no such right.
 */
export async function mayGrant(cli: CliContext, { granted, allowRun = [], prompt }: Granting): Promise<boolean> {
  const starting = granted.filter(({ rights }) => rights.some(({ kind }) => kind === "programs")).map(({ slug }) => slug);
  const idle = allowRun.find((slug) => !granted.some((one) => one.slug === slug));
  if (idle !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use --allow-run ${idle}: the plan has nothing of this name`);
  const asked = starting.filter((slug) => !allowRun.includes(slug));
  if (asked.length === 0) return true;
  const names = asked.join(", ");
  try {
    return await isAgreed(cli, { yes: undefined, prompt, question: `Let ${names} start programs of the machine?`, attempted: `let ${names} start programs` });
  } catch (error) {
    if (!(error instanceof PdError)) throw error;
    throw new PdError(error.code, error.message, { fix: `Read the code, then give ${asked.map((slug) => `--allow-run ${slug}`).join(" ")}`, cause: error });
  }
}
