import { api } from "../../../api/api.ts";
import { isWorkflowId } from "../../../domain/ids.ts";
import type { Engine } from "../../../engine/engine.ts";
import { rehearsalRecord } from "./rehearsal-record.ts";
import { eventRecord, instantRecord, invocationRecord, observationRecord, wholeInvocationRecord } from "../records.ts";
import { type Route, route } from "../route.ts";

const { invocations } = api;

export function invocationRoutes(engine: Engine): readonly Route[] {
  const nameOf = (id: string): string | undefined => engine.deployed.nameOf(id);
  return [
    route(invocations.list, async ({ params: { limit, before }, part }) => {
      const { id } = engine.deployed.find(part("id"), "read invocations of");
      const found = await engine.history.invocations(id, { limit, ...(before === undefined ? {} : { before }) });
      return { data: found.map((invocation) => invocationRecord(invocation, nameOf)) };
    }),
    route(invocations.observations, async ({ params: { limit }, part }) => {
      const { id } = engine.deployed.find(part("id"), "read logs of");
      const triggers = isWorkflowId(id) ? engine.workflows.triggersOf({ id }).map(({ outline }) => outline.id) : [];
      return { data: (await engine.history.observationsWith(id, triggers, limit)).map((one) => observationRecord(one, nameOf)) };
    }),
    route(invocations.instants, async ({ params: { limit }, part }) => {
      const { id } = engine.deployed.find(part("id"), "read timers of");
      return { data: (await engine.history.instants(id, limit)).map(instantRecord) };
    }),
    route(invocations.get, async ({ part }) => {
      const invocation = await engine.history.find(part("id"));
      return { data: await wholeInvocationRecord(invocation, await engine.history.linesOf(invocation), nameOf) };
    }),
    route(invocations.events, async ({ params: { limit }, part }) => {
      const invocation = await engine.history.find(part("id"), "list events of");
      const found = await engine.history.eventsOf(invocation, limit);
      return { data: found.map((event) => eventRecord(invocation.sourceId, event, false)) };
    }),
    route(invocations.rehearse, async ({ part }) => ({ data: rehearsalRecord(await engine.replays.rehearse(part("id"))) })),
    route(invocations.replay, async ({ part }) => {
      const { invocation } = await engine.replays.replay(part("id"));
      return { data: await wholeInvocationRecord(invocation, await engine.history.linesOf(invocation), nameOf) };
    }),
  ];
}
