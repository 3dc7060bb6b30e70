import { PdError } from "../../../domain/errors.ts";
import { api } from "../../../api/api.ts";
import type { IndexedRecord, RegistryRecord } from "../../../api/registries.ts";
import { type IndexedComponent, type Registry, publicLocation } from "../../../domain/component/registry.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, pageOf, route } from "../route.ts";

const { registries: calls } = api;

export function registryRoutes({ registries, components }: Engine): readonly Route[] {
  return [
    route(calls.list, async () => ({ data: (await registries.looked()).map(({ registry, problem }) => ({ ...registryRecord(registry), problem })) })),
    route(calls.add, async ({ params }) => {
      const { registry, count } = await registries.add(params);
      return { data: { ...registryRecord(registry), component_count: registry.kind === "npm" ? undefined : count } };
    }),
    route(calls.remove, async ({ part }) => {
      await registries.remove(part("name"));
      return { data: { id: part("name"), deleted: true } };
    }),
    route(calls.update, async ({ params }) => ({ data: (await registries.update(params.name, params.app)).map(registryRecord) })),
    route(calls.search, async ({ params }) => {
      const { query, component_type: type } = params;
      const found = (await components.search(query)).filter((entry) => type === undefined || entry.type === type);
      return pageOf(found, params, { idOf: ({ key }) => key, records: (shown) => shown.map(indexedRecord) });
    }),
  ];
}

function registryRecord(registry: Registry): RegistryRecord {
  const { name, kind } = registry;
  return { name, kind, location: shownLocation(registry) };
}

/** Empty when the location cannot be opened. `problem` then has the reason. */
function shownLocation(registry: Registry): string {
  try {
    return publicLocation(registry.location);
  } catch (error) {
    if (error instanceof PdError && error.code === "PD_SECRET_KEY_WRONG") return "";
    throw error;
  }
}

function indexedRecord({ key, name, description, version, type, registry, path }: IndexedComponent): IndexedRecord {
  return { id: key, key, name, description, version, component_type: type, registry, path };
}
