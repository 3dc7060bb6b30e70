import type * as z from "zod";
import { api } from "../../../api/api.ts";
import type { ExportedRecord } from "../../../api/transfer.ts";
import type { ChannelCache } from "../../../domain/event/dedupe.ts";
import { settingsIn } from "../../../domain/source-settings/read-settings.ts";
import type { JsonValue } from "../../../domain/text/json.ts";
import type { ComponentCode } from "../../../domain/component/saved-component.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { ExportedSource } from "../../../engine/sources/transfer.ts";
import type { StoredBaggage } from "../../../ports/stores/component-store.ts";
import { checkCode, checkedImports } from "../sources/component-code.ts";
import { isForeign } from "../sources/debug-targets.ts";
import { type Route, route } from "../route.ts";
import { liveRecord } from "../sources/sources.ts";

const { sources } = api;
type Imported = z.output<typeof sources.import.params>;

export function transferRoutes(engine: Engine): readonly Route[] {
  return [
    route(sources.export, async ({ params, part }) => ({
      data: exportRecord(await engine.sources.export(engine.sources.find(part("id"), "export source"), params)),
    })),
    route(sources.import, async ({ params, caller }) => {
      const { slug, name, active, component, packages, configured_props: props, env } = params;
      const { path, code: entry, files, imports } = component;
      const code = { kind: "code", code: { ...checkCode({ path, text: entry, files }), ...checkedImports(engine, imports) }, lock: packages } as const;
      const live = await engine.sources.import({
        slug,
        name,
        active,
        code,
        props,
        env,
        settings: settingsIn(params),
        baggage: baggageOf(params),
        isForeign: isForeign(caller()),
      });
      return { data: await liveRecord(engine, live) };
    }),
  ];
}

function exportRecord({
  slug,
  name,
  active,
  version,
  code,
  lock,
  props,
  secretProps,
  withheldProps,
  propNames,
  env,
  withheldEnv,
  settings,
  state,
  cache,
  events,
}: ExportedSource): ExportedRecord {
  return {
    slug,
    name,
    active,
    version,
    component: { ...codeRecord(code), imports: (code.imports ?? []).map(codeRecord) },
    packages: { ...lock },
    configured_props: props,
    secret_props: [...secretProps],
    withheld_props: [...withheldProps],
    prop_names: [...propNames],
    env: { ...env },
    withheld_env: [...withheldEnv],
    ...settings,
    ...(state === undefined ? {} : { state: Object.fromEntries(Object.entries(state).map(([key, text]): [string, JsonValue] => [key, JSON.parse(text)])) }),
    ...(cache === undefined ? {} : { dedupe_cache: JSON.parse(JSON.stringify(cache)) }),
    events: events.map(({ payload, storedAt, channel, dedupeId, summary, ts, invocationId }) => ({
      event: JSON.parse(payload),
      indexed_at_ms: storedAt,
      metadata: {
        name: channel,
        invocation_id: invocationId,
        ...(dedupeId === undefined ? {} : { id: dedupeId }),
        ...(summary === undefined ? {} : { summary }),
        ...(ts === undefined ? {} : { ts }),
      },
    })),
  };
}

function codeRecord({ text, path, files }: ComponentCode) {
  return { code: text, path, files: { ...files } };
}

function cacheOf({ unique, greatest, last }: NonNullable<Imported["dedupe_cache"]>): ChannelCache {
  return { ...(unique && { unique }), ...(greatest === undefined ? {} : { greatest }), ...(last === undefined ? {} : { last }) };
}

function baggageOf({ state, dedupe_cache: cache = {}, events }: Imported): StoredBaggage | undefined {
  if (state === undefined && events.length === 0) return undefined;
  const { channels } = cache;
  return {
    ...(state === undefined ? {} : { state: Object.fromEntries(Object.entries(state).map(([key, value]) => [key, JSON.stringify(value)])) }),
    cache: {
      ...cacheOf(cache),
      ...(channels && { channels: Object.fromEntries(Object.entries(channels).map(([name, known]) => [name, cacheOf(known)])) }),
    },
    events: events.map(({ event, indexed_at_ms: storedAt, metadata: { name, id, summary, ts, invocation_id: invocationId } }) => ({
      payload: JSON.stringify(event),
      storedAt,
      channel: name,
      invocationId,
      ...(id === undefined ? {} : { dedupeId: id }),
      ...(summary === undefined ? {} : { summary }),
      ...(ts === undefined ? {} : { ts }),
    })),
  };
}
