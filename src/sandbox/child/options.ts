import type { OptionsRequest } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import { resolveDefinition } from "./describe.ts";
import { additionalProps } from "./dynamic-props.ts";
import { appObject } from "./instance.ts";
import { hasRemoteOptions, remoteOptions } from "./remote-options.ts";

type Component = Record<string, unknown>;

/**
 * Calls the `options` method of a prop: on the app when an app defines it, on the component otherwise
 * (platform.md §4.3). Throws when the prop has none.
 */
export async function callOptions(component: Component, instance: Record<string, unknown>, request: OptionsRequest): Promise<unknown> {
  const props = await allProps(component, instance, request.prop);
  if (!Object.hasOwn(props, request.prop)) throw new TypeError(`there is no prop ${request.prop}: it has ${Object.keys(props).join(", ") || "none"}`);
  const declared = props[request.prop];
  const prop = isRecord(declared) ? declared : {};
  const resolved = resolveDefinition(prop);
  const { page, prevContext, query } = request;
  const { options, type } = resolved;
  if (typeof options !== "function" && hasRemoteOptions(type)) return remoteOptions({ type, instance, declared: resolved }, prevContext);
  if (type === "sql") return { options: [], context: { dbInfo: await databaseSchema(resolved, { props, instance }) } };
  if (Array.isArray(options)) return page === 0 ? options : [];
  if (typeof options !== "function") throw new TypeError(`prop ${request.prop} has no choices: it takes any value of its type`);
  const values = await inputValues(prop["propDefinition"], instance);
  const asked = { page, prevContext, ...(query === undefined ? {} : { query }), ...values };
  const found: unknown = await Reflect.apply(options, ownerOf(prop, { props, instance }), [asked]);
  return found;
}

/** Tables and columns for whoever writes a query: the app tells them (platform.md §4.2, sql). */
async function databaseSchema(prop: Record<string, unknown>, { props, instance }: { props: Component; instance: Component }): Promise<unknown> {
  const slug = isRecord(prop["auth"]) ? prop["auth"]["app"] : undefined;
  const name = sameApp({ app: slug }, props);
  const app = name === undefined ? undefined : instance[name];
  const getSchema = isRecord(app) ? app["getSchema"] : undefined;
  if (typeof getSchema !== "function") throw new TypeError(`the app ${String(slug)} cannot tell its tables`);
  return Reflect.apply(getSchema, app, []);
}

/** Static props; those that `additionalProps` declares for today's values when the wanted one is among them. */
async function allProps(component: Component, instance: Record<string, unknown>, wanted: string): Promise<Record<string, unknown>> {
  const props = isRecord(component["props"]) ? component["props"] : {};
  return Object.hasOwn(props, wanted) ? props : { ...props, ...(await additionalProps(component, instance)) };
}

/** Values for the definition, which may depend on those of other props (components.md, Prop definitions). */
async function inputValues(definition: unknown, instance: Record<string, unknown>): Promise<Record<string, unknown>> {
  const given: unknown = Array.isArray(definition) ? definition[2] : undefined;
  const values: unknown = typeof given === "function" ? await given(instance) : given;
  return isRecord(values) ? values : {};
}

/** The app object on `this` that an own `options` does not override. */
function ownerOf(prop: Record<string, unknown>, { props, instance }: { props: Record<string, unknown>; instance: Record<string, unknown> }): unknown {
  const { propDefinition } = prop;
  if (prop["options"] !== undefined || !Array.isArray(propDefinition)) return instance;
  const [app]: unknown[] = propDefinition;
  const name = Object.keys(props).find((key) => props[key] === app) ?? sameApp(app, props);
  if (name !== undefined) return instance[name];
  return isRecord(app) ? appObject(app, undefined) : instance;
}

/** A copy of the app object, made by spreading it into the prop, is the same app. */
function sameApp(app: unknown, props: Record<string, unknown>): string | undefined {
  const slug = isRecord(app) ? app["app"] : undefined;
  return Object.keys(props).find((key) => {
    const prop = props[key];
    return isRecord(prop) && prop["type"] === "app" && slug !== undefined && prop["app"] === slug;
  });
}

/** Which events an app hook wants, when the component computes them (platform.md §4.2). */
export async function eventNames(component: Component, instance: Record<string, unknown>, name: string): Promise<unknown> {
  const declared = (await allProps(component, instance, name))[name];
  const names = isRecord(declared) ? resolveDefinition(declared)["eventNames"] : undefined;
  return typeof names === "function" ? Reflect.apply(names, instance, []) : names;
}
