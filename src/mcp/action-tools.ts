import type { DescribedRecord } from "../api/components.ts";
import type { PropRecord } from "../api/props.ts";
import type { Client } from "../client/client.ts";
import { didYouMean } from "../domain/text/did-you-mean.ts";
import { PdError } from "../domain/errors.ts";
import { isJsonObject, isSameJson, type JsonObject, type JsonValue } from "../domain/text/json.ts";
import { type Accounts, accountFor, accountSchema, isAskedFor } from "./action-accounts.ts";
import type { ChosenAction } from "./chosen-actions.ts";
import type { Choice, Choices, ChoosingTool, ToolResult } from "./tool.ts";

const MOST_CHOICES = 100;
/** A third party's pages may never end. */
const MOST_PAGES = 10;

export function actionTools(actions: readonly ChosenAction[], around: Accounts): readonly ChoosingTool[] {
  return actions.map((action) => (action.kind === "loaded" ? actionTool(action, around) : brokenTool(action)));
}

interface ActionFacts {
  readonly key: string;
  readonly name: string;
  readonly described: DescribedRecord;
}

function actionTool({ key, name, described }: ActionFacts, around: Accounts): ChoosingTool {
  const { configurable_props: props, has_additional_props: hasMore, description = "" } = described;
  const given = props.filter(isArgument);
  const asked = props.filter((prop) => isAskedFor(prop, around));
  const required = [...asked, ...given].filter((prop) => prop.optional !== true && prop.default === undefined).map((prop) => prop.name);
  const properties = Object.fromEntries([
    ...asked.map((prop) => [prop.name, accountSchema(prop, around)]),
    ...given.map((prop) => [prop.name, argumentSchema(prop)]),
  ]);
  const configure = (client: Client, args: JsonObject): Promise<JsonObject> => configuredFor(client, args, { key, described, around });
  return {
    name,
    title: described.name,
    description: `${description}${hasMore ? "\nSome values add arguments. The error names a missing one." : ""}`.trim(),
    inputSchema: { type: "object", properties, required, additionalProperties: hasMore },
    isReadOnly: false,
    isDestructive: true,
    choosing: given.filter(({ remoteOptions, options }) => remoteOptions === true || options !== undefined).map((prop) => prop.name),
    run: async (client, args) => ran(await client.actions.run({ key, configured_props: await configure(client, args), hide_secrets: true })),
    choices: (client, argument, { query, given: known }) =>
      choicesOf(client, { key, prop: props.find((prop) => prop.name === argument), query, configure: () => configure(client, known) }),
  };
}

/** Listed too, so that an agent that looks for it gets the error. */
function brokenTool({ key, name, error }: { key: string; name: string; error: PdError }): ChoosingTool {
  const refuse = (): Promise<never> => Promise.reject(error);
  return {
    name,
    title: key,
    description: `This action cannot be used now: ${error.message}`,
    inputSchema: { type: "object" },
    isReadOnly: false,
    isDestructive: true,
    choosing: [],
    run: refuse,
    choices: refuse,
  };
}

interface Configuring {
  readonly key: string;
  readonly described: DescribedRecord;
  readonly around: Accounts;
}

/** Reads dynamic props first, because their accounts must be allowed too. Throws PD_BAD_INPUT, PD_ACCOUNT_NOT_FOUND. */
async function configuredFor(client: Client, args: JsonObject, { key, described, around }: Configuring): Promise<JsonObject> {
  let props = described.configurable_props;
  if (!described.has_additional_props) return configured(key, args, { props, around });
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const known = Object.fromEntries(Object.entries(args).filter(([name]) => props.some((prop) => prop.name === name)));
    const { dynamicProps } = await client.components.props({ key, configured_props: configured(key, known, { props, around }), partial: true });
    const { configurableProps: next } = dynamicProps;
    const isSettled = isSameJson(namesOf(next), namesOf(props));
    props = next;
    if (isSettled) break;
  }
  return configured(key, args, { props, around });
}

const MOST_ROUNDS = 10;

function namesOf(props: readonly PropRecord[]): JsonObject {
  return Object.fromEntries(props.map(({ name, type }) => [name, type]));
}

function configured(key: string, args: JsonObject, { props, around }: { props: readonly PropRecord[]; around: Accounts }): JsonObject {
  const known = new Set(props.filter((prop) => isArgument(prop) || isAskedFor(prop, around)).map(({ name }) => name));
  const strange = Object.keys(args).filter((name) => !known.has(name));
  const [first] = strange;
  if (first !== undefined)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot call ${key}: it has no argument ${strange.map((name) => JSON.stringify(name)).join(", ")}${didYouMean(first, known)}`,
    );
  // Components may offer objects as choices, but the agent's schema has only strings and integers.
  const odd = props.find(({ name, type, remoteOptions }) => remoteOptions === true && /^(?:string|integer)$/.test(type) && isJsonObject(args[name]));
  if (odd !== undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot call ${key}: expected ${odd.name} of type ${odd.type}, got ${JSON.stringify(args[odd.name])}`);
  const apps = props.filter(({ type }) => type === "app");
  const accounts = apps.flatMap((prop) => {
    const account = accountFor(key, prop, { args, around });
    return account === undefined ? [] : [[prop.name, { authProvisionId: account.id }]];
  });
  const values = Object.entries(args).filter(([name]) => !apps.some((prop) => prop.name === name));
  return { ...Object.fromEntries(values), ...Object.fromEntries(accounts) };
}

type ActionRun = Awaited<ReturnType<Client["actions"]["run"]>>;

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
  readonly configure: () => Promise<JsonObject>;
}

async function choicesOf(client: Client, { key, prop, query, configure }: Choosing): Promise<Choices> {
  const fits = ({ label }: Choice): boolean => label.toLowerCase().includes(query.toLowerCase());
  if (prop?.options !== undefined) return firstOf(prop.options.filter(fits));
  if (prop?.remoteOptions !== true) return firstOf([]);
  const found = new Map<string, Choice>();
  const chosen = (): Choices => firstOf([...found.values()].filter(prop.useQuery === true ? () => true : fits));
  const asked = { key, prop_name: prop.name, configured_props: await configure(), hide_secrets: true, ...(prop.useQuery === true ? { query } : {}) };
  let context: JsonObject = {};
  for (let page = 0; page < MOST_PAGES && found.size <= MOST_CHOICES; page++) {
    const asking = client.components.configure({ ...asked, page, prev_context: context });
    // If a later page fails, the earlier choices remain.
    const answer = await (page === 0 ? asking : asking.catch(() => undefined));
    if (answer === undefined) break;
    const isNew = answer.options.some(({ value }) => !found.has(JSON.stringify(value)));
    if (!isNew) return chosen();
    for (const option of answer.options) found.set(JSON.stringify(option.value), option);
    context = answer.context ?? {};
  }
  return { choices: chosen().choices, hasMore: true };
}

function firstOf(choices: readonly Choice[]): Choices {
  return { choices: choices.slice(0, MOST_CHOICES), hasMore: choices.length > MOST_CHOICES };
}

const WITHOUT_VALUE = /^(\$\.interface\.|\$\.service\.db$|alert$|dir$)/;
const SINGLE: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  object: { type: "object" },
  any: {},
  sql: { type: "string" },
  http_request: { type: "object" },
  data_store: { type: "string" },
};

/** An agent chooses accounts by name. */
function isArgument({ type, hidden, disabled, readOnly }: PropRecord): boolean {
  return !WITHOUT_VALUE.test(type) && type !== "app" && hidden !== true && disabled !== true && readOnly !== true;
}

function argumentSchema(prop: PropRecord): JsonObject {
  const { type, label, description, default: usual, min, max, options } = prop;
  const isList = type.endsWith("[]");
  const item: JsonObject = { ...SINGLE[type.replace(/\[\]$/, "").replace(/^\$\.service\./, "")], ...choicesSchema(options) };
  const words = [label, description].filter((text) => text !== undefined && text !== "").join(". ");
  const bounds = { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
  return {
    ...(isList ? { type: "array", items: { ...item, ...bounds } } : { ...item, ...bounds }),
    ...(words === "" ? {} : { description: words }),
    ...(usual === undefined || usual === null ? {} : { default: usual }),
  };
}

function choicesSchema(options: PropRecord["options"]): JsonObject {
  if (options === undefined || options.length === 0) return {};
  const values = options.map(({ value }): JsonValue => value);
  return options.every(({ label, value }) => label === String(value))
    ? { enum: values }
    : { oneOf: options.map(({ label, value }) => ({ const: value, title: label })) };
}
