import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import { isInvocationId } from "../../domain/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import { recentObservations } from "../../engine/recent-observations.ts";
import { instantRecord, invocationRecord, observationRecord } from "./records.ts";
import { type Route, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const limitParams = z.object({ limit: pageParams.shape.limit });

/** What has run, and what was planned to. */
export function invocationRoutes(engine: Engine): readonly Route[] {
  const tag = "Invocations";
  return [
    route({
      method: "get",
      path: "/v1/sources/{id}/invocations",
      tag,
      summary: "Lists calls of run and of hooks, the newest first",
      params: pageParams,
      answer: schemas.many(schemas.invocation),
      async run({ params: { limit, before }, part }) {
        const { id } = engine.find(part("id"), "read invocations of").source;
        const invocations = await engine.store.listInvocations(id, { limit, ...(isInvocationId(before) ? { before } : {}) });
        return { data: invocations.map((invocation) => invocationRecord(invocation)) };
      },
    }),
    route({
      method: "get",
      path: "/v1/sources/{id}/logs",
      tag,
      summary: "The newest observations, the oldest first",
      params: limitParams,
      answer: schemas.many(schemas.observation),
      async run({ params: { limit }, part }) {
        const { id } = engine.find(part("id"), "read logs of").source;
        return { data: (await recentObservations(engine.store, id, limit)).map(observationRecord) };
      },
    }),
    route({
      method: "get",
      path: "/v1/sources/{id}/timer_instants",
      tag,
      summary: "What became of planned instants, the newest first",
      params: limitParams,
      answer: schemas.many(schemas.instant),
      async run({ params: { limit }, part }) {
        const { id } = engine.find(part("id"), "read timers of").source;
        return { data: (await engine.store.listInstants(id, limit)).map(instantRecord) };
      },
    }),
    route({
      method: "get",
      path: "/v1/invocations/{id}",
      tag,
      summary: "Shows a call with its log",
      answer: schemas.one(schemas.invocation),
      async run({ part }) {
        const id = part("id");
        const invocation = isInvocationId(id) ? await engine.store.getInvocation(id) : undefined;
        if (invocation === undefined) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot find invocation "${id}": none has this id`);
        return { data: invocationRecord(invocation, await engine.store.invocationLogs(invocation.id)) };
      },
    }),
    route({
      method: "post",
      path: "/v1/invocations/{id}/replay",
      tag,
      summary: "Repeats the trigger of a call against today's code",
      answer: schemas.one(schemas.invocation),
      async run({ part }) {
        const id = part("id");
        if (!isInvocationId(id)) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot replay "${id}": no invocation has this id`);
        const { invocation } = await engine.replay(id);
        return { data: invocationRecord(invocation, await engine.store.invocationLogs(invocation.id)) };
      },
    }),
  ];
}
