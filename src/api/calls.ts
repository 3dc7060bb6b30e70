/**
 * Every call of the API by its name. The server mounts it, the client calls it; what it takes and answers stands in the
 * file of its resource, under the same name. Parts that vary stand in braces.
 */
export const CALLS = {
  sources: {
    list: "GET /v1/users/me/sources",
    listOfOrg: "GET /v1/orgs/{org_id}/sources",
    deploy: "POST /v1/sources",
    get: "GET /v1/sources/{id}",
    update: "PUT /v1/sources/{id}",
    delete: "DELETE /v1/sources/{id}",
    run: "POST /v1/sources/{id}/run",
    configure: "POST /v1/sources/{id}/configure",
    activity: "GET /v1/activity",
    versions: "GET /v1/sources/{id}/versions",
    version: "GET /v1/sources/{id}/versions/{number}",
    rollback: "POST /v1/sources/{id}/rollback",
    export: "GET /v1/sources/{id}/export",
    import: "POST /v1/sources/import",
  },
  events: {
    list: "GET /v1/sources/{id}/event_summaries",
    get: "GET /v1/sources/{id}/events/{event_id}",
    errors: "GET /v1/sources/{id}/$errors/event_summaries",
    logs: "GET /v1/sources/{id}/$logs/event_summaries",
    emit: "POST /v1/sources/{id}/events/{event_id}/emit",
    delete: "DELETE /v1/sources/{id}/events",
  },
  invocations: {
    list: "GET /v1/sources/{id}/invocations",
    get: "GET /v1/invocations/{id}",
    events: "GET /v1/invocations/{id}/events",
    replay: "POST /v1/invocations/{id}/replay",
    rehearse: "POST /v1/invocations/{id}/rehearse",
    observations: "GET /v1/sources/{id}/logs",
    instants: "GET /v1/sources/{id}/timer_instants",
  },
  state: {
    all: "GET /v1/sources/{id}/state",
    get: "GET /v1/sources/{id}/state/{key}",
    set: "PUT /v1/sources/{id}/state/{key}",
    delete: "DELETE /v1/sources/{id}/state/{key}",
  },
  components: {
    list: "GET /v1/components",
    save: "POST /v1/components",
    search: "GET /v1/components/search",
    ofKey: "GET /v1/components/registry/{key}",
    get: "GET /v1/components/{id}",
    unpublish: "DELETE /v1/components/{id}",
    describe: "POST /v1/components/describe",
    configure: "POST /v1/components/configure",
    props: "POST /v1/components/props",
    app: "POST /v1/components/app",
  },
  actions: {
    run: "POST /v1/actions/run",
  },
  registries: {
    list: "GET /v1/registries",
    add: "POST /v1/registries",
    remove: "DELETE /v1/registries/{name}",
    update: "POST /v1/registries/update",
    search: "GET /v1/registries/search",
  },
  dataStores: {
    list: "GET /v1/data_stores",
    create: "POST /v1/data_stores",
    delete: "DELETE /v1/data_stores/{name}",
    values: "GET /v1/data_stores/{name}/values",
    set: "PUT /v1/data_stores/{name}/values/{key}",
    unset: "DELETE /v1/data_stores/{name}/values/{key}",
  },
  webhooks: {
    list: "GET /v1/users/me/webhooks",
    create: "POST /v1/webhooks",
    get: "GET /v1/webhooks/{id}",
    update: "PUT /v1/webhooks/{id}",
    delete: "DELETE /v1/webhooks/{id}",
    rotate: "POST /v1/webhooks/{id}/rotate",
    test: "POST /v1/webhooks/{id}/test",
  },
  deliveries: {
    ofWebhook: "GET /v1/webhooks/{id}/deliveries",
    retryWebhook: "POST /v1/webhooks/{id}/deliveries/retry",
    ofSource: "GET /v1/sources/{id}/deliveries",
    ofInvocation: "GET /v1/invocations/{id}/deliveries",
    retrySource: "POST /v1/sources/{id}/deliveries/retry",
    get: "GET /v1/deliveries/{id}",
    retry: "POST /v1/deliveries/{id}/retry",
  },
  subscriptions: {
    list: "GET /v1/users/me/subscriptions",
    create: "POST /v1/subscriptions",
    delete: "DELETE /v1/subscriptions",
    createAutomatic: "POST /v1/auto_subscriptions",
  },
  accounts: {
    list: "GET /v1/accounts",
    get: "GET /v1/accounts/{id}",
    connect: "POST /v1/accounts",
    update: "PUT /v1/accounts/{id}",
    delete: "DELETE /v1/accounts/{id}",
    test: "POST /v1/accounts/{id}/test",
    startOAuth: "POST /v1/accounts/oauth",
    resumeOAuth: "POST /v1/accounts/oauth/{flow_id}",
  },
  apps: {
    list: "GET /v1/apps",
    get: "GET /v1/apps/{id}",
  },
  keys: {
    list: "GET /v1/api_keys",
    create: "POST /v1/api_keys",
    revoke: "DELETE /v1/api_keys/{id}",
  },
  page: {
    ticket: "POST /v1/page/tickets",
    redeem: "POST /v1/page/tickets/redeem",
    session: "GET /v1/page/session",
  },
  server: {
    status: "GET /v1/status",
    schedule: "GET /v1/schedule",
    figures: "GET /v1/figures",
    usage: "GET /v1/usage",
    checkup: "GET /v1/checkup",
    rotateSecrets: "POST /v1/secrets/rotate",
    owner: "GET /v1/users/me",
    workspace: "GET /v1/workspaces/{org_id}",
    projects: "GET /v1/workspaces/{org_id}/projects",
  },
} as const;

/** Method and path of a call. */
export type CallAddress = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

/** The parts of a path that vary, in their order. */
export type PartsOf<Address extends string> = Address extends `${string}{${string}}${infer Rest}` ? [part: string, ...PartsOf<Rest>] : [];
