import type { CodeParams } from "../../api/components.ts";
import type { ChoicesRecord, PropRecord } from "../../api/props.ts";
import type { SourceRecord } from "../../api/sources.ts";
import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { kindOfType } from "../../domain/props/kinds.ts";
import { type AppFacts, findAppOf } from "../accounts/app-facts.ts";
import type { LoadPage } from "../ask/choices.ts";

export interface AskedComponent {
  /** Depends on the values. Throws PD_BAD_PROPS. */
  props(given: JsonObject): Promise<readonly PropRecord[]>;
  readonly client: Client;
  app(slug: string): Promise<AppFacts>;
  choices(prop: PropRecord, given: JsonObject): LoadPage;
}

/** `source_id` provides missing values. */
export interface GivenCode extends CodeParams {
  readonly env?: Record<string, string>;
  readonly source_id?: string;
}

export function askedCode(client: Client, code: GivenCode): AskedComponent {
  return {
    client,
    app: (slug) => findAppOf(client, slug, code),
    props: async (given) => (await client.components.props({ ...code, configured_props: given })).dynamicProps.configurableProps,
    choices: (prop, given) => (request) =>
      kindOfType(prop.type).asking?.offers === "data-stores"
        ? dataStores(client)
        : client.components.configure({ ...code, ...request, prop_name: prop.name, configured_props: given }),
  };
}

export function askedSource(client: Client, source: SourceRecord): AskedComponent {
  return {
    client,
    app: (slug) => findAppOf(client, slug, { component_id: source.component_id }),
    props: async () => source.configurable_props,
    choices: (prop, given) => (request) =>
      kindOfType(prop.type).asking?.offers === "data-stores"
        ? dataStores(client)
        : client.sources.configure(source.id, { ...request, prop_name: prop.name, configured_props: given }),
  };
}

/** A typed name creates a store. */
async function dataStores(client: Client): Promise<Pick<ChoicesRecord, "options" | "context">> {
  const stores = await client.dataStores.list();
  return { options: stores.map(({ name }) => ({ label: name, value: name })), context: null };
}
