import type * as z from "zod";
import { api } from "../../../api/api.ts";
import { PdError } from "../../../domain/errors.ts";
import type { Engine } from "../../../engine/engine.ts";
import { codeInput } from "./component-code.ts";
import { componentRecord } from "../records.ts";
import { type AnswerOf, type Route, pageOf, route } from "../route.ts";

const { components } = api;

export function componentRoutes(engine: Engine): readonly Route[] {
  return [
    route(components.list, async ({ params }) =>
      pageOf(await engine.components.list(), params, { idOf: ({ id }) => id, records: (shown) => shown.map(componentRecord) }),
    ),
    route(components.save, async ({ params }) => {
      const input = await codeInput(engine, params);
      if (input === undefined) throw new PdError("PD_BAD_INPUT", "Cannot save a component: neither component_code nor component_url is given");
      return { data: componentRecord(params.publish === true ? await engine.components.publish(input) : await engine.components.save(input)) };
    }),
    route(components.search, ({ params }) => searchKeys(engine, params)),
    route(components.ofKey, async ({ part }) => ({ data: componentRecord(await engine.components.describe(part("key"))) })),
    route(components.get, async ({ part }) => ({ data: componentRecord(await engine.components.find(part("id"))) })),
    route(components.unpublish, async ({ params, part }) => {
      await engine.components.unpublish(part("id"), params.version);
      return { data: { id: part("id"), deleted: true } };
    }),
  ];
}

async function searchKeys(engine: Engine, { query, app, limit }: z.output<typeof components.search.params>): Promise<AnswerOf<typeof components.search>> {
  const found = await engine.components.search(app === undefined ? query : `${app} ${query}`);
  const ofApp = found.filter(({ key }) => app === undefined || key.startsWith(`${app}-`));
  const of = (type: string): string[] =>
    ofApp
      .filter((entry) => entry.type === type)
      .map(({ key }) => key)
      .slice(0, limit);
  return { sources: of("source"), actions: of("action") };
}
