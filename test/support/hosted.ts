import { startHttpServer } from "./http-server.ts";

export const HOSTED_KEY = "0123456789abcdef0123456789abcdef";

const SOURCE = {
  id: "dc_abc123",
  component_id: "sc_def456",
  configured_props: {
    timer: { cron: null, interval_seconds: 900 },
    http: { endpoint_url: "https://myendpoint.m.example.net" },
    db: { type: "$.service.db" },
    demo: { authProvisionId: "apn_1" },
    city: "Berlin",
  },
  active: true,
  created_at: 1587679599,
  updated_at: 1587764467,
  name: "Weather",
  name_slug: "weather",
};

const CODE = `export default {
  name: "Weather", version: "0.3.0", dedupe: "unique",
  props: { timer: "$.interface.timer", http: "$.interface.http", db: "$.service.db", demo: { type: "app", app: "demo" }, city: "string" },
  run() { this.$emit({ city: this.city, key: this.demo.$auth.api_key }); },
};
`;

const COMPONENT = {
  id: "sc_def456",
  code: CODE,
  code_hash: "0",
  name: "Weather",
  version: "0.3.0",
  configurable_props: [
    { name: "timer", type: "$.interface.timer" },
    { name: "http", type: "$.interface.http" },
    { name: "db", type: "$.service.db" },
    { name: "demo", type: "app", app: "demo" },
    { name: "city", type: "string" },
  ],
  created_at: 1588866900,
  updated_at: 1588866900,
};

/** This source has the format of 2020. Only the workspace lists it. */
const SHARED_SOURCE = {
  ...SOURCE,
  id: "dc_old123",
  component_id: "sc_old456",
  name: "Old",
  name_slug: "old",
  configured_props: { settings: { cron: "is a word here", endpoint_url: "kept" } },
};
const SHARED_COMPONENT = {
  ...COMPONENT,
  id: "sc_old456",
  code: 'module.exports = { name: "Old", version: "0.0.1", props: { settings: "object" }, run() { this.$emit(this.settings); } };',
  configurable_props: [{ name: "settings", type: "object" }],
};

const SUMMARY = {
  id: "1606511826306-0",
  indexed_at_ms: 1606511826306,
  event: { city: "Berlin" },
  metadata: { emit_id: "1ktF96gAMsLqdYSRWYL9KFS5QqW", name: "", emitter_id: "dc_abc123", id: "7" },
};

/** `GET /v1/workflows/{id}` answers without an envelope, and with code and values of the steps. */
const WORKFLOW = {
  triggers: [
    { id: "hi_Abc1234", owner_id: "o_abc1234", custom_response: true, configured_props: {}, active: true },
    { id: "ti_Abc1234", owner_id: "o_abc1234", configured_props: { cron: { cron: "0 9 * * 1", timezone: "UTC" } }, active: true },
    { id: "dc_abc123", owner_id: "o_abc1234", name: "Weather", configured_props: {}, active: true },
  ],
  steps: [
    {
      id: "c_abc123",
      type: "CodeCell",
      namespace: "send",
      disabled: false,
      lang: "nodejs20.x",
      component_key: "demo-send",
      savedComponent: { id: "sc_1", codeHash: "0", configurableProps: [], version: "0.1.2" },
      configured_props_json: '{"text":"{{steps.trigger.event.body.text}}"}',
      authProvisionIdMap: { demo: "apn_1" },
    },
    { id: "c_abc124", type: "CodeCell", namespace: "count", lang: "nodejs20.x", code_raw: "export default defineComponent({ async run() { return 1; } });\n" },
  ],
};

/** Serves only documented endpoints. */
export async function startHosted(): Promise<string> {
  const answers: Readonly<Record<string, unknown>> = {
    "/v1/users/me": { data: { id: "u_abc123", username: "me", email: "me@example.com", orgs: [] } },
    "/v1/users/me/sources": { page_info: { total_count: 1, count: 1, start_cursor: "ZGNfYWJjMTIz", end_cursor: "ZGNfYWJjMTIz" }, data: [SOURCE] },
    "/v1/orgs/o_abc1234/sources": { page_info: { total_count: 2, count: 2 }, data: [SOURCE, SHARED_SOURCE] },
    "/v1/components/sc_old456": { data: SHARED_COMPONENT },
    "/v1/components/sc_def456": { data: COMPONENT },
    "/v1/workflows/p_abc1234": WORKFLOW,
    "/v1/sources/dc_abc123/event_summaries": { page_info: { total_count: 1, count: 1, start_cursor: SUMMARY.id, end_cursor: SUMMARY.id }, data: [SUMMARY] },
  };
  return startHttpServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://hosted");
    const isTooMany = Number(searchParams.get("limit") ?? 10) > 100;
    if (request.headers.authorization !== `Bearer ${HOSTED_KEY}`) response.writeHead(401).end('{"error":"Unauthorized"}');
    else if (isTooMany) response.writeHead(400).end('{"error":"limit must be between 1 and 100"}');
    else if (answers[pathname] === undefined) response.writeHead(404).end('{"error":"record not found"}');
    else response.end(JSON.stringify(answers[pathname]));
  });
}
