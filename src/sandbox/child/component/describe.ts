import { BARE_FUNCTION } from "../../../domain/component/bare-function.ts";
import { isRecord } from "../../../domain/text/json.ts";

/** Prop attributes that are sent to the host. */
const ATTRIBUTES =
  "type app label description optional secret default min max customResponse static hidden disabled reloadProps withLabel useQuery alertType content accessMode sync auth appProp baseIdProp tableIdProp eventNames".split(
    " ",
  );

export function describeComponent(component: unknown): unknown {
  if (!isRecord(component)) return component === undefined ? undefined : typeof component === "function" ? BARE_FUNCTION : component;
  const hooks = isRecord(component["hooks"]) ? component["hooks"] : {};
  return {
    name: component["name"],
    version: component["version"],
    key: component["key"],
    description: component["description"],
    type: component["type"],
    dedupe: component["dedupe"],
    hasRun: typeof component["run"] === "function",
    hasAdditionalProps: typeof component["additionalProps"] === "function",
    hasSample: component["sampleEmit"] !== undefined,
    hooks: Object.keys(hooks).filter((hook) => typeof hooks[hook] === "function"),
    props: isRecord(component["props"]) ? describeProps(component["props"]) : component["props"],
  };
}

export function describeProps(props: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(props).map(([name, prop]) => [name, isRecord(prop) ? describeProp(prop) : prop]));
}

function describeProp(declared: Record<string, unknown>): Record<string, unknown> {
  const prop = resolveDefinition(declared);
  const known = Object.fromEntries(ATTRIBUTES.map((attribute) => [attribute, plain(prop[attribute])]));
  const { options, eventNames } = prop;
  return {
    ...known,
    problem: prop["problem"],
    ...(typeof options === "function" ? { remoteOptions: true } : { options: plain(options) }),
    ...(typeof eventNames === "function" ? { eventNamesByMethod: true } : {}),
  };
}

function plain(value: unknown): unknown {
  return typeof value === "function" ? undefined : value;
}

/** The prop's own attributes override the definition. An invalid reference becomes a `problem`. */
export function resolveDefinition(declared: Record<string, unknown>): Record<string, unknown> {
  const { propDefinition, ...own } = declared;
  if (propDefinition === undefined) return own;
  if (!Array.isArray(propDefinition)) return { ...own, problem: "propDefinition: expected [app, name, values?]" };
  const [app, name]: unknown[] = propDefinition;
  const definitions = isRecord(app) && isRecord(app["propDefinitions"]) ? app["propDefinitions"] : {};
  const definition = definitions[String(name)];
  if (!isRecord(definition)) return { ...own, problem: `propDefinition names ${JSON.stringify(name)}, which the app does not define` };
  return { ...resolveDefinition(definition), ...own };
}
