import type { OptionsRequest } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import { resolveDefinition } from "./describe.ts";

/**
 * Calls the `options` method of a prop: on the app when an app defines it, on the component otherwise
 * (platform.md §4.3). Throws when the prop has none.
 */
export async function callOptions(component: Record<string, unknown>, instance: Record<string, unknown>, request: OptionsRequest): Promise<unknown> {
  const props = isRecord(component["props"]) ? component["props"] : {};
  const declared = props[request.prop];
  const prop = isRecord(declared) ? declared : {};
  const { options } = resolveDefinition(prop);
  if (typeof options !== "function") throw new TypeError(`prop ${request.prop} has no options method`);
  const { page, prevContext, query } = request;
  const values = await inputValues(prop["propDefinition"], instance);
  const asked = { page, prevContext, ...(query === undefined ? {} : { query }), ...values };
  const found: unknown = await Reflect.apply(options, ownerOf(prop, { props, instance }), [asked]);
  return found;
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
  const name = Object.keys(props).find((key) => props[key] === app);
  return name === undefined ? instance : instance[name];
}
