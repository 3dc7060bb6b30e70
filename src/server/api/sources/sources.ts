import type * as z from "zod";
import { api } from "../../../api/api.ts";
import type { pageParams } from "../../../api/declare.ts";
import type { ObservationRecord } from "../../../api/invocations.ts";
import type { SourceRecord } from "../../../api/sources.ts";
import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { settingsIn } from "../../../domain/source-settings/read-settings.ts";
import { PdError } from "../../../domain/errors.ts";
import { withDynamicProps } from "../../../domain/props/declared-props.ts";
import { overProblem } from "../../../domain/timer/schedule.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { LiveSource } from "../../../engine/runs/source/live-source.ts";
import { unreadableBecause } from "../../../engine/runs/source/unreadable.ts";
import { optionsOf } from "../../../engine/runs/questions/options-page.ts";
import type { Timer } from "../../../ports/stores/timer-store.ts";
import { givenCode, requiredCode } from "./component-code.ts";
import { isForeign } from "./debug-targets.ts";
import { choicesRecord } from "./configure.ts";
import { type SourceContext, lineRecord, sourceRecord, unreadableRecord, wholeInvocationRecord } from "../records.ts";
import { type Route, pageOf, route } from "../route.ts";

const { sources } = api;

const MOST_AT_ONCE = 200;

export function sourceRoutes(engine: Engine): readonly Route[] {
  const list = (params: z.output<typeof pageParams>) =>
    pageOf(engine.sources.list(), params, { idOf: ({ outline }) => outline.id, records: (shown) => liveRecords(engine, shown) });
  return [
    route(sources.list, ({ params }) => list(params)),
    route(sources.listOfOrg, ({ params }) => list(params)),
    route(sources.deploy, async ({ params, progress }) => {
      const { name, configured_props: props = {}, env = {}, active } = params;
      const live = await engine.sources.deploy({
        code: await requiredCode(engine, params, "deploy"),
        props,
        env,
        settings: settingsIn(params),
        progress,
        ...(name === undefined ? {} : { name }),
        ...(params.slug === undefined ? {} : { slug: params.slug }),
        ...(active === undefined ? {} : { active }),
      });
      return { data: { ...(await liveRecord(engine, live)), callback_observations: await hookLines(engine, live) } };
    }),
    route(sources.get, async ({ part }) => ({ data: await liveRecord(engine, engine.sources.find(part("id"))) })),
    route(sources.update, async ({ params, part, progress, caller }) => {
      const { name, configured_props: props, env, active } = params;
      const code = await givenCode(engine, params);
      const change = {
        ...(code && { code }),
        ...(name && { name }),
        ...(props && { props }),
        ...(env && { env }),
        settings: settingsIn(params),
        progress,
        ...(active === undefined ? {} : { active }),
        ...(params.if_version === undefined ? {} : { ifVersion: params.if_version }),
        keepsSlug: params.keep_slug === true,
        ...(params.slug === undefined ? {} : { slug: params.slug }),
        isForced: params.force === true,
        isForeign: isForeign(caller()),
      };
      const live = engine.sources.find(part("id"), "update source");
      return { data: await liveRecord(engine, await engine.sources.update(live, change)) };
    }),
    route(sources.activity, async ({ params: { ids } }) => ({
      data: (await engine.sources.activityOf(ids.split(",").slice(0, MOST_AT_ONCE))).map(({ sourceId, events, calls, memoryBytes }) => ({
        source_id: sourceId,
        events: [...events],
        ...(memoryBytes === undefined ? {} : { memory_bytes: memoryBytes }),
        calls: calls.map(({ id, startedAt, durationMs, outcome }) => ({ id, started_at_ms: startedAt, duration_ms: durationMs, outcome: outcome.kind })),
      })),
    })),
    route(sources.delete, async ({ params, part }) => {
      const live = engine.sources.find(part("id"), "delete source", true);
      await engine.sources.delete(live, params.force === true);
      return { data: { id: live.outline.id, deleted: true } };
    }),
    route(sources.run, async ({ params, part }) => {
      const live = engine.sources.find(part("id"), "run source");
      const { invocation } = await (params.sample === true ? engine.sources.emitSample(live) : engine.sources.run(live, params.event));
      return { data: await wholeInvocationRecord(invocation, await engine.history.linesOf(invocation), (id) => engine.deployed.nameOf(id)) };
    }),
    route(sources.configure, async ({ params, part }) => {
      const { prop_name: prop, page, prev_context: prevContext, query, configured_props: given } = params;
      const live = engine.sources.find(part("id"), "configure source");
      const method = { kind: "options", prop, page, prevContext, ...(query === undefined ? {} : { query }) } as const;
      const declared = withDynamicProps(live.definition.props, live.source.dynamicProps);
      const configured = { ...live.source.configured, ...given };
      return { data: choicesRecord(optionsOf({ prop, declared, configured }, await live.questions.ask(method, given))) };
    }),
  ];
}

export async function liveRecord(engine: Engine, live: LiveSource): Promise<SourceRecord> {
  const [record] = await liveRecords(engine, [live]);
  if (record === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot show ${live.source.slug}: it is gone`);
  return record;
}

/** `read`: their timers, when known. */
export async function problemsOf(engine: Engine, shown: readonly LiveSource[], read?: readonly Timer[]): Promise<readonly (readonly string[])[]> {
  const known = shown.map((live) => ({ live, opened: openedValues(live.source) }));
  const problems = await engine.accounts.problemsOf(known.map(({ live: { definition }, opened }) => ({ source: opened, definition })));
  const ended = (read ?? (await engine.sources.timersOf(shown))).filter(({ nextAt }) => nextAt === undefined);
  // Must follow `timersOf`, which finds unreadable timers.
  const unreadable = await engine.sources.unreadableTimersOf(shown);
  return known.map(({ live: { source }, opened }, index) => {
    const timers = source.active ? ended.filter(({ sourceId }) => sourceId === source.id) : [];
    const ofTimers = timers.map(({ prop, schedule }) => `its prop ${prop} ${overProblem(schedule)}`);
    const broken = source.active ? unreadable.filter(({ sourceId }) => sourceId === source.id) : [];
    const ofBroken = broken.map(({ prop, problem }) => `its prop ${prop} does not fire: its timer cannot be read (${problem}). An update schedules it again`);
    return [...opened.problems, ...(problems[index] ?? []), ...ofTimers, ...ofBroken];
  });
}

async function liveRecords(engine: Engine, shown: readonly LiveSource[]): Promise<SourceRecord[]> {
  const unreadable = new Map(shown.map((live) => [live, unreadableBecause(live)]));
  const readable = shown.filter((live) => unreadable.get(live) === undefined);
  const records = new Map((await readableRecords(engine, readable)).map((record) => [record.id, record]));
  return shown.map((live) => records.get(live.outline.id) ?? unreadableRecord(live.outline, engine.owner, unreadable.get(live) ?? "it is gone"));
}

async function readableRecords(engine: Engine, shown: readonly LiveSource[]): Promise<SourceRecord[]> {
  const timers = await engine.sources.timersOf(shown);
  const problems = await problemsOf(engine, shown, timers);
  return shown.map(({ definition, endpoint, provenance, source }, index) =>
    sourceRecord(source, {
      ...openedValues(source),
      definition,
      endpoint,
      timers: timers.filter(({ sourceId }) => sourceId === source.id),
      owner: engine.owner,
      provenance,
      problems: problems[index] ?? [],
    }),
  );
}

/** Without its secrets, a source is shown without values. */
function openedValues(source: DeployedComponent): Pick<SourceContext, "configured" | "env" | "problems"> {
  try {
    return { configured: source.configured, env: source.env, problems: [] };
  } catch (error) {
    if (!(error instanceof PdError) || error.code !== "PD_SECRET_KEY_WRONG") throw error;
    return { configured: {}, env: {}, problems: [error.message] };
  }
}

async function hookLines(engine: Engine, { source }: LiveSource): Promise<ObservationRecord[] | undefined> {
  const lines = await engine.history.hookLines(source.id);
  return lines.length === 0 ? undefined : lines.map(({ invocation, line }) => ({ ...lineRecord(line), invocation_id: invocation.id }));
}
