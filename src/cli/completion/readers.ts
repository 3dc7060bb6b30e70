import type { PropRecord } from "../../api/props.ts";
import { type Client, everyPage } from "../../client/client.ts";
import { mayBeKey } from "../../domain/component/registry.ts";
import type { Place } from "./place.ts";

export interface Candidate {
  readonly value: string;
  readonly about?: string | undefined;
}

export interface Surroundings {
  readonly place: Place;
  readonly client: Client;
  /** The source that this file was last saved to. */
  readonly sourceOfFile: (path: string) => Promise<string | undefined>;
}

/** Shorter keys match too much. */
const LEAST_TYPED = 2;
const MOST = 100;
const RECENT = 30;

type Reader = (around: Surroundings) => Promise<readonly Candidate[]>;

export const READERS = {
  alerts: async ({ client }) => (await client.alerts.list()).map(({ id, to }) => ({ value: id, about: to })),
  accounts: async ({ client }) => (await everyPage(client.accounts.list)).map(({ id, name, app }) => ({ value: name ?? id, about: app.name_slug })),
  apps: async ({ client, place: { current } }) =>
    (await client.apps.list({ limit: MOST, q: current })).data.map(({ name_slug: value, name }) => ({ value, about: name })),
  components: async ({ client, place: { current } }) =>
    current.length < LEAST_TYPED
      ? []
      : (await client.registries.search({ limit: MOST, query: current })).data.map(({ key, name }) => ({ value: key, about: name })),
  events: async ({ client, place: { given } }) =>
    (await client.events.list(given[0] ?? "", { limit: RECENT })).data.map(({ id, metadata }) => ({ value: id, about: metadata.summary })),
  invocations: async ({ client, place: { given } }) =>
    (await client.invocations.list(given[0] ?? "", { limit: RECENT })).map(({ id, outcome }) => ({ value: id, about: outcome })),
  props: async (around) => propCandidates(around, await propsOf(around)),
  propNames: async (around) => (await propsOf(around)).map(({ name: value, label }) => ({ value, about: label })),
  registries: async ({ client }) => (await client.registries.list()).map(({ name, location }) => ({ value: name, about: location })),
  serverKeys: async ({ client }) => (await client.keys.list()).map(({ name }) => ({ value: name })),
  sources: async ({ client }) => (await everyPage(client.sources.list)).map(({ name_slug: value, name }) => ({ value, about: name })),
  state: async ({ client, place: { given } }) => Object.keys(await client.state.all(given[0] ?? "")).map((value) => ({ value })),
  stores: async ({ client }) => (await client.dataStores.list()).map(({ name }) => ({ value: name })),
  storeKeys: async ({ client, place: { given } }) => Object.keys(await client.dataStores.values(given[0] ?? "")).map((value) => ({ value })),
  webhooks: async ({ client }) => (await everyPage(client.webhooks.list)).map(({ id, name, url }) => ({ value: id, about: name ?? url })),
  workflows: async ({ client }) => (await everyPage(client.workflows.list)).map(({ name_slug: value, name }) => ({ value, about: name })),
} satisfies Record<string, Reader>;

/** Known props only: Tab must not send or run code. */
async function propsOf({ client, place: { given, values }, sourceOfFile }: Surroundings): Promise<readonly PropRecord[]> {
  const named = given[0] ?? values.get("--dc");
  if (named === undefined) return [];
  const ofFile = await sourceOfFile(named);
  const sources = await everyPage(client.sources.list);
  const found = sources.find(({ id, name_slug: slug, name }) => id === ofFile || named === id || named === slug || named === name);
  if (found !== undefined) return found.configurable_props;
  const saved = mayBeKey(named) ? await everyPage(client.components.list) : [];
  return saved.find(({ key }) => key === named)?.configurable_props ?? [];
}

async function propCandidates({ client, place: { current } }: Surroundings, props: readonly PropRecord[]): Promise<readonly Candidate[]> {
  const mark = current.indexOf("=");
  if (mark < 0) return props.filter(isAsked).map(({ name, label, description }) => ({ value: `${name}=`, about: label ?? description?.split("\n")[0] }));
  const prop = props.find(({ name }) => name === current.slice(0, mark));
  if (prop === undefined) return [];
  const values =
    prop.app === undefined
      ? valuesOf(prop)
      : (await everyPage(client.accounts.list)).filter(({ app }) => app.name_slug === prop.app).map(({ id, name }) => name ?? id);
  return values.map((value) => ({ value: `${prop.name}=${value}` }));
}

function isAsked({ type }: PropRecord): boolean {
  return type !== "alert" && type !== "$.service.db" && type !== "$.interface.http";
}

function valuesOf({ type, options = [] }: PropRecord): readonly string[] {
  if (type === "boolean") return ["true", "false"];
  return options.map(({ value }) => (typeof value === "string" ? value : JSON.stringify(value)));
}
