import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { type Client, everyPage } from "../client/client.ts";
import { PdError, toPdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/text/json.ts";
import { type Accounts, appOf, requireFixed } from "./action-accounts.ts";
import { actionTools } from "./action-tools.ts";
import { type ChosenAction, type ChosenActions, chooseActions, loadAction } from "./chosen-actions.ts";
import { LOOKING, STEERING } from "./server-tools.ts";
import type { Choices, ChoosingTool, Tool } from "./tool.ts";

export interface Offer {
  readonly steers: boolean;
  readonly actions: ChosenActions;
}

/** Longer answers would fill the agent's context. */
const MOST_CHARACTERS = 200_000;

const LOAD_AGAIN_MS = 60_000;

export class OfferedTools {
  readonly #client: Client;
  readonly #offer: Offer;
  #actions: Promise<readonly ChosenAction[]> | undefined;
  #loadAgainAt = 0;
  #isReadOnly: Promise<boolean> | undefined;

  /** The rights of the agent's key apply. */
  constructor(client: Client, offer: Offer) {
    this.#client = client;
    this.#offer = offer;
  }

  async all(): Promise<readonly Tool[]> {
    const { steers, actions } = this.#offer;
    const all = [...LOOKING, CHOICES, ...(steers ? STEERING : []), ...(await this.choosing())];
    const isReadOnly = await this.#isReader();
    return all.filter((tool) => (tool === CHOICES ? actions.patterns.length > 0 && !isReadOnly : !isReadOnly || tool.isReadOnly));
  }

  async choosing(): Promise<readonly ChoosingTool[]> {
    const { actions } = this.#offer;
    if (actions.patterns.length === 0 || (await this.#isReader())) return [];
    // Accounts may change while an agent works.
    const around = { accounts: await everyPage((page) => this.#client.accounts.list(page)), fixed: actions.accounts };
    return actionTools(await this.#loaded(around), around);
  }

  /** Reloads failed actions in the background, because a registry may have been unreachable. */
  async #loaded(around: Accounts): Promise<readonly ChosenAction[]> {
    this.#actions ??= this.#load(around).catch((error: unknown) => {
      this.#actions = undefined;
      throw error;
    });
    const before = await this.#actions;
    const isBroken = before.some(({ kind }) => kind === "failed");
    if (isBroken && Date.now() >= this.#loadAgainAt) {
      this.#loadAgainAt = Number.POSITIVE_INFINITY;
      void this.#loadAgain(before, around);
    }
    return before;
  }

  async #loadAgain(before: readonly ChosenAction[], around: Accounts): Promise<void> {
    const again: ChosenAction[] = [];
    for (const action of before) again.push(action.kind === "failed" ? await loadAction(this.#client, action).catch(() => action) : action);
    this.#actions = this.#checked(again, around).catch(async (error: unknown) => {
      this.#actions = undefined;
      throw error;
    });
    // The next list request reports the error.
    this.#actions.catch(() => {});
    this.#loadAgainAt = Date.now() + LOAD_AGAIN_MS;
  }

  async #load(around: Accounts): Promise<readonly ChosenAction[]> {
    const actions = await this.#checked(await chooseActions(this.#client, this.#offer.actions), around);
    this.#loadAgainAt = Date.now() + LOAD_AGAIN_MS;
    return actions;
  }

  async #checked(actions: readonly ChosenAction[], around: Accounts): Promise<readonly ChosenAction[]> {
    const loaded = actions.flatMap((action) => (action.kind === "loaded" ? action.described : []));
    const apps = loaded.flatMap(({ configurable_props: props }) => props.filter(({ type }) => type === "app").map(appOf));
    // Actions with dynamic props, or not loaded, may use other apps.
    const mayBeOthers = loaded.length < actions.length || loaded.some(({ has_additional_props: hasMore }) => hasMore);
    requireFixed(around, { apps: new Set(apps), mayBeOthers });
    return actions;
  }

  #isReader(): Promise<boolean> {
    this.#isReadOnly ??= this.#client.page.session().then(
      ({ read_only: isReadOnly }) => isReadOnly,
      (error: unknown) => {
        this.#isReadOnly = undefined;
        throw error;
      },
    );
    return this.#isReadOnly;
  }

  async call(name: string, given: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
    try {
      const tool = await this.#find(name);
      if (tool === undefined) throw new PdError("PD_NOT_FOUND", `Cannot call ${JSON.stringify(name)}: this tool does not exist`, { fix: "List the tools" });
      if (!isJsonObject(given)) throw new PdError("PD_BAD_INPUT", `Cannot call ${name}: its arguments are not JSON`);
      if (tool === CHOICES) return answered({ value: await this.#choicesAsked(given) });
      return answered(await tool.run(this.#client, given));
    } catch (error) {
      return refused(error);
    }
  }

  /** The server's tools must work even without a list of actions. */
  async #find(name: string): Promise<Tool | undefined> {
    const own = [...LOOKING, ...(this.#offer.steers ? STEERING : [])].find((tool) => tool.name === name);
    if (own !== undefined && (own.isReadOnly || !(await this.#isReader()))) return own;
    return (await this.all()).find((one) => one.name === name);
  }

  async choices(name: string, argument: { readonly name: string; readonly value: string }, given: Readonly<Record<string, string>>): Promise<Choices> {
    const tool = (await this.choosing()).find((one) => one.name === name);
    if (tool === undefined || !tool.choosing.includes(argument.name)) return NO_CHOICES;
    const { [argument.name]: _own, ...others } = given;
    const values = Object.fromEntries(Object.entries(others).map(([key, text]) => [key, parseJson(text) ?? text]));
    return tool.choices(this.#client, argument.name, { query: argument.value, given: values });
  }

  async #choicesAsked({ tool: name, argument, query = "", arguments: given = {} }: JsonObject): Promise<JsonObject> {
    const tool = (await this.choosing()).find((one) => one.name === name);
    if (tool === undefined) throw new PdError("PD_BAD_INPUT", `Cannot list choices of ${JSON.stringify(name ?? null)}: no offered action has this name`);
    if (typeof argument !== "string" || !tool.choosing.includes(argument))
      throw new PdError(
        "PD_BAD_INPUT",
        `Cannot list choices of ${JSON.stringify(argument ?? null)}: ${tool.name} has choices for ${tool.choosing.join(", ") || "no argument"}`,
      );
    const { choices, hasMore } = await tool.choices(this.#client, argument, { query: String(query), given: isJsonObject(given) ? given : {} });
    return { choices: choices.map(({ label, value }) => ({ label, value })), has_more: hasMore };
  }
}

export const NO_CHOICES: Choices = { choices: [], hasMore: false };

/** Agents cannot use the protocol's completion. */
const CHOICES: Tool = {
  name: "list_choices",
  title: "List choices of an argument",
  description:
    "Lists the values that a third party offers for an argument of an action, such as channels of the chosen account. Give the known other arguments",
  inputSchema: {
    type: "object",
    properties: { tool: { type: "string" }, argument: { type: "string" }, query: { type: "string" }, arguments: { type: "object" } },
    required: ["tool", "argument"],
    additionalProperties: false,
  },
  isReadOnly: true,
  isDestructive: false,
  run: async () => ({ value: {} }),
};

function answered({ value, isFailed = false }: { value: JsonObject; isFailed?: boolean }): CallToolResult {
  const text = JSON.stringify(value);
  if (text.length <= MOST_CHARACTERS) return { content: [{ type: "text", text }], structuredContent: { ...value }, isError: isFailed };
  const note = `Cut at ${MOST_CHARACTERS} of ${text.length} characters: ask for fewer records`;
  return { content: [{ type: "text", text: `${text.slice(0, MOST_CHARACTERS)}\n${note}` }], structuredContent: { cut: note }, isError: isFailed };
}

function refused(thrown: unknown): CallToolResult {
  const { code, fix, message, details } = toPdError(thrown);
  const problems = details?.["problems"];
  const value = { error: { code, message, fix, ...(problems === undefined ? {} : { problems }) } };
  return { content: [{ type: "text", text: `${message}\nTry: ${fix}\n[${code}]` }], structuredContent: value, isError: true };
}
