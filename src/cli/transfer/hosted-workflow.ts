import { stringify } from "yaml";
import { slugify } from "../../domain/source/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";
import { isWorkflowId } from "../../domain/ids.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../domain/text/json.ts";

export interface HostedFolder {
  /** As in the platform's export. */
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The user must add these accounts and this code. */
  readonly missing: readonly string[];
}

/** `told`: answer of `GET /v1/workflows/{id}`. Throws PD_BAD_INPUT. */
export function hostedFolder(id: string, told: JsonValue | undefined): HostedFolder {
  const record = isJsonObject(told) ? told : {};
  if (!isWorkflowId(id)) throw new PdError("PD_BAD_INPUT", `Cannot pull ${JSON.stringify(id)}: expected the id of a workflow, such as p_abc123`);
  if (!Array.isArray(record["steps"])) throw new PdError("PD_BAD_INPUT", `Cannot pull ${id}: the server's answer has no steps`);
  const name = textOf(record["name"]) ?? id;
  const files: Record<string, string> = {};
  const missing: string[] = [];
  const steps = record["steps"].filter(isJsonObject).map((step) => stepOf(step, files, missing));
  const triggers = (Array.isArray(record["triggers"]) ? record["triggers"] : []).filter(isJsonObject).map((trigger) => triggerOf(trigger, missing));
  const yaml = {
    schema: "workflow/2022.04",
    name,
    ...(record["active"] === false || record["inactive"] === true ? { inactive: true } : {}),
    ...(isJsonObject(record["settings"]) ? { settings: record["settings"] } : {}),
    ...(triggers.length === 0 ? {} : { triggers }),
    steps,
  };
  return {
    name: `${slugify(name)}-${id}`,
    files: { "workflow.yaml": stringify(yaml, { lineWidth: 0 }), ".workflow.state": `schema: workflow.state/2022.04\nid: ${id}\n`, ...files },
    missing,
  };
}

/** A step without effect would look like one that works. */
const NO_CODE = "write the code of this step: the fetched workflow did not have it";

function stepOf(step: JsonObject, files: Record<string, string>, missing: string[]): JsonObject {
  const namespace = textOf(step["namespace"]) ?? textOf(step["id"]) ?? "step";
  // It becomes a folder and part of expressions.
  if (!/^[A-Za-z_$][\w$]{0,99}$/.test(namespace))
    throw new PdError("PD_BAD_INPUT", `Cannot pull the workflow: ${JSON.stringify(namespace)} is not a valid namespace of a step`);
  const [key, code] = [textOf(step["component_key"]), textOf(step["code_raw"])];
  const saved = isJsonObject(step["savedComponent"]) ? step["savedComponent"] : {};
  const version = textOf(saved["version"]);
  const runtime = textOf(step["lang"]) ?? "nodejs20.x";
  const props = propsOf(step, { namespace, missing });
  const rest = { ...(Object.keys(props).length === 0 ? {} : { props }), ...(step["disabled"] === true ? { disabled: true } : {}) };
  if (key !== undefined) return { namespace, uses: version === undefined ? key : `${key}@${version}`, ...rest };
  const isPython = runtime.startsWith("python");
  const path = `${namespace}/entry.${isPython ? "py" : "js"}`;
  if (code === undefined) missing.push(`the code of step ${namespace}: write it to ${path}`);
  files[path] =
    code ??
    (isPython
      ? `def handler(pd):\n    raise NotImplementedError("${NO_CODE}")\n`
      : `export default defineComponent({ async run() { throw new Error("${NO_CODE}"); } });\n`);
  return { namespace, ...(runtime.startsWith("nodejs") ? {} : { runtime }), uses: `./${path}`, ...rest };
}

function propsOf(step: JsonObject, { namespace, missing }: { namespace: string; missing: string[] }): JsonObject {
  const text = textOf(step["configured_props_json"]);
  const given = parseJson(text ?? "{}");
  if (text !== undefined && !isJsonObject(given))
    throw new PdError("PD_BAD_INPUT", `Cannot read the props of step ${namespace}: expected a JSON object, got ${JSON.stringify(text.slice(0, 200))}`);
  const values = isJsonObject(given) ? { ...given } : {};
  const accounts = isJsonObject(step["authProvisionIdMap"]) ? step["authProvisionIdMap"] : {};
  for (const [prop, id] of Object.entries(accounts)) {
    if (typeof id !== "string") continue;
    values[prop] = { authProvisionId: id };
    missing.push(`account ${id}, the ${prop} of step ${namespace}: --account ${id}=<name>`);
  }
  return values;
}

function triggerOf(trigger: JsonObject, missing: string[]): JsonObject {
  const id = textOf(trigger["id"]) ?? "";
  const values = isJsonObject(trigger["configured_props"]) ? trigger["configured_props"] : {};
  if (id.startsWith("hi_")) return { id, ...(trigger["custom_response"] === true ? { http: { custom_response: true } } : {}) };
  if (id.startsWith("ti_")) {
    const schedule = scheduleOf(values);
    if (schedule === undefined) missing.push(`the times of schedule ${id}: --schedule "${id}=0 9 * * 1"`);
    return { id, ...(schedule === undefined ? {} : { schedule }) };
  }
  missing.push(`source ${id} (${textOf(trigger["name"]) ?? "no name"}): pd pull ${id}, then --source ${id}=<name>`);
  return { id };
}

/** The prop may have any name. */
function scheduleOf(values: JsonObject): JsonObject | undefined {
  for (const value of [values, ...Object.values(values)]) {
    if (!isJsonObject(value)) continue;
    const [cron, seconds] = [textOf(value["cron"]), value["intervalSeconds"] ?? value["interval_seconds"]];
    if (cron !== undefined) return { cron, ...(textOf(value["timezone"]) === undefined ? {} : { timezone: textOf(value["timezone"]) }) };
    if (typeof seconds === "number") return { intervalSeconds: seconds };
  }
  return undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
