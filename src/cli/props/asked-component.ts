import type { CodeParams } from "../../api/components.ts";
import type { ChoicesRecord, PropRecord } from "../../api/props.ts";
import type { SourceRecord } from "../../api/sources.ts";
import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../domain/json.ts";
import { kindOfType } from "../../domain/props/kinds.ts";
import { type AppFacts, findAppOf } from "../accounts/app-facts.ts";
import type { LoadPage } from "../ask/choices.ts";

/** A component whose props are being set, as the server answers for it. */
export interface AskedComponent {
  /** All props that it has with these values. Throws PD_BAD_PROPS, which tells what is missing. */
  props(given: JsonObject): Promise<readonly PropRecord[]>;
  /** The server that answers. */
  readonly client: Client;
  /** What is known of an app that it uses. */
  app(slug: string): Promise<AppFacts>;
  /** How the choices of a prop are asked for, with the values given so far. */
  choices(prop: PropRecord, given: JsonObject): LoadPage;
}

/** Code that is not deployed, with its variables; values that are not given are those of a source. */
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

/** A source, whose own values count as well. */
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

/** Those that there are; a name that is typed makes another. */
async function dataStores(client: Client): Promise<Pick<ChoicesRecord, "options" | "context">> {
  const stores = await client.dataStores.list();
  return { options: stores.map(({ name }) => ({ label: name, value: name })), context: null };
}
