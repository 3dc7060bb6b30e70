import { timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { PdError, toPdError } from "../../domain/errors.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Cluster } from "../../ports/cluster.ts";
import type { Log } from "../../ports/log.ts";
import { accountRoutes, checkWorkspace } from "./accounts/account.ts";
import { ActionDebuggers } from "./sources/debug-targets.ts";
import { clusterRoutes } from "./server/cluster.ts";
import { appRoutes } from "./accounts/apps.ts";
import { mountPage, pageForBrowser } from "../page-files.ts";
import { type BackupSettings, mountBackup } from "./server/backup.ts";
import { componentRoutes } from "./sources/components.ts";
import type { ServerFacts } from "./server/facts.ts";
import { configureRoutes } from "./sources/configure.ts";
import { connectedAccountRoutes } from "./accounts/connected-accounts.ts";
import { dataStoreRoutes } from "./accounts/data-stores.ts";
import { streamRoutes } from "./sources/event-stream.ts";
import { eventRoutes } from "./sources/events.ts";
import { inspectorRoutes } from "./sources/inspector-stream.ts";
import type { PeerRules } from "../../debugger/loopback-peer.ts";
import { invocationRoutes } from "./sources/invocations.ts";
import { mountAgents } from "./server/mcp.ts";
import { openApiDocument } from "./server/openapi.ts";
import { PageTickets } from "./server/page-tickets.ts";
import { pageRoutes } from "./server/page.ts";
import { ProgressBoard } from "./progress.ts";
import { referencePage } from "./server/reference-page.ts";
import { alertRoutes } from "./server/alerts.ts";
import { searchRoutes } from "./server/search.ts";
import { trendRoutes } from "./server/trends.ts";
import { registryRoutes } from "./server/registries.ts";
import { oauthRoutes } from "./accounts/oauth.ts";
import { type Caller, callerOf, noteCaller, refusal } from "./rights.ts";
import { type Route, addressesOf } from "./route.ts";
import { hashOfKey, serverRoutes } from "./server/server.ts";
import { sourceRoutes } from "./sources/sources.ts";
import { stateRoutes } from "./sources/state.ts";
import { subscriptionRoutes } from "./webhooks/subscriptions.ts";
import { transferRoutes } from "./server/transfer.ts";
import { versionRoutes } from "./sources/versions.ts";
import { deliveryRoutes, webhookRoutes } from "./webhooks/webhooks.ts";
import { workflowRoutes } from "./workflows/workflows.ts";

export interface ApiSettings {
  readonly apiKey: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly peers: PeerRules;
  /** The server sends no messages to this TCP port until the returned function is called. */
  readonly keepPort: (port: number) => () => void;
  readonly log: Log;
  readonly version: string;
  /** Known only after the server listens. */
  readonly url: () => string;
  readonly facts: ServerFacts;
  readonly cluster: Cluster;
  readonly metrics: () => Promise<string>;
  readonly isReady: () => Promise<boolean>;
  readonly pageFolder: string;
  readonly backup: BackupSettings;
  /** Returns how many secrets could not be opened. */
  readonly rotateSecrets: () => Promise<number>;
}

/** Seconds. */
const RETRY_AFTER = "1";

/** Health checks, the page, the reference and open calls need no key. */
export function apiRouter(engine: Engine, settings: ApiSettings): Hono {
  const { log, version } = settings;
  const app = new Hono();
  const board = new ProgressBoard(settings.clock);
  const debuggers = new ActionDebuggers();
  const routes = apiRoutes(engine, { ...settings, board, debuggers });
  app.onError((error, context) => answerError(context, error, log));
  app.notFound((context) =>
    answerError(context, new PdError("PD_NOT_FOUND", `Cannot ${context.req.method} ${context.req.path}: the API has no such path`), log),
  );
  app.use((context, next) => {
    refuseForeign(context);
    return next();
  });
  app.get("/healthz", (context) => context.text("ok"));
  app.get("/readyz", async (context) => ((await settings.isReady()) ? context.text("ready") : context.text("not ready", 503)));
  mountPage(app, settings.pageFolder);
  // Cached: they need no key and take 20 ms to make.
  const [document, reference] = [once(() => openApiDocument(routes, { version, url: settings.url() })), once(() => referencePage(routes, version))];
  app.get("/v1/openapi.json", (context) => context.json(document()));
  app.get("/v1/reference", (context) => context.html(reference()));
  for (const declared of routes) if (declared.isOpen) mount(app, engine, declared);
  app.use(async (context, next) => (await pageForBrowser(context, settings.pageFolder)) ?? next());
  app.use(async (context, next) => {
    noteCaller(context, await callerBy(engine, settings.apiKey, context));
    await next();
  });
  app.use(board.note);
  app.get("/metrics", async (context) => context.text(await settings.metrics(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }));
  for (const declared of routes) if (!declared.isOpen) mount(app, engine, declared);
  app.use("/v1/backup", async (context, next) => {
    const caller = callerOf(context);
    if (caller.isReadOnly) throw refusal(context, caller, "a backup contains all data");
    await next();
  });
  mountBackup(app, settings.backup);
  mountAgents(app, { url: settings.url, version, clock: settings.clock });
  app.route("/", streamRoutes(engine));
  app.route("/", inspectorRoutes({ ...settings, engine, debuggers }));
  return app;
}

interface RouteParts {
  readonly board: ProgressBoard;
  readonly debuggers: ActionDebuggers;
}

function mount(app: Hono, engine: Engine, declared: Route): void {
  for (const [method, path] of addressesOf(declared)) {
    app.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ":$1"), (context) => {
      if (path.includes("{org_id}")) checkWorkspace(engine, context.req.param("org_id") ?? "");
      return declared.respond(context);
    });
  }
}

function apiRoutes(engine: Engine, { clock, version, facts, cluster, board, debuggers, rotateSecrets }: ApiSettings & RouteParts): readonly Route[] {
  return [
    ...configureRoutes(engine, debuggers),
    ...componentRoutes(engine),
    ...registryRoutes(engine),
    ...trendRoutes(engine),
    ...searchRoutes(engine),
    ...alertRoutes(engine),
    ...dataStoreRoutes(engine),
    ...sourceRoutes(engine),
    ...versionRoutes(engine),
    ...workflowRoutes(engine),
    ...transferRoutes(engine),
    ...eventRoutes(engine),
    ...invocationRoutes(engine),
    ...stateRoutes(engine),
    ...webhookRoutes(engine),
    ...deliveryRoutes(engine),
    ...subscriptionRoutes(engine),
    ...accountRoutes(engine),
    ...appRoutes(engine),
    ...connectedAccountRoutes(engine),
    ...oauthRoutes(engine),
    ...pageRoutes(new PageTickets(clock), version),
    ...clusterRoutes(cluster),
    ...serverRoutes(engine, { clock, facts, board, rotateSecrets }),
  ];
}

/** Throws PD_UNAUTHORIZED. */
async function callerBy(engine: Engine, apiKey: string, context: Context): Promise<Caller> {
  const key = (context.req.header("authorization") ?? "").replace(/^bearer /i, "");
  if (isSameKey(key, apiKey)) return { key, isReadOnly: false };
  const named = key === "" ? undefined : await engine.apiKeys.find(hashOfKey(key));
  if (named !== undefined) return { key, name: named.name, isReadOnly: named.isReadOnly, revoked: named.revoked };
  throw new PdError("PD_UNAUTHORIZED", `Cannot ${context.req.method} ${context.req.path}: the API key is missing or wrong`);
}

function isSameKey(given: string, wanted: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(wanted);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Rejects requests from pages of other sites, which browsers mark. Programs send neither header. */
function refuseForeign({ req }: Context): void {
  const [site, origin] = [req.header("sec-fetch-site"), req.header("origin")];
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === req.header("host"));
  // Links from other sites may open the page, which does nothing of its address before the user agrees.
  const isFine =
    site === undefined ? isOwn : site === "same-origin" || site === "none" || (req.method === "GET" && req.header("sec-fetch-mode") === "navigate");
  if (!isFine) throw new PdError("PD_FOREIGN_ORIGIN", `Cannot ${req.method} ${req.path} for a page of ${JSON.stringify(origin ?? site ?? "")}`);
}

/** The answer never contains a stack. */
function answerError(context: Context, thrown: unknown, log: Log): Response {
  const error = toPdError(thrown);
  if (error.code === "PD_FAILED")
    log.error("a request failed", { path: context.req.path, reason: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) });
  const { status } = error;
  const headers = { "content-type": "application/json", ...(status === 429 ? { "retry-after": RETRY_AFTER } : {}) };
  return new Response(JSON.stringify({ error: error.message, code: error.code, details: { ...error.details, fix: error.fix } }), { status, headers });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
