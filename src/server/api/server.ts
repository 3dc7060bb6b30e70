import { createHash } from "node:crypto";
import { api } from "../../api/api.ts";
import type { KeyRecord, StatusRecord } from "../../api/server.ts";
import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiKey, KeyStore } from "../../ports/key-store.ts";
import { seconds } from "./records.ts";
import { type Route, route } from "./route.ts";

const { server, keys } = api;

/** SHA-256, hex: what is kept of a key. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

interface ServerRouteSettings {
  readonly store: KeyStore;
  readonly clock: Clock;
  readonly status: () => StatusRecord;
  /** Seals every secret with a new key. */
  readonly rotateSecrets: () => Promise<void>;
}

/** The server itself: its state, its secrets, and who may call it. */
export function serverRoutes({ store, clock, status, rotateSecrets }: ServerRouteSettings): readonly Route[] {
  return [
    route(server.status, () => ({ data: status() })),
    route(server.rotateSecrets, async () => {
      await rotateSecrets();
      return { data: { rotated: true as const } };
    }),
    route(keys.list, async () => ({ data: (await store.listKeys()).map(keyRecord) })),
    route(keys.create, async ({ params }) => {
      const key = clock.randomText(32).toLowerCase();
      const made: ApiKey = { id: `key_${clock.randomText(7)}`, name: params.name, hash: hashOfKey(key), createdAt: clock.now() };
      await store.saveKey(made);
      return { data: { ...keyRecord(made), key } };
    }),
    route(keys.revoke, async ({ part }) => {
      if (!(await store.deleteKey(part("id"))))
        throw new PdError("PD_NOT_FOUND", `Cannot revoke key "${part("id")}": none has this id or name`, { fix: "pd keys list" });
      return { data: { id: part("id"), deleted: true } };
    }),
  ];
}

function keyRecord({ id, name, createdAt }: ApiKey): KeyRecord {
  return { id, name, created_at: seconds(createdAt) };
}
