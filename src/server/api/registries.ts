import { z } from "zod";
import { type IndexedComponent, type Registry, publicLocation } from "../../domain/registry.ts";
import type { Engine } from "../../engine/engine.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const text = z.string();

/** Where components are found by key. */
export function registryRoutes({ registries }: Engine): readonly Route[] {
  const tag = "Registries";
  const list = schemas.many(schemas.registry);
  return [
    route({
      method: "get",
      path: "/v1/registries",
      tag,
      summary: "Registries, in the order in which they are asked",
      answer: list,
      run: async () => ({ data: (await registries.list()).map(registryRecord) }),
    }),
    route({
      method: "post",
      path: "/v1/registries",
      tag,
      summary: "Adds a registry: a folder on the server, an npm scope, a Git repository or a tarball",
      params: z.object({ name: text.min(1), kind: z.enum(["folder", "npm", "git", "tarball"]), location: text.min(1) }),
      answer: schemas.one(schemas.registry),
      async run({ params }) {
        const { registry, count } = await registries.add(params);
        return { data: { ...registryRecord(registry), ...(registry.kind === "npm" ? {} : { component_count: count }) } };
      },
    }),
    route({
      method: "delete",
      path: "/v1/registries/{name}",
      tag,
      summary: "Removes a registry; what was deployed from it stays",
      answer: schemas.one(schemas.deleted),
      async run({ part }) {
        await registries.remove(part("name"));
        return { data: { id: part("name"), deleted: true } };
      },
    }),
    route({
      method: "post",
      path: "/v1/registries/update",
      tag,
      summary: "Fetches the newest of one registry or of all, of one app or of all that is here",
      params: z.object({ name: text.optional(), app: text.optional() }),
      answer: list,
      run: async ({ params }) => ({ data: (await registries.update(params.name, params.app)).map(registryRecord) }),
    }),
    route({
      method: "get",
      path: "/v1/registries/search",
      tag,
      summary: "Components of the registries by words of their name, key or description, best first",
      params: pageParams.extend({ query: text.default(""), component_type: z.enum(["source", "action"]).optional() }),
      answer: schemas.paged(schemas.indexed),
      async run({ params }) {
        const { query, component_type: type } = params;
        const found = await registries.search(query);
        return pageOf(
          found.filter((entry) => type === undefined || entry.type === type),
          params,
          {
            idOf: ({ key }) => key,
            records: (shown) => shown.map(indexedRecord),
          },
        );
      },
    }),
  ];
}

function registryRecord({ name, kind, location }: Registry) {
  return { name, kind, location: publicLocation(location) };
}

function indexedRecord({ key, name, description, version, type, registry, path }: IndexedComponent) {
  return { id: key, key, name, description, version, component_type: type, registry, path };
}
