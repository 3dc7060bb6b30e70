import type { AccountRecord } from "../api/accounts.ts";
import type { DescribedRecord } from "../api/components.ts";
import type { PropRecord } from "../api/props.ts";
import { type Client, everyPage } from "../client/client.ts";
import { didYouMean } from "../domain/did-you-mean.ts";
import { PdError } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { argumentSchema, isArgument } from "./action-schema.ts";
import type { Choice, ChoosingTool, ToolResult } from "./tool.ts";

/** Each is loaded to read what it declares. */
const MOST_ACTIONS = 100;
const MOST_CHOICES = 100;
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

/** Chosen actions as tools. Throws PD_BAD_INPUT for more than an agent can be given, PD_COMPONENT_NOT_FOUND for none. */
export async function actionTools(client: Client, chosen: ChosenActions): Promise<readonly ChoosingTool[]> {
  const keys = [...new Set((await Promise.all(chosen.patterns.map((pattern) => keysOf(client, pattern)))).flat())];
  if (keys.length > MOST_ACTIONS)
    throw new PdError("PD_BAD_INPUT", `Cannot offer ${keys.length} actions as tools: there may be ${MOST_ACTIONS}`, { fix: "Choose fewer with --actions" });
  const accounts = keys.length === 0 ? [] : await everyPage((page) => client.accounts.list(page));
  const described: [string, DescribedRecord][] = [];
  for (const key of keys) described.push([key, await describedAction(client, key)]);
  const apps = described.flatMap(([, { configurable_props: props }]) => props.filter(({ type }) => type === "app").map(appOf));
  requireFixed(chosen.accounts, { apps: new Set(apps), accounts });
  return described.map(([key, record]) => actionTool(key, record, { accounts, fixed: chosen.accounts }));
}

/** An account that is fixed for nothing, or is not there, is a mistake: the agent would be asked, or could do nothing. */
function requireFixed(fixed: ChosenActions["accounts"], { apps, accounts }: { apps: ReadonlySet<string>; accounts: readonly AccountRecord[] }): void {
  for (const [app, wanted] of Object.entries(fixed)) {
    if (!apps.has(app))
      throw new PdError("PD_BAD_INPUT", `Cannot fix an account of ${JSON.stringify(app)}: no action that is offered uses this app${didYouMean(app, apps)}`);
    const names = accounts.filter(({ app: of }) => of.name_slug === app).flatMap(({ id, name }) => [name, id]);
    if (!names.includes(wanted))
      throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot fix the account ${JSON.stringify(wanted)}: ${app} has none of this name${didYouMean(wanted, names)}`, {
        fix: `pd accounts connect ${app} --name ${wanted}`,
      });
  }
}

async function keysOf(client: Client, pattern: string): Promise<readonly string[]> {
  if (!pattern.includes("*")) return [pattern];
  const fits = new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );
  const query = pattern.replaceAll(/[*-]+/g, " ").trim();
  const found = (await everyPage((page) => client.registries.search({ ...page, query, component_type: "action" })))
    .map(({ key }) => key)
    .filter((key) => fits.test(key));
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

interface Accounts {
  readonly accounts: readonly AccountRecord[];
  readonly fixed: Readonly<Record<string, string>>;
}

/** One action as a tool. The agent names accounts, of those that there are; credentials are found by the server alone. */
function actionTool(key: string, described: DescribedRecord, around: Accounts): ChoosingTool {
  const { configurable_props: props, has_additional_props: hasMore, name, description = "" } = described;
  const apps = props.filter(({ type }) => type === "app");
  const given = props.filter(isArgument);
  const asked = apps.filter((prop) => around.fixed[appOf(prop)] === undefined);
  const required = [...asked, ...given].filter((prop) => prop.optional !== true && prop.default === undefined).map((prop) => prop.name);
  const properties = Object.fromEntries([
    ...asked.map((prop) => [prop.name, accountSchema(prop, around)]),
    ...given.map((prop) => [prop.name, argumentSchema(prop)]),
  ]);
  const inputSchema: JsonObject = { type: "object", properties, required, additionalProperties: hasMore };
  const configure = (args: JsonObject): JsonObject => configured(key, args, { props, given, hasMore, around });
  return {
    name: key.replaceAll(NAME, "_").slice(0, MOST_OF_NAME),
    title: name,
    description: `${description}${hasMore ? "\nSome values add arguments; a call that misses one names it." : ""}`.trim(),
    inputSchema,
    isReadOnly: false,
    isDestructive: true,
    choosing: given.filter(({ remoteOptions, options }) => remoteOptions === true || options !== undefined).map((prop) => prop.name),
    run: async (client, args) => ran(await client.actions.run({ key, configured_props: configure(args) })),
    choices: (client, argument, { query, given: known }) =>
      choicesOf(client, { key, prop: props.find((prop) => prop.name === argument), query, values: configure(known) }),
  };
}

function appOf({ app, auth, name }: PropRecord): string {
  return app ?? auth?.app ?? name;
}

function accountsOf(prop: PropRecord, { accounts }: Accounts): readonly AccountRecord[] {
  return accounts.filter(({ app }) => app.name_slug === appOf(prop));
}

function accountSchema(prop: PropRecord, around: Accounts): JsonObject {
  const names = accountsOf(prop, around).map(({ name }): JsonValue => name);
  const [only] = names;
  return {
    type: "string",
    description: `Which account of ${appOf(prop)} is used${names.length === 0 ? ": none is connected yet" : ""}`,
    ...(names.length === 0 ? {} : { enum: names }),
    ...(names.length === 1 && only !== undefined ? { default: only } : {}),
  };
}

interface Configuring {
  readonly props: readonly PropRecord[];
  readonly given: readonly PropRecord[];
  readonly hasMore: boolean;
  readonly around: Accounts;
}

/** Values for the action. Whatever the agent says, an account is one of those that there are, named. Throws PD_BAD_INPUT. */
function configured(key: string, args: JsonObject, { props, given, hasMore, around }: Configuring): JsonObject {
  const asked = props.filter((prop) => prop.type === "app" && around.fixed[appOf(prop)] === undefined);
  const known = new Set([...given, ...asked].map(({ name }) => name));
  const declared = new Set(props.map(({ name }) => name));
  const strange = Object.keys(args).filter((name) => !known.has(name) && (!hasMore || declared.has(name)));
  const [first] = strange;
  if (first !== undefined)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot call ${key}: it has no argument ${strange.map((name) => JSON.stringify(name)).join(", ")}${didYouMean(first, known)}`,
    );
  const accounts = props.flatMap((prop) => {
    if (prop.type !== "app") return [];
    const account = accountFor(key, prop, { args, around });
    return account === undefined ? [] : [[prop.name, { authProvisionId: account.id }]];
  });
  const appNames = new Set(props.filter(({ type }) => type === "app").map(({ name }) => name));
  const values = Object.entries(args).filter(([name]) => !appNames.has(name));
  return { ...Object.fromEntries(values), ...Object.fromEntries(accounts) };
}

function accountFor(key: string, prop: PropRecord, { args, around }: { args: JsonObject; around: Accounts }): AccountRecord | undefined {
  const all = accountsOf(prop, around);
  const fixed = around.fixed[appOf(prop)];
  const wanted = fixed ?? args[prop.name] ?? (all.length === 1 ? all[0]?.name : undefined);
  if (wanted === undefined && prop.optional === true) return undefined;
  const found = all.filter(({ id, name }) => name === wanted || id === wanted);
  if (found.length === 1) return found[0];
  const names = all.map(({ name }) => name);
  const problem =
    found.length > 1
      ? `${found.length} accounts are called ${JSON.stringify(wanted)}`
      : wanted === undefined
        ? `${prop.name} is missing`
        : `there is no account ${JSON.stringify(wanted)} of ${appOf(prop)}`;
  throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot call ${key}: ${problem}`, {
    fix: names.length === 0 ? `Connect one: pd accounts connect ${appOf(prop)}` : `Name one of ${names.join(", ")}`,
  });
}

type ActionRun = Awaited<ReturnType<Client["actions"]["run"]>>;

/** What an agent wants to know of a run. */
function ran({ outcome, message, error, exports, ret, os, emits }: ActionRun): ToolResult {
  const { $summary: summary, ...others } = exports;
  const isFailed = outcome !== "returned";
  return {
    isFailed,
    value: {
      ...(typeof summary === "string" ? { summary } : {}),
      ...(ret === undefined ? {} : { result: ret }),
      ...(Object.keys(others).length === 0 ? {} : { exports: others }),
      ...(os.length === 0 ? {} : { log: os.map(({ msg }) => msg) }),
      ...(emits.length === 0 ? {} : { emitted: emits.map(({ event }) => event) }),
      ...(isFailed ? { error: error === undefined ? message : `${error.name}: ${error.message}` } : {}),
    },
  };
}

interface Choosing {
  readonly key: string;
  readonly prop: PropRecord | undefined;
  readonly query: string;
  readonly values: JsonObject;
}

async function choicesOf(client: Client, { key, prop, query, values }: Choosing): Promise<readonly Choice[]> {
  if (prop === undefined) return [];
  const fits = ({ label }: Choice): boolean => label.toLowerCase().includes(query.toLowerCase());
  if (prop.options !== undefined) return prop.options.filter(fits).slice(0, MOST_CHOICES);
  if (prop.remoteOptions !== true) return [];
  const { options } = await client.components.configure({ key, prop_name: prop.name, configured_props: values, ...(prop.useQuery === true ? { query } : {}) });
  return (prop.useQuery === true ? options : options.filter(fits)).slice(0, MOST_CHOICES);
}
