import { api } from "../../../api/api.ts";
import { PdError } from "../../../domain/errors.ts";
import { type JsonValue, ownMember } from "../../../domain/text/json.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, route } from "../route.ts";

const { state } = api;

export function stateRoutes(engine: Engine): readonly Route[] {
  return [
    route(state.all, async ({ part }) => {
      const kept = await engine.sources.stateOf(engine.sources.find(part("id"), "read state of"));
      return { data: Object.fromEntries(Object.entries(kept).map(([key, text]): [string, JsonValue] => [key, JSON.parse(text)])) };
    }),
    route(state.get, async ({ part }) => {
      const live = engine.sources.find(part("id"), "read state of");
      const { slug } = live.outline;
      const text = ownMember(await engine.sources.stateOf(live), part("key"));
      if (text === undefined)
        throw new PdError("PD_NOT_FOUND", `Cannot read "${part("key")}" of ${slug}: its db has no such key`, { fix: `pd db list ${slug}` });
      const value: JsonValue = JSON.parse(text);
      return { data: { key: part("key"), value } };
    }),
    route(state.set, async ({ params, part }) => {
      await engine.sources.find(part("id"), "write state of").writeState({ [part("key")]: JSON.stringify(params.value) });
      return { data: { key: part("key"), value: params.value } };
    }),
    route(state.delete, async ({ part }) => {
      const live = engine.sources.find(part("id"), "write state of");
      const deleted = Object.hasOwn(await engine.sources.stateOf(live), part("key"));
      await live.writeState({ [part("key")]: null });
      return { data: { key: part("key"), deleted } };
    }),
  ];
}
