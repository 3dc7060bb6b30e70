import { type JsonObject, type JsonValue, isJsonObject } from "../text/json.ts";

/**
 * The hosted platform's project ZIP is not documented and no example was available, so each member has several
 * spellings.
 */
export interface NameTable {
  /** Our name → accepted spellings. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Members that do not affect what runs. */
  readonly ignored: readonly string[];
}

const STAMPS = ["created_at", "updated_at", "createdAt", "updatedAt", "owner_id", "ownerId", "org_id", "orgId", "project_id", "projectId", "user_id", "userId"];

export const MANIFEST: NameTable = {
  known: {
    schema: ["schema"],
    workflows: ["workflows"],
    warnings: ["warnings"],
    truncated: ["truncated"],
    truncated_reason: ["truncated_reason", "truncatedReason"],
  },
  ignored: [...STAMPS, "limits", "exported_at", "exportedAt", "project", "project_name", "projectName", "name", "version"],
};

export const MANIFEST_ENTRY: NameTable = {
  known: {
    id: ["id", "workflow_id", "workflowId"],
    name: ["name", "workflow_name", "workflowName"],
    status: ["status"],
    path: ["path", "file", "filename", "file_path", "filePath"],
    warnings: ["warnings"],
    reason: ["reason", "message"],
  },
  ignored: [...STAMPS, "folder", "folder_path", "folderPath", "active", "url"],
};

export const WORKFLOW: NameTable = {
  known: {
    id: ["id", "workflow_id", "workflowId"],
    name: ["name", "workflow_name", "workflowName"],
    steps: ["steps"],
    triggers: ["triggers"],
    active: ["active"],
    inactive: ["inactive"],
    settings: ["settings"],
  },
  ignored: [...STAMPS, "schema", "description", "version", "deployment_id", "deploymentId", "folder", "folder_path", "folderPath", "url", "warnings", "status"],
};

export const STEP: NameTable = {
  known: {
    namespace: ["namespace"],
    type: ["type", "kind"],
    code_raw: ["code_raw", "codeRaw", "code"],
    lang: ["lang", "runtime", "language"],
    component_key: ["component_key", "componentKey", "key"],
    version: ["version", "component_version", "componentVersion"],
    configured_props: ["configured_props", "configuredProps", "props"],
    configured_props_json: ["configured_props_json", "configuredPropsJson"],
    authProvisionIdMap: ["authProvisionIdMap", "auth_provision_id_map"],
    disabled: ["disabled"],
    savedComponent: ["savedComponent", "saved_component"],
  },
  ignored: [
    ...STAMPS,
    "id",
    "note",
    "notes",
    "codeConfigJson",
    "code_config_json",
    "authProvisionIds",
    "auth_provision_ids",
    "component_owner_id",
    "componentOwnerId",
    "index",
    "position",
  ],
};

export const TRIGGER: NameTable = {
  known: {
    id: ["id"],
    name: ["name", "name_slug", "nameSlug"],
    type: ["type", "kind"],
    configured_props: ["configured_props", "configuredProps", "props"],
    custom_response: ["custom_response", "customResponse"],
    endpoint_url: ["endpoint_url", "endpointUrl"],
    component_key: ["component_key", "componentKey", "key"],
  },
  ignored: [...STAMPS, "component_id", "componentId", "active", "version", "namespace", "configurable_props", "configurableProps"],
};

export type Renamed = { readonly value: JsonObject; readonly problems: readonly string[] };

/** `place` locates the object in problems, such as `workflows/a.json: steps[2]`. */
export function renamed(given: JsonValue | undefined, table: NameTable, place: string): Renamed {
  if (!isJsonObject(given)) return { value: {}, problems: [`${place}: expected an object, got ${shown(given)}`] };
  const value: JsonObject = {};
  const problems: string[] = [];
  const names = new Map(Object.entries(table.known).flatMap(([own, spellings]) => spellings.map((spelling): [string, string] => [spelling, own])));
  for (const [name, member] of Object.entries(given)) {
    const own = names.get(name);
    if (own === undefined) {
      if (!table.ignored.includes(name)) problems.push(`${place}.${name} is not supported: ${shown(member)}`);
    } else if (own in value && JSON.stringify(value[own]) !== JSON.stringify(member))
      problems.push(`${place} has two values for ${own}: ${shown(value[own])} and ${shown(member)}`);
    else if (member !== undefined) value[own] = member;
  }
  return { value, problems };
}

function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
