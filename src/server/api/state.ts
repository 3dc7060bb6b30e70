import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { jsonValue } from "./params.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

/** The key-value store of a source, from outside. */
export function stateRoutes(engine: Engine): readonly Route[] {
  const tag = "State";
  const path = "/v1/sources/{id}/state/{key}";
  return [
    route({
      method: "get",
      path: "/v1/sources/{id}/state",
      tag,
      summary: "All keys with their values",
      answer: schemas.one(schemas.state),
      async run({ part }) {
        const state = await engine.store.readState(engine.find(part("id"), "read state of").source.id);
        return { data: Object.fromEntries(Object.entries(state).map(([key, text]): [string, JsonValue] => [key, JSON.parse(text)])) };
      },
    }),
    route({
      method: "get",
      path,
      tag,
      summary: "The value of a key",
      answer: schemas.one(schemas.stateEntry),
      async run({ part }) {
        const { id, slug } = engine.find(part("id"), "read state of").source;
        const text = (await engine.store.readState(id))[part("key")];
        if (text === undefined)
          throw new PdError("PD_NOT_FOUND", `Cannot read "${part("key")}" of ${slug}: its db has no such key`, { fix: `pd db list ${slug}` });
        const value: JsonValue = JSON.parse(text);
        return { data: { key: part("key"), value } };
      },
    }),
    route({
      method: "put",
      path,
      tag,
      summary: "Sets a key",
      params: z.object({ value: jsonValue }),
      answer: schemas.one(schemas.stateEntry),
      async run({ params, part }) {
        await engine.find(part("id"), "write state of").writeState({ [part("key")]: JSON.stringify(params.value) });
        return { data: { key: part("key"), value: params.value } };
      },
    }),
    route({
      method: "delete",
      path,
      tag,
      summary: "Clears a key",
      answer: schemas.one(schemas.stateDeleted),
      async run({ part }) {
        const live = engine.find(part("id"), "write state of");
        const deleted = part("key") in (await engine.store.readState(live.source.id));
        await live.writeState({ [part("key")]: null });
        return { data: { key: part("key"), deleted } };
      },
    }),
  ];
}
