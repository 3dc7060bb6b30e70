import type { JsonObject } from "../domain/json.ts";
import { type ApiClient, dataOf } from "./api-client.ts";
import type { LoadChoices } from "./ask.ts";

/** Asks code that is not deployed. `code`: parameters of the API. */
export function choicesOfCode(client: ApiClient, code: JsonObject): LoadChoices {
  return (prop, given) => (request) =>
    client.post("/v1/components/configure", { ...code, ...request, prop_name: String(prop["name"]), configured_props: withoutNulls(given) });
}

/** Asks a source, whose own values count as well. */
export function choicesOfSource(client: ApiClient, id: string): LoadChoices {
  return (prop, given) => (request) =>
    client
      .post(`/v1/sources/${encodeURIComponent(id)}/configure`, { ...request, prop_name: String(prop["name"]), configured_props: withoutNulls(given) })
      .then(dataOf);
}

function withoutNulls(given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
}
