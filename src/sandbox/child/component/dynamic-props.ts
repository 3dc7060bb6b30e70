import { isRecord } from "../../../domain/text/json.ts";
import { describeProps } from "./describe.ts";

/** Returns the declared props, which `additionalProps` may change, and those that it returned, including functions. */
export async function additionalProps(component: Record<string, unknown>, instance: Record<string, unknown>): Promise<Record<string, unknown>> {
  const method = component["additionalProps"];
  if (typeof method !== "function") return {};
  const declared = Object.entries(isRecord(component["props"]) ? component["props"] : {});
  const copies: Record<string, unknown> = Object.fromEntries(declared.map(([name, prop]) => [name, copyOf(prop)]));
  const returned: unknown = await Reflect.apply(method, instance, [copies]);
  const changed = declared.filter(([name, prop]) => !isSameProp(prop, copies[name])).map(([name]) => [name, copies[name]]);
  return { ...Object.fromEntries(changed), ...(isRecord(returned) ? returned : {}) };
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  return isPlain(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)])) : value;
}

function isSameProp(before: unknown, after: unknown): boolean {
  if (Array.isArray(before) && Array.isArray(after)) return before.length === after.length && before.every((item, index) => isSameProp(item, after[index]));
  if (!isPlain(before) || !isPlain(after)) return before === after;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].every((name) => isSameProp(before[name], after[name]));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;
}

export async function describeAdditionalProps(component: Record<string, unknown>, instance: Record<string, unknown>): Promise<unknown> {
  return describeProps(await additionalProps(component, instance));
}
