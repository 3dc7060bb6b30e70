import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { ApiClient } from "./api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";

interface DocumentedAnswer {
  readonly content?: Readonly<Record<string, { readonly schema: object } | undefined>>;
}
type Documented = Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, DocumentedAnswer>> }>>>>;

interface Operation {
  readonly method: string;
  readonly path: RegExp;
  readonly name: string;
  readonly isRight: ValidateFunction;
}

const ajv = new Ajv2020({ strict: false });
let operations: Promise<readonly Operation[]> | undefined;

/** Throws when an answer violates the OpenAPI document. */
export class CheckedClient extends ApiClient {
  override get(path: string): Promise<JsonObject> {
    return this.#checked("get", path, super.get(path));
  }

  override post(path: string, body: JsonObject = {}): Promise<JsonObject> {
    return this.#checked("post", path, super.post(path, body));
  }

  override put(path: string, body: JsonObject): Promise<JsonObject> {
    return this.#checked("put", path, super.put(path, body));
  }

  override delete(path: string): Promise<JsonObject> {
    return this.#checked("delete", path, super.delete(path));
  }

  async #checked(method: string, path: string, answer: Promise<JsonObject>): Promise<JsonObject> {
    const value = await answer;
    operations ??= super.get("/v1/openapi.json").then(operationsOf);
    const [plain = "", query = ""] = path.split("?");
    // The answer then has only the chosen members.
    if (/(^|&)(include|exclude)=/.test(query)) return value;
    const operation = (await operations).find((one) => one.method === method && one.path.test(plain));
    if (operation?.isRight(value) === false)
      throw new Error(`the document of the API forbids what ${operation.name} answers: ${ajv.errorsText(operation.isRight.errors)}`);
    return value;
  }
}

/** As in the router, paths without parameters first. */
function operationsOf(document: JsonObject): readonly Operation[] {
  const paths = document["paths"] as unknown as Documented;
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const schema = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content?.["application/json"]?.schema;
      if (schema === undefined) return [];
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      return [{ method, path: pattern, name: `${method} ${path}`, isRight: ajv.compile(schema) }];
    }),
  );
  return found.toSorted((left, right) => left.name.split("{").length - right.name.split("{").length);
}
