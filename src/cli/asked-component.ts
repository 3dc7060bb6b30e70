import { type JsonObject, isJsonObject } from "../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "./api-client.ts";
import { type AppFacts, findAppOf } from "./app-facts.ts";
import type { LoadPage } from "./choices.ts";
import { text } from "./reporter.ts";

/** A component whose props are being set, as the server answers for it. */
export interface AskedComponent {
  /** All props that it has with these values. Throws PD_BAD_PROPS, which tells what is missing. */
  props(given: JsonObject): Promise<readonly JsonObject[]>;
  /** The server that answers. */
  readonly client: ApiClient;
  /** What is known of an app that it uses. */
  app(slug: string): Promise<AppFacts>;
  /** How the choices of a prop are asked for, with the values given so far. */
  choices(prop: JsonObject, given: JsonObject): LoadPage;
}

/** Code that is not deployed. `code`: parameters of the API. */
export function askedCode(client: ApiClient, code: JsonObject): AskedComponent {
  return {
    client,
    app: (slug) => findAppOf(client, slug, code),
    props: async (given) => propsOf(await client.post("/v1/components/props", { ...code, configured_props: given })),
    choices: (prop, given) => (request) =>
      prop["type"] === "data_store"
        ? dataStores(client)
        : client.post("/v1/components/configure", { ...code, ...request, prop_name: text(prop, "name"), configured_props: given }),
  };
}

/** A source, whose own values count as well. */
export function askedSource(client: ApiClient, source: JsonObject): AskedComponent {
  const path = `/v1/sources/${encodeURIComponent(text(source, "id"))}/configure`;
  return {
    client,
    app: (slug) => findAppOf(client, slug, { component_id: text(source, "component_id") }),
    props: async () => (Array.isArray(source["configurable_props"]) ? source["configurable_props"].filter(isJsonObject) : []),
    choices: (prop, given) => (request) =>
      prop["type"] === "data_store"
        ? dataStores(client)
        : client.post(path, { ...request, prop_name: text(prop, "name"), configured_props: given }).then(dataOf),
  };
}

function propsOf({ dynamicProps }: JsonObject): readonly JsonObject[] {
  const props = isJsonObject(dynamicProps) ? dynamicProps["configurableProps"] : [];
  return Array.isArray(props) ? props.filter(isJsonObject) : [];
}

/** Those that there are; a name that is typed makes another. */
async function dataStores(client: ApiClient): Promise<JsonObject> {
  const stores = listOf(await client.get("/v1/data_stores"));
  return { options: stores.map((store) => ({ label: text(store, "name"), value: text(store, "name") })) };
}
