import { Connection, type ServerAddress } from "../../src/client/connection.ts";
import { type JsonObject, isJsonObject } from "../../src/domain/text/json.ts";

export class ApiClient {
  readonly connection: Connection;

  constructor(server: ServerAddress) {
    this.connection = new Connection(server);
  }

  get(path: string): Promise<JsonObject> {
    return this.#objectOf("GET", path);
  }

  post(path: string, body: JsonObject = {}): Promise<JsonObject> {
    return this.#objectOf("POST", path, body);
  }

  put(path: string, body: JsonObject): Promise<JsonObject> {
    return this.#objectOf("PUT", path, body);
  }

  delete(path: string): Promise<JsonObject> {
    return this.#objectOf("DELETE", path);
  }

  async #objectOf(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: JsonObject): Promise<JsonObject> {
    const answer = await this.connection.request({ method, path, ...(body === undefined ? {} : { body }) });
    return isJsonObject(answer) ? answer : {};
  }
}

export function dataOf(envelope: JsonObject): JsonObject {
  return isJsonObject(envelope["data"]) ? envelope["data"] : {};
}

export function listOf(envelope: JsonObject): readonly JsonObject[] {
  return Array.isArray(envelope["data"]) ? envelope["data"].filter(isJsonObject) : [];
}
