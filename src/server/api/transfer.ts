import { z } from "zod";
import type { ChannelCache } from "../../domain/dedupe.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { ComponentCode } from "../../domain/saved-component.ts";
import type { Engine } from "../../engine/engine.ts";
import { type ExportedSource, exportSource } from "../../engine/transfer.ts";
import type { StoredBaggage } from "../../ports/component-store.ts";
import { checkCode, checkedImports, codeFiles } from "./component-code.ts";
import { flag, jsonObject, jsonValue, maxConcurrency } from "./params.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { liveRecord } from "./sources.ts";

/** A pin is a version of the registry, never an address or a path. */
const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/;

const texts = z.record(z.string(), z.string());

const channelCache = z.object({ unique: z.array(z.string()).optional(), greatest: z.string().optional(), last: z.string().optional() });

const importParams = z.object({
  slug: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "wants a slug: small letters, digits and dashes"),
  name: z.string().min(1),
  active: z.boolean().default(true),
  component: codeFiles.extend({ imports: z.array(codeFiles).optional() }),
  packages: z.record(z.string(), z.string().regex(EXACT_VERSION, "wants an exact version, such as 1.2.3")).default({}),
  configured_props: jsonObject.default({}),
  env: texts.default({}),
  max_concurrency: maxConcurrency.optional(),
  allow_run: z.boolean().optional(),
  state: jsonObject.optional(),
  dedupe_cache: channelCache.extend({ channels: z.record(z.string(), channelCache).optional() }).optional(),
  events: z
    .array(
      z.object({
        event: jsonValue,
        indexed_at_ms: z.number(),
        metadata: z.object({
          name: z.string().default(""),
          id: z.string().optional(),
          summary: z.string().optional(),
          ts: z.number().optional(),
          invocation_id: z.string().default(""),
        }),
      }),
    )
    .default([]),
});

/** A source as it travels between servers (pd push, pd pull). */
export function transferRoutes(engine: Engine): readonly Route[] {
  const tag = "Transfer";
  return [
    route({
      method: "get",
      path: "/v1/sources/{id}/export",
      tag,
      summary: "A source with its code, values and pins; secrets, state and events only when they are asked for",
      params: z.object({ secrets: flag.default(false), state: flag.default(false), events: z.coerce.number().int().min(0).max(1000).default(0) }),
      answer: schemas.one(schemas.exported),
      run: async ({ params, part }) => ({ data: exportRecord(await exportSource(engine.store, engine.find(part("id"), "export source"), params)) }),
    }),
    route({
      method: "post",
      path: "/v1/sources/import",
      tag,
      summary: "Deploys or updates the source with this slug, all or nothing; values that are not given stay. Events are taken only by a new source",
      params: importParams,
      answer: schemas.one(schemas.source),
      async run({ params }) {
        const { slug, name, active, component, packages, configured_props: props, env, max_concurrency: maxConcurrency, allow_run: allowsPrograms } = params;
        const { path, code: entry, files, imports } = component;
        const code = { kind: "code", code: { ...checkCode({ path, text: entry, files }), ...checkedImports(engine, imports) }, lock: packages } as const;
        const live = await engine.importSource({ slug, name, active, code, props, env, maxConcurrency, allowsPrograms, baggage: baggageOf(params) });
        return { data: await liveRecord(engine, live) };
      },
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
  maxConcurrency: most,
  allowsPrograms,
  state,
  cache,
  events,
}: ExportedSource): JsonObject {
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
    ...(most === undefined ? {} : { max_concurrency: most }),
    ...(allowsPrograms === true ? { allow_run: true } : {}),
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

function codeRecord({ text, path, files }: ComponentCode): JsonObject {
  return { code: text, path, files: { ...files } };
}

function cacheOf({ unique, greatest, last }: z.infer<typeof channelCache>): ChannelCache {
  return { ...(unique && { unique }), ...(greatest === undefined ? {} : { greatest }), ...(last === undefined ? {} : { last }) };
}

function baggageOf({ state, dedupe_cache: cache = {}, events }: z.infer<typeof importParams>): StoredBaggage | undefined {
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
