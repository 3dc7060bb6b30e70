import { createHash } from "node:crypto";
import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiKey, KeyStore } from "../../ports/key-store.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { status } from "./status-schema.ts";

/** SHA-256, hex: what is kept of a key. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

interface ServerRouteSettings {
  readonly store: KeyStore;
  readonly clock: Clock;
  readonly status: () => JsonObject;
}

/** The server itself: its state, and who may call it. */
export function serverRoutes({ store, clock, status: readStatus }: ServerRouteSettings): readonly Route[] {
  const tag = "Server";
  return [
    route({ method: "get", path: "/v1/status", tag, summary: "What runs here", answer: schemas.one(status), run: () => ({ data: readStatus() }) }),
    route({
      method: "get",
      path: "/v1/api_keys",
      tag,
      summary: "Lists named keys, the newest first; the keys themselves are not kept",
      answer: schemas.many(schemas.key),
      run: async () => ({ data: (await store.listKeys()).map(keyRecord) }),
    }),
    route({
      method: "post",
      path: "/v1/api_keys",
      tag,
      summary: "Makes a named key; it is shown only now",
      params: z.object({ name: z.string().min(1, "wants a text that is not empty") }),
      answer: schemas.one(schemas.key),
      async run({ params }) {
        const key = clock.randomText(32).toLowerCase();
        const made: ApiKey = { id: `key_${clock.randomText(7)}`, name: params.name, hash: hashOfKey(key), createdAt: clock.now() };
        await store.saveKey(made);
        return { data: { ...keyRecord(made), key } };
      },
    }),
    route({
      method: "delete",
      path: "/v1/api_keys/{id}",
      tag,
      summary: "Revokes a key, by id or name",
      answer: schemas.one(schemas.deleted),
      async run({ part }) {
        if (!(await store.deleteKey(part("id"))))
          throw new PdError("PD_NOT_FOUND", `Cannot revoke key "${part("id")}": none has this id or name`, { fix: "pd keys list" });
        return { data: { id: part("id"), deleted: true } };
      },
    }),
  ];
}

function keyRecord({ id, name, createdAt }: ApiKey): JsonObject {
  return { id, name, created_at: Math.floor(createdAt / 1000) };
}
