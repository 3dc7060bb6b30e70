import type { OptionsRequest } from "../../../domain/run/invocation.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { resolveDefinition } from "./describe.ts";
import { additionalProps } from "./dynamic-props.ts";
import { appObject } from "./instance.ts";
import { watchedReads } from "./watched-reads.ts";
import { hasRemoteOptions, remoteOptions } from "./remote-options.ts";

type Component = Record<string, unknown>;

/** `reads` are the other props that the choices were made of. Reads inside `methods` are not seen. */
interface FoundOptions {
  readonly found: unknown;
  readonly reads: readonly string[];
}

/** Throws TypeError when the prop does not exist or has no choices. */
export async function callOptions(component: Component, instance: Record<string, unknown>, request: OptionsRequest): Promise<FoundOptions> {
  const props = await allProps(component, instance, request.prop);
  const { copy, read } = watchedReads(instance, props);
  const found = await findOptions(props, copy, request);
  return { found, reads: [...read].filter((name) => name !== request.prop) };
}

/** An app's `options` method precedes the component's. */
async function findOptions(props: Component, instance: Record<string, unknown>, request: OptionsRequest): Promise<unknown> {
  if (!Object.hasOwn(props, request.prop))
    throw new TypeError(`prop ${request.prop} does not exist: the component has ${Object.keys(props).join(", ") || "none"}`);
  const declared = props[request.prop];
  const prop = isRecord(declared) ? declared : {};
  const resolved = resolveDefinition(prop);
  const { page, prevContext, query } = request;
  const { options, type } = resolved;
  if (typeof options !== "function" && hasRemoteOptions(type)) return remoteOptions({ type, instance, declared: resolved }, prevContext);
  if (type === "sql") return { options: [], context: { dbInfo: await databaseSchema(resolved, { props, instance }) } };
  if (Array.isArray(options)) return page === 0 ? options : [];
  if (typeof options !== "function") throw new TypeError(`prop ${request.prop} has no choices: it accepts any value of its type`);
  const values = await inputValues(prop["propDefinition"], instance);
  const asked = { page, prevContext, ...(query === undefined ? {} : { query }), ...values };
  const found: unknown = await Reflect.apply(options, ownerOf(prop, { props, instance }), [asked]);
  return found;
}

async function databaseSchema(prop: Record<string, unknown>, { props, instance }: { props: Component; instance: Component }): Promise<unknown> {
  const slug = isRecord(prop["auth"]) ? prop["auth"]["app"] : undefined;
  const name = sameApp({ app: slug }, props);
  const app = name === undefined ? undefined : instance[name];
  const getSchema = isRecord(app) ? app["getSchema"] : undefined;
  if (typeof getSchema !== "function") throw new TypeError(`the app ${String(slug)} cannot list its tables`);
  return Reflect.apply(getSchema, app, []);
}

async function allProps(component: Component, instance: Record<string, unknown>, wanted: string): Promise<Record<string, unknown>> {
  const props = isRecord(component["props"]) ? component["props"] : {};
  return Object.hasOwn(props, wanted) ? props : { ...props, ...(await additionalProps(component, instance)) };
}

async function inputValues(definition: unknown, instance: Record<string, unknown>): Promise<Record<string, unknown>> {
  const given: unknown = Array.isArray(definition) ? definition[2] : undefined;
  const values: unknown = typeof given === "function" ? await given(instance) : given;
  return isRecord(values) ? values : {};
}

function ownerOf(prop: Record<string, unknown>, { props, instance }: { props: Record<string, unknown>; instance: Record<string, unknown> }): unknown {
  const { propDefinition } = prop;
  if (prop["options"] !== undefined || !Array.isArray(propDefinition)) return instance;
  const [app]: unknown[] = propDefinition;
  const name = Object.keys(props).find((key) => props[key] === app) ?? sameApp(app, props);
  if (name !== undefined) return instance[name];
  return isRecord(app) ? appObject(app, undefined) : instance;
}

/** A spread copy of an app object is the same app. */
function sameApp(app: unknown, props: Record<string, unknown>): string | undefined {
  const slug = isRecord(app) ? app["app"] : undefined;
  return Object.keys(props).find((key) => {
    const prop = props[key];
    return isRecord(prop) && prop["type"] === "app" && slug !== undefined && prop["app"] === slug;
  });
}

export async function eventNames(component: Component, instance: Record<string, unknown>, name: string): Promise<unknown> {
  const declared = (await allProps(component, instance, name))[name];
  const names = isRecord(declared) ? resolveDefinition(declared)["eventNames"] : undefined;
  return typeof names === "function" ? Reflect.apply(names, instance, []) : names;
}
