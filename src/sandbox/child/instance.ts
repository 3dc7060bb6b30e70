import { isRecord } from "../../domain/json.ts";
import type { ConfiguredProps } from "../../domain/prop.ts";
import type { Call } from "./call.ts";
import { resolveDefinition } from "./describe.ts";
import { responseOf } from "./response.ts";

type Callable = (...values: unknown[]) => unknown;

export interface InstanceSettings {
  readonly configured: ConfiguredProps;
  readonly endpoint: string;
}

/**
 * Builds `this` for one call. Props, and only props, are enumerable own keys (registry.md §3); methods, `$emit` and
 * `run` are bound, so that they can be passed and destructured; nothing is frozen, since code writes to `this`.
 */
export function buildInstance(component: Record<string, unknown>, call: Call, settings: InstanceSettings): Record<string, unknown> {
  const instance: Record<string, unknown> = {};
  bindMethods(instance, component["methods"]);
  hide(instance, "$emit", (event: unknown, meta: unknown): Promise<void> => {
    call.emit(event, meta);
    return Promise.resolve();
  });
  const { run } = component;
  if (isCallable(run)) hide(instance, "run", run.bind(instance));
  const props = isRecord(component["props"]) ? component["props"] : {};
  for (const [name, declared] of Object.entries(props)) {
    const value = propValue(name, declared, { call, settings });
    if (value !== undefined) instance[name] = value;
  }
  return instance;
}

interface PropContext {
  readonly call: Call;
  readonly settings: InstanceSettings;
}

function propValue(name: string, declared: unknown, { call, settings }: PropContext): unknown {
  const prop = typeof declared === "string" ? { type: declared } : isRecord(declared) ? resolveDefinition(declared) : undefined;
  const configured = settings.configured[name];
  switch (prop?.["type"]) {
    case undefined:
      return undefined;
    case "$.interface.http":
      return { endpoint: settings.endpoint, respond: (response: unknown) => call.respond(responseOf(response)) };
    case "$.interface.timer":
      return { type: "$.interface.timer", ...(isRecord(configured) ? configured : {}) };
    case "$.service.db":
      return { get: (key: unknown) => call.get(key), set: (key: unknown, value: unknown) => call.set(key, value) };
    case "app":
      return appObject(prop ?? {}, configured);
    default:
      return unwrapLabel(configured);
  }
}

/** The app with its bound methods and the account's fields (components.md, App props). */
function appObject(app: Record<string, unknown>, account: unknown): Record<string, unknown> {
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

/** `{ __lv: { label, value } }` is read as `{ label, value }` (platform.md §4.3). */
function unwrapLabel(value: unknown): unknown {
  return isRecord(value) && isRecord(value["__lv"]) ? value["__lv"] : value;
}

/** The method to call on an instance; `undefined` when the component lacks it. */
export function methodOf(component: Record<string, unknown>, name: string, isHook: boolean): Callable | undefined {
  const owner = isHook ? component["hooks"] : component;
  const method = isRecord(owner) ? owner[name] : undefined;
  return isCallable(method) ? method : undefined;
}
