import type { DescribedRecord } from "../api/components.ts";
import { type Client, everyPage } from "../client/client.ts";
import { PdError, messageOf } from "../domain/errors.ts";
import { fitsPattern } from "../domain/star-pattern.ts";

/** Each is loaded to read what it declares. */
const MOST_ACTIONS = 100;
/** Agents take no other names. */
const NAME = /[^A-Za-z0-9_-]/g;
const MOST_OF_NAME = 64;

/** What was chosen of the registries for an agent. */
export interface ChosenActions {
  /** Keys, with `*` for any part: `slack-send-message`, `github-*`. */
  readonly patterns: readonly string[];
  /** App → name or id of the account that its actions use; others are asked for. */
  readonly accounts: Readonly<Record<string, string>>;
}

/** An action of the registries; one that could not be loaded tells why. */
export type ChosenAction =
  | { readonly kind: "loaded"; readonly key: string; readonly name: string; readonly described: DescribedRecord }
  | { readonly kind: "failed"; readonly key: string; readonly name: string; readonly error: PdError };

/** Throws PD_BAD_INPUT for more than an agent can be given, PD_COMPONENT_NOT_FOUND for none, PD_NOT_A_COMPONENT for what is no action. */
export async function chooseActions(client: Client, { patterns }: ChosenActions): Promise<readonly ChosenAction[]> {
  const keys = [...new Set((await Promise.all(patterns.map((pattern) => keysOf(client, pattern)))).flat())].toSorted();
  if (keys.length > MOST_ACTIONS)
    throw new PdError("PD_BAD_INPUT", `Cannot offer ${keys.length} actions as tools: there may be ${MOST_ACTIONS}`, { fix: "Choose fewer with --actions" });
  const names = toolNames(keys);
  const actions: ChosenAction[] = [];
  for (const [index, key] of keys.entries()) actions.push(await loadAction(client, { key, name: names[index] ?? key }));
  return actions;
}

/** Throws for what is a mistake of whoever has chosen it. */
export async function loadAction(client: Client, { key, name }: Pick<ChosenAction, "key" | "name">): Promise<ChosenAction> {
  try {
    return { kind: "loaded", key, name, described: await describedAction(client, key) };
  } catch (error) {
    if (!(error instanceof PdError)) throw error;
    // A mistake in what was chosen is told at once; what is wrong with one action keeps none of the others back.
    if (error.code === "PD_COMPONENT_NOT_FOUND" || error.code === "PD_NOT_A_COMPONENT" || error.code === "PD_UNAUTHORIZED") throw error;
    return { kind: "failed", key, name, error: new PdError(error.code, `Cannot offer ${key}: ${messageOf(error)}`, { fix: error.fix }) };
  }
}

/** What agents call them: two that would be called the same are told apart by a number. */
export function toolNames(keys: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return keys.map((key) => {
    const plain = key.replaceAll(NAME, "_").slice(0, MOST_OF_NAME);
    let name = plain;
    for (let n = 2; taken.has(name); n++) name = `${plain.slice(0, MOST_OF_NAME - 1 - String(n).length)}_${n}`;
    taken.add(name);
    return name;
  });
}

async function keysOf(client: Client, pattern: string): Promise<readonly string[]> {
  if (!pattern.includes("*")) return [pattern];
  const query = pattern.replaceAll(/[*-]+/g, " ").trim();
  const found = (await everyPage((page) => client.registries.search({ ...page, query, component_type: "action" })))
    .map(({ key }) => key)
    .filter((key) => fitsPattern(key, pattern));
  if (found.length > 0) return found;
  throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot offer ${JSON.stringify(pattern)}: no action of the registries is called so`, {
    fix: "pd registry search <words>",
  });
}

async function describedAction(client: Client, key: string): Promise<DescribedRecord> {
  const described = await client.components.describe({ key });
  if (described.component_type === "action") return described;
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot offer ${key} as a tool: it is a ${described.component_type}, and no action`);
}
