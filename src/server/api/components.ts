import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { codeInput, codeParams } from "./component-code.ts";
import { flag } from "./params.ts";
import { componentRecord } from "./records.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const text = z.string();

/** /components (platform.md §1.3). */
export function componentRoutes(engine: Engine): readonly Route[] {
  const tag = "Components";
  return [
    route({
      method: "get",
      path: "/v1/components",
      tag,
      summary: "Lists saved components, the newest first",
      params: pageParams,
      answer: schemas.paged(schemas.component),
      run: async ({ params }) => pageOf(await engine.store.listComponents(), params, { idOf: ({ id }) => id, records: (shown) => shown.map(componentRecord) }),
    }),
    route({
      method: "post",
      path: "/v1/components",
      tag,
      summary: "Saves code without deploying it; with publish it wants a key, and a version that this key did not have",
      params: codeParams.extend({ publish: flag.optional() }),
      answer: schemas.one(schemas.component),
      async run({ params }) {
        const input = await codeInput(engine, params);
        if (input === undefined) throw new PdError("PD_BAD_INPUT", "Cannot save a component: neither component_code nor component_url is given");
        return { data: componentRecord(params.publish === true ? await engine.publish(input) : await engine.saveComponent(input)) };
      },
    }),
    route({
      method: "get",
      path: "/v1/components/search",
      tag,
      summary: "Finds keys by words of their component's name, key or description, here and in the registries",
      params: z.object({ query: text.default(""), app: text.optional(), limit: z.coerce.number().int().min(1).max(1000).default(10) }),
      answer: schemas.keys,
      run: ({ params }) => searchKeys(engine, params),
    }),
    route({
      method: "get",
      path: "/v1/components/registry/{key}",
      tag,
      summary: "Shows the newest component with this key, of those saved here or else of the registries",
      answer: schemas.one(schemas.component),
      run: async ({ part }) => ({ data: componentRecord(await engine.describeKey(part("key"))) }),
    }),
    route({
      method: "get",
      path: "/v1/components/{id}",
      tag,
      summary: "Shows a saved component, by id or key",
      answer: schemas.one(schemas.component),
      run: async ({ part }) => ({ data: componentRecord(await engine.findComponent(part("id"))) }),
    }),
    route({
      method: "delete",
      path: "/v1/components/{id}",
      tag,
      summary: "Unpublishes a saved component, or every version of a key; sources that run it go on",
      params: z.object({ version: text.optional() }),
      answer: schemas.one(schemas.deleted),
      async run({ params, part }) {
        await engine.unpublish(part("id"), params.version);
        return { data: { id: part("id"), deleted: true } };
      },
    }),
  ];
}

async function searchKeys(engine: Engine, { query, app, limit }: { query: string; app?: string | undefined; limit: number }): Promise<JsonObject> {
  const found = await engine.searchComponents(app === undefined ? query : `${app} ${query}`);
  const ofApp = found.filter(({ key }) => app === undefined || key.startsWith(`${app}-`));
  const of = (type: string): string[] =>
    ofApp
      .filter((entry) => entry.type === type)
      .map(({ key }) => key)
      .slice(0, limit);
  return { sources: of("source"), actions: of("action") };
}
