import { createHash } from "node:crypto";
import type * as z from "zod";
import { api } from "../../../api/api.ts";
import type { KeyRecord } from "../../../api/server.ts";
import { PdError } from "../../../domain/errors.ts";
import { nextInstant, parseGivenTimer } from "../../../domain/timer/schedule.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { ApiKey } from "../../../ports/stores/key-store.ts";
import type { ServerFacts } from "./facts.ts";
import type { ProgressBoard } from "../progress.ts";
import { checkup } from "./checkup.ts";
import { seconds } from "../records.ts";
import { type Route, route } from "../route.ts";

const { server, keys } = api;

const SHOWN_INSTANTS = 5;

export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

interface ServerRouteSettings {
  readonly clock: Pick<Clock, "now">;
  readonly facts: ServerFacts;
  readonly board: ProgressBoard;
  readonly rotateSecrets: () => Promise<number>;
}

export function serverRoutes(engine: Engine, { facts, board, rotateSecrets, clock }: ServerRouteSettings): readonly Route[] {
  const { apiKeys } = engine;
  return [
    route(server.status, () => ({ data: facts.status() })),
    route(server.progress, ({ caller, part }) => ({ data: board.read(caller(), part("id")) })),
    route(server.figures, async () => ({ data: await facts.figures() })),
    route(server.usage, async () => ({ data: await facts.usage() })),
    route(server.checkup, async () => ({ data: [...(await checkup(engine, facts, clock.now()))] })),
    route(server.schedule, ({ params }) => ({ data: { next_ms: nextInstants(params, clock.now()) } })),
    route(server.rotateSecrets, async () => {
      return { data: { rotated: true as const, left: await rotateSecrets() } };
    }),
    route(keys.list, async () => ({ data: (await apiKeys.list()).map(keyRecord) })),
    route(keys.create, async ({ params }) => {
      const { made, key } = await apiKeys.create({ name: params.name, isReadOnly: params.read_only }, hashOfKey);
      return { data: { ...keyRecord(made), key } };
    }),
    route(keys.revoke, async ({ part }) => {
      await apiKeys.revoke(part("id"));
      return { data: { id: part("id"), deleted: true } };
    }),
  ];
}

/** Throws PD_BAD_INPUT. */
function nextInstants(given: z.output<typeof server.schedule.params>, now: number): number[] {
  const parsed = parseGivenTimer(given);
  if (typeof parsed === "string") throw new PdError("PD_BAD_INPUT", `Cannot compute the next runs: ${parsed}`);
  const found: number[] = [];
  for (let at = nextInstant(parsed.schedule, now, now); at !== undefined && found.length < SHOWN_INSTANTS; at = nextInstant(parsed.schedule, now, at))
    found.push(at);
  return found;
}

function keyRecord({ id, name, isReadOnly, createdAt }: ApiKey): KeyRecord {
  return { id, name, read_only: isReadOnly, created_at: seconds(createdAt) };
}
