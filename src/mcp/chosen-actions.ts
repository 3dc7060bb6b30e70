import type { DescribedRecord } from "../api/components.ts";
import { type Client, everyPage } from "../client/client.ts";
import { PdError, messageOf } from "../domain/errors.ts";
import { fitsPattern } from "../domain/text/star-pattern.ts";

/** Chosen: reading each declaration loads the action. */
const MOST_ACTIONS = 100;
/** Agents accept no others. */
const NAME = /[^A-Za-z0-9_-]/g;
const MOST_OF_NAME = 64;

export interface ChosenActions {
  /** `*` matches any text: `slack-send-message`, `github-*`. */
  readonly patterns: readonly string[];
  /** By app: name or id. The agent chooses the others. */
  readonly accounts: Readonly<Record<string, string>>;
}

export type ChosenAction =
  | { readonly kind: "loaded"; readonly key: string; readonly name: string; readonly described: DescribedRecord }
  | { readonly kind: "failed"; readonly key: string; readonly name: string; readonly error: PdError };

/** Throws PD_BAD_INPUT for more than 100 actions, PD_COMPONENT_NOT_FOUND when a pattern matches none, and PD_NOT_A_COMPONENT for a key of no action. */
export async function chooseActions(client: Client, { patterns }: ChosenActions): Promise<readonly ChosenAction[]> {
  const keys = [...new Set((await Promise.all(patterns.map((pattern) => keysOf(client, pattern)))).flat())].toSorted();
  if (keys.length > MOST_ACTIONS)
    throw new PdError("PD_BAD_INPUT", `Cannot offer ${keys.length} actions as tools: at most ${MOST_ACTIONS} are allowed`, {
      fix: "Choose fewer with --actions",
    });
  const names = toolNames(keys);
  const actions: ChosenAction[] = [];
  for (const [index, key] of keys.entries()) actions.push(await loadAction(client, { key, name: names[index] ?? key }));
  return actions;
}

export async function loadAction(client: Client, { key, name }: Pick<ChosenAction, "key" | "name">): Promise<ChosenAction> {
  try {
    return { kind: "loaded", key, name, described: await describedAction(client, key) };
  } catch (error) {
    if (!(error instanceof PdError)) throw error;
    // A wrong choice is the user's error. A broken action must not hide others.
    if (error.code === "PD_COMPONENT_NOT_FOUND" || error.code === "PD_NOT_A_COMPONENT" || error.code === "PD_UNAUTHORIZED") throw error;
    return { kind: "failed", key, name, error: new PdError(error.code, `Cannot offer ${key}: ${messageOf(error)}`, { fix: error.fix }) };
  }
}

/** Equal names get a number. */
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
  throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot offer ${JSON.stringify(pattern)}: no action in the registries has this name`, {
    fix: "pd registry search <words>",
  });
}

async function describedAction(client: Client, key: string): Promise<DescribedRecord> {
  const described = await client.components.describe({ key });
  if (described.component_type === "action") return described;
  throw new PdError("PD_NOT_A_COMPONENT", `Cannot offer ${key} as a tool: it is a ${described.component_type}, not an action`);
}
