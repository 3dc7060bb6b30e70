import { z } from "zod";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { optionsOf } from "../../engine/options-page.ts";
import type { LiveSource } from "../../engine/live-source.ts";
import { codeParams, givenCode, requiredCode } from "./component-code.ts";
import { choicesRecord, optionsParams } from "./configure.ts";
import { flag, jsonObject, jsonValue, maxConcurrency } from "./params.ts";
import { invocationRecord, lineRecord, sourceRecord } from "./records.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const sourceParams = codeParams.extend({
  name: z.string().min(1, "wants a text that is not empty").optional(),
  configured_props: jsonObject.optional(),
  env: z.record(z.string(), z.string()).optional(),
  active: flag.optional(),
  allow_run: flag.optional().describe("it may start programs of the machine, inside the wall"),
  max_concurrency: maxConcurrency.nullable().optional().describe("runs at the same time; null: as many as the server allows"),
});

/** /sources (platform.md §1.4). */
export function sourceRoutes(engine: Engine): readonly Route[] {
  const tag = "Sources";
  const answer = schemas.one(schemas.source);
  return [
    route({
      method: "post",
      path: "/v1/sources",
      tag,
      summary: "Deploys a component",
      params: sourceParams,
      answer,
      async run({ params }) {
        const { name, configured_props: props = {}, env = {}, active, max_concurrency: most, allow_run: allowsPrograms } = params;
        const live = await engine.deploy({
          code: await requiredCode(engine, params, "deploy"),
          props,
          env,
          maxConcurrency: most ?? undefined,
          allowsPrograms,
          ...(name === undefined ? {} : { name }),
          ...(active === undefined ? {} : { active }),
        });
        return { data: { ...(await liveRecord(engine, live)), ...(await hookLines(engine, live)) } };
      },
    }),
    route({
      method: "get",
      path: "/v1/sources/{id}",
      tag,
      summary: "Shows a source, by id or slug",
      answer,
      run: async ({ part }) => ({ data: await liveRecord(engine, engine.find(part("id"))) }),
    }),
    route({
      method: "put",
      path: "/v1/sources/{id}",
      tag,
      summary: "Changes code, name, props, variables or state: deactivate, swap, activate",
      params: sourceParams,
      answer,
      async run({ params, part }) {
        const { name, configured_props: props, env, active, max_concurrency: most, allow_run: allowsPrograms } = params;
        const code = await givenCode(engine, params);
        const change = {
          ...(code && { code }),
          ...(name && { name }),
          ...(props && { props }),
          ...(env && { env }),
          maxConcurrency: most,
          allowsPrograms,
          ...(active === undefined ? {} : { active }),
        };
        return { data: await liveRecord(engine, await engine.update(engine.find(part("id"), "update source"), change)) };
      },
    }),
    route({
      method: "delete",
      path: "/v1/sources/{id}",
      tag,
      summary: "Deletes a source with all that belongs to it; with force although its deactivate hook throws",
      params: z.object({ force: flag.optional() }),
      answer: schemas.one(schemas.deleted),
      async run({ params, part }) {
        const live = engine.find(part("id"), "delete source");
        await engine.delete(live, params.force === true);
        return { data: { id: live.source.id, deleted: true } };
      },
    }),
    route({
      method: "post",
      path: "/v1/sources/{id}/run",
      tag,
      summary: "Runs a source now, with the given event or as its timer would; or emits its sample event in place of a run",
      params: z.object({ event: jsonValue.optional(), sample: flag.optional() }),
      answer: schemas.one(schemas.invocation),
      async run({ params, part }) {
        const live = engine.find(part("id"), "run source");
        const { invocation } = await (params.sample === true ? engine.emitSample(live) : engine.run(live, params.event));
        return { data: invocationRecord(invocation, await engine.store.invocationLogs(invocation.id)) };
      },
    }),
    route({
      method: "post",
      path: "/v1/sources/{id}/configure",
      tag,
      summary: "One page of the choices of a prop whose options the component computes",
      params: optionsParams,
      answer: schemas.one(schemas.choices),
      async run({ params, part }) {
        const { prop_name: prop, page, prev_context: prevContext, query, configured_props: given } = params;
        const live = engine.find(part("id"), "configure source");
        const method = { kind: "options", prop, page, prevContext, ...(query === undefined ? {} : { query }) } as const;
        return { data: choicesRecord(optionsOf(prop, await live.questions.ask(method, given))) };
      },
    }),
  ];
}

/** The list of sources, wherever it is asked for (platform.md §1.4). */
export function sourceListRoutes(engine: Engine, checkWorkspace: (id: string) => void): readonly Route[] {
  const list = (params: z.infer<typeof pageParams>): Promise<JsonObject> =>
    pageOf(engine.newestSources(), params, { idOf: ({ source }) => source.id, records: (shown) => liveRecords(engine, shown) });
  const shared = { method: "get", tag: "Sources", params: pageParams, answer: schemas.paged(schemas.source) } as const;
  const ofWorkspace = (path: string): Route =>
    route({
      ...shared,
      path,
      summary: "Lists the sources of the workspace",
      run({ params, part }) {
        checkWorkspace(part("org_id"));
        return list(params);
      },
    });
  return [
    route({ ...shared, path: "/v1/users/me/sources", summary: "Lists all sources, the newest first", run: ({ params }) => list(params) }),
    ofWorkspace("/v1/orgs/{org_id}/sources"),
    ofWorkspace("/v1/workspaces/{org_id}/sources"),
  ];
}

/** A source as every answer shows it. */
export async function liveRecord(engine: Engine, live: LiveSource): Promise<JsonObject> {
  const [record] = await liveRecords(engine, [live]);
  return record ?? {};
}

/** What is stored of all of them is read at once. */
async function liveRecords(engine: Engine, shown: readonly LiveSource[]): Promise<readonly JsonObject[]> {
  const timers = await engine.store.listTimers(shown.map(({ source }) => source.id));
  const problems = await engine.accounts.problemsOf(shown);
  return shown.map(({ definition, endpoint, provenance, source }, index) =>
    sourceRecord(source, {
      definition,
      endpoint,
      timers: timers.filter(({ sourceId }) => sourceId === source.id),
      owner: engine.owner,
      provenance,
      problems: problems[index] ?? [],
    }),
  );
}

/** What the hooks of a deploy have logged (platform.md §1.4, callback_observations). */
async function hookLines(engine: Engine, { source }: LiveSource): Promise<JsonObject> {
  const hooks = (await engine.store.listInvocations(source.id, { limit: 20 })).filter(({ trigger }) => trigger.kind === "hook");
  const lines: JsonObject[] = [];
  for (const { id } of hooks.toReversed()) for (const line of await engine.store.invocationLogs(id)) lines.push({ ...lineRecord(line), invocation_id: id });
  return lines.length === 0 ? {} : { callback_observations: lines };
}
