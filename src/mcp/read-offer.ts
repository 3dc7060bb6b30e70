import { PdError } from "../domain/errors.ts";
import type { Offer } from "./offered-tools.ts";

interface Asked {
  readonly actions?: string | undefined;
  /** Pairs `app=account`. */
  readonly accounts?: readonly string[] | undefined;
  readonly steers?: boolean | undefined;
}

/** Throws PD_BAD_INPUT. */
export function readOffer({ actions = "", accounts = [], steers = false }: Asked): Offer {
  const patterns = actions.split(",").flatMap((pattern) => (pattern.trim() === "" ? [] : [pattern.trim()]));
  const wrong = patterns.find((pattern) => !/^[\w.*-]+$/.test(pattern) || /^[*.-]*$/.test(pattern));
  if (wrong !== undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot offer the actions ${JSON.stringify(wrong)}: expected a key, or a part of one with *`, {
      fix: "slack-send-message,github-*",
    });
  const pairs = accounts.map((pair): [string, string] => {
    const mark = pair.indexOf("=");
    if (mark > 0 && mark < pair.length - 1) return [pair.slice(0, mark), pair.slice(mark + 1)];
    throw new PdError("PD_BAD_INPUT", `Cannot use the account ${JSON.stringify(pair)}: expected app=account`, { fix: "slack=team" });
  });
  const [first] = pairs;
  if (first !== undefined && patterns.length === 0)
    throw new PdError("PD_BAD_INPUT", `Cannot use an account of ${first[0]}: no actions are offered`, { fix: "Choose actions too" });
  const twice = pairs.map(([app]) => app).find((app, index, apps) => apps.indexOf(app) !== index);
  if (twice !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use two accounts of ${twice}: its actions use one`);
  return { steers, actions: { patterns, accounts: Object.fromEntries(pairs) } };
}
