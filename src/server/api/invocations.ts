import { api } from "../../api/api.ts";
import { PdError } from "../../domain/errors.ts";
import { isInvocationId } from "../../domain/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import { recentObservations } from "../../engine/runs/recent-observations.ts";
import { instantRecord, invocationRecord, observationRecord } from "./records.ts";
import { type Route, route } from "./route.ts";

const { invocations } = api;

/** What has run, and what was planned to. */
export function invocationRoutes(engine: Engine): readonly Route[] {
  return [
    route(invocations.list, async ({ params: { limit, before }, part }) => {
      const { id } = engine.find(part("id"), "read invocations of").source;
      const found = await engine.store.listInvocations(id, { limit, ...(isInvocationId(before) ? { before } : {}) });
      return { data: found.map((invocation) => invocationRecord(invocation)) };
    }),
    route(invocations.observations, async ({ params: { limit }, part }) => {
      const { id } = engine.find(part("id"), "read logs of").source;
      return { data: (await recentObservations(engine.store, id, limit)).map(observationRecord) };
    }),
    route(invocations.instants, async ({ params: { limit }, part }) => {
      const { id } = engine.find(part("id"), "read timers of").source;
      return { data: (await engine.store.listInstants(id, limit)).map(instantRecord) };
    }),
    route(invocations.get, async ({ part }) => {
      const id = part("id");
      const invocation = isInvocationId(id) ? await engine.store.getInvocation(id) : undefined;
      if (invocation === undefined) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot find invocation "${id}": none has this id`);
      return { data: invocationRecord(invocation, await engine.store.invocationLogs(invocation.id)) };
    }),
    route(invocations.replay, async ({ part }) => {
      const id = part("id");
      if (!isInvocationId(id)) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot replay "${id}": no invocation has this id`);
      const { invocation } = await engine.replay(id);
      return { data: invocationRecord(invocation, await engine.store.invocationLogs(invocation.id)) };
    }),
  ];
}
