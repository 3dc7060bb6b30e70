import { confirm } from "./prompts.ts";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../reporter.ts";
import { holdingTerminal } from "../spinner.ts";
import { canAsk } from "./can-ask.ts";

interface Agreeing {
  readonly yes: boolean | undefined;
  /** Such as `Delete orders with all its events?` */
  readonly question: string;
  /** For the error message, such as `delete orders`. */
  readonly attempted: string;
  /** Answer for Enter. Omitted: no. */
  readonly isUsual?: boolean;
  readonly prompt?: boolean | undefined;
}

/** Throws PD_BAD_INPUT when it cannot ask without `--yes`. */
export async function isAgreed(cli: CliContext, { yes, question, attempted, isUsual = false, prompt }: Agreeing): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk(cli, { prompt }))
    throw new PdError("PD_BAD_INPUT", `Cannot ${attempted} without confirmation: the command cannot ask here`, { fix: "Give --yes" });
  const agreed = await holdingTerminal(() => confirm({ message: question, default: isUsual }, { input: cli.stdin, output: cli.stderr }));
  if (!agreed) printNote(cli, "Nothing was changed");
  return agreed;
}
