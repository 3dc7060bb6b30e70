import { isJsonValue, isRecord, type JsonValue } from "../../../domain/text/json.ts";
import type { ConfiguredProps } from "../../../domain/props/declared-props.ts";
import type { PropFacts } from "../../../domain/props/prop-kind.ts";
import type { Call } from "./call.ts";
import { resolveDefinition } from "./describe.ts";
import { httpRequest } from "./http-request.ts";
import { bodyParts, headOf, plainResponse, responseOf, streamIn, unsentOf } from "./response.ts";
import type { DataStoreRequest } from "../../../domain/source/data-store.ts";
import { LIMITS } from "../../../domain/limits.ts";

type Callable = (...values: unknown[]) => unknown;

export interface InstanceSettings {
  readonly configured: ConfiguredProps;
  readonly endpoint: string;
  readonly dynamicProps?: readonly PropFacts[];
}

/** Only props are enumerable own keys. Methods are bound, so that they can be passed and destructured. Components write to `this`, so nothing is frozen. */
export function buildInstance(component: Record<string, unknown>, call: Call, settings: InstanceSettings): Record<string, unknown> {
  const instance: Record<string, unknown> = {};
  bindMethods(instance, component["methods"]);
  hide(instance, "$emit", (event: unknown, meta: unknown): Promise<void> => {
    call.emit(event, meta);
    return Promise.resolve();
  });
  const { run } = component;
  // A method named `run` has priority.
  if (isCallable(run) && !("run" in instance)) hide(instance, "run", run.bind(instance));
  const props = isRecord(component["props"]) ? component["props"] : {};
  addProps(instance, props, { call, settings });
  const dynamic = settings.dynamicProps ?? [];
  addProps(instance, Object.fromEntries(dynamic.flatMap((prop) => (prop.name in props ? [] : [[prop.name, prop]]))), { call, settings });
  return instance;
}

interface PropContext {
  readonly call: Call;
  readonly settings: InstanceSettings;
}

export function addProps(instance: Record<string, unknown>, props: Record<string, unknown>, context: PropContext): void {
  for (const [name, declared] of Object.entries(props)) {
    const value = propValue(name, declared, context);
    if (value !== undefined) instance[name] = value;
  }
}

/** Returns a promise only for a stream body, which the component must await. */
function respond(call: Call, given: unknown, isWanted: boolean): Promise<void> | undefined {
  const response = plainResponse(given);
  for (const line of unsentOf(response)) call.note(line);
  const stream = streamIn(response);
  if (stream !== undefined) return call.respondInParts(headOf(response), bodyParts(stream), isWanted);
  call.respond(responseOf(response), isWanted);
  return undefined;
}

function propValue(name: string, declared: unknown, { call, settings }: PropContext): unknown {
  const prop = typeof declared === "string" ? { type: declared } : isRecord(declared) ? resolveDefinition(declared) : undefined;
  const configured = Object.hasOwn(settings.configured, name) ? settings.configured[name] : undefined;
  switch (prop?.["type"]) {
    case undefined:
      return undefined;
    case "$.interface.http":
      return { endpoint: settings.endpoint, respond: (response: unknown) => respond(call, response, prop?.["customResponse"] === true) };
    case "$.interface.apphook":
      return { endpoint: settings.endpoint };
    case "$.interface.timer":
      return { type: "$.interface.timer", ...(isRecord(configured) ? configured : {}) };
    case "$.service.db":
      return { get: (key: unknown) => call.get(key), set: (key: unknown, value: unknown) => call.set(key, value) };
    case "app":
      return appObject(prop ?? {}, configured);
    case "data_store":
      return configured === undefined ? undefined : dataStore(String(configured), (request) => call.ask(request));
    case "http_request":
      return configured === undefined ? undefined : httpRequest(configured);
    default:
      return unwrapLabel(configured);
  }
}

export function appObject(app: Record<string, unknown>, account: unknown): Record<string, unknown> {
  const object: Record<string, unknown> = { $auth: isRecord(account) ? { ...account } : {} };
  hide(object, "propDefinitions", app["propDefinitions"]);
  bindMethods(object, app["methods"]);
  return object;
}

function bindMethods(owner: Record<string, unknown>, methods: unknown): void {
  if (!isRecord(methods)) return;
  for (const [name, method] of Object.entries(methods)) hide(owner, name, isCallable(method) ? method.bind(owner) : method);
}

function hide(owner: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, enumerable: false, writable: true, configurable: true });
}

function isCallable(value: unknown): value is Callable {
  return typeof value === "function";
}

/** `{ __lv: { label, value } }` becomes `{ label, value }`, also in lists. */
function unwrapLabel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapLabel);
  return isRecord(value) && value["__lv"] !== undefined ? value["__lv"] : value;
}

export function methodOf(component: Record<string, unknown>, name: string, isHook: boolean): Callable | undefined {
  const owner = isHook ? component["hooks"] : component;
  const method = isRecord(owner) ? owner[name] : undefined;
  return isCallable(method) ? method : undefined;
}

type AskHost = (request: DataStoreRequest) => Promise<unknown>;

function dataStore(store: string, ask: AskHost): object {
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

/** Throws TypeError for an invalid ttl. */
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
