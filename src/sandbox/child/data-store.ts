import type { DataStoreRequest } from "../../domain/data-store.ts";
import { type JsonValue, isJsonValue, isRecord } from "../../domain/json.ts";

import { LIMITS } from "../../domain/limits.ts";

export type AskHost = (request: DataStoreRequest) => Promise<unknown>;

export function dataStore(store: string, ask: AskHost): object {
  const entries = async (): Promise<readonly unknown[]> => listOf(await ask({ operation: "entries", store }));
  return {
    get: (key: unknown) => ask({ operation: "get", store, key: String(key) }),
    has: (key: unknown) => ask({ operation: "has", store, key: String(key) }),
    delete: (key: unknown) => ask({ operation: "delete", store, key: String(key) }),
    set: async (key: unknown, value: unknown, options?: unknown) =>
      ask({ operation: "set", store, key: String(key), value: storable(key, value), ...ttlOf(isRecord(options) ? options["ttl"] : undefined) }),
    setTtl: async (key: unknown, ttl: unknown) => ask({ operation: "set-ttl", store, key: String(key), ...ttlOf(ttl) }),
    keys: async () => listOf(await ask({ operation: "keys", store })),
    entries,
    clear: () => ask({ operation: "clear", store }),
    async *[Symbol.asyncIterator]() {
      yield* await entries();
    },
  };
}

/** Returns seconds, or nothing when the value never expires. Throws TypeError for an invalid ttl. */
function ttlOf(ttl: unknown): { readonly ttl?: number } {
  if (ttl === undefined || ttl === null) return {};
  if (typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0) return { ttl };
  throw new TypeError(`ttl: expected a number of seconds above 0, or null, got ${JSON.stringify(ttl)}`);
}

/** Throws TypeError when JSON cannot carry the value, and RangeError when it is too large. */
function storable(key: unknown, value: unknown): JsonValue {
  const text = JSON.stringify(value);
  if (text !== undefined && text.length > LIMITS.value) throw new RangeError(`set(${JSON.stringify(key)}): the value has more than ${LIMITS.value} characters`);
  const plain: unknown = text === undefined ? null : JSON.parse(text);
  if (!isJsonValue(plain)) throw new TypeError(`set(${JSON.stringify(key)}): the value is not JSON serializable`);
  return plain;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
