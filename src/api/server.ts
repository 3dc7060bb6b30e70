import * as z from "zod";
import { KINDS } from "../domain/health/usage.ts";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, many, ms, one, optionalText, seconds, text, whole, word } from "./declare.ts";

const status = z.object({
  version: z.string(),
  pid: z.int(),
  in_background: z.boolean().describe("started by a command, in the background"),
  node: optionalText.describe("the node of a cluster that answers: its leader, or a standby that knows no leader"),
  home: z.string(),
  secret_key: z.enum(["keyring", "file", "environment"]),
  api_url: z.string(),
  endpoint_url: z.string(),
  started_at_ms: z.int(),
  sources: z.int(),
  processes: z.int().optional().describe("number of component processes"),
  database: z.string().describe("SQLite driver, or PostgreSQL with its version"),
  sandbox: z.enum(["wall", "belt"]).describe("sandbox of components"),
  no_wall: z.string().optional().describe("why the wall is not used"),
  component_network: z.enum(["open", "public"]).describe("what components can reach; public excludes this machine and its network"),
  damage: z.string().optional().describe("why the database is damaged; it is no longer written"),
});
export type StatusRecord = z.infer<typeof status>;

const figures = z.object({
  at_ms: ms,
  runs: z.number().describe("calls of run and of hooks"),
  failed: z.number().describe("calls that failed, timed out or were interrupted"),
  events: z.number(),
  dropped: z.number().describe("events that dedupe dropped"),
  attempts: z.number().describe("delivery attempts"),
  delivered: z.number().describe("attempts that the receiver accepted"),
  memory_bytes: z.number().describe("of the server's own process"),
  database_bytes: z.number().describe("of the database and its write-ahead log"),
  running_calls: z.number(),
  waiting_calls: z.number().describe("calls that wait for their turn or for a process"),
  pending_requests: z.number().describe("acknowledged requests whose run has not ended"),
  pending_deliveries: z.number(),
  postponed_events: z.number(),
});
export type FiguresRecord = z.infer<typeof figures>;

const usage = z.object({
  at_ms: ms,
  kinds: z.array(z.object({ kind: z.enum(KINDS), count: z.number().optional(), bytes: z.number() })).describe("of the database"),
  folders: z.array(z.object({ name: text, bytes: z.number() })).describe("beside the database"),
  free_bytes: z.number().describe("free space on the disk"),
  total_bytes: z.number().describe("size of the disk"),
  keeps: z.object({ events: z.number(), invocations: z.number(), days: z.number() }).describe("limits per source"),
});
export type UsageRecord = z.infer<typeof usage>;

const finding = z.object({ level: z.enum(["good", "attention", "bad"]), about: text, text, fix: optionalText.describe("what to do") });

const progress = z.object({
  step: z.enum(["fetching", "bundling", "installing", "loading", "hook"]).optional().describe("current step; omitted when no slow step is running"),
  subject: optionalText.describe("the packages, hook or key that the step is working on"),
  elapsed_ms: z.number().optional(),
});
export type ProgressRecord = z.infer<typeof progress>;

const workspace = z.object({ id: text, orgname: text, name: text, email: text, daily_credits_quota: z.int(), daily_credits_used: z.int() });
export type WorkspaceRecord = z.infer<typeof workspace>;

const key = z.object({ id: text, name: text, read_only: z.boolean(), created_at: seconds, key: optionalText });
export type KeyRecord = z.infer<typeof key>;

/** One user and one workspace without quota, for clients of the hosted platform. */
export const server = {
  status: call(CALLS.server.status, { tag: "Server", summary: "Shows the server's version, settings and process count", answer: one(status) }),
  progress: call(CALLS.server.progress, {
    tag: "Server",
    summary: "Shows the progress of a request that was sent with this id in its pd-progress header, with the same key",
    answer: one(progress),
  }),
  figures: call(CALLS.server.figures, {
    tag: "Server",
    summary: "Counts since the server started, and its use of memory and disk",
    answer: one(figures),
  }),
  usage: call(CALLS.server.usage, {
    tag: "Server",
    summary: "Disk space by kind of data, and retention limits; measured at most once a minute",
    answer: one(usage),
  }),
  checkup: call(CALLS.server.checkup, { tag: "Server", summary: "Health checks of this server, worst first", answer: many(finding) }),
  schedule: call(CALLS.server.schedule, {
    tag: "Server",
    summary: "The next five times of a schedule if it were deployed now",
    params: z.object({ intervalSeconds: z.coerce.number<string | number>().optional(), cron: optionalText, timezone: optionalText }),
    answer: one(z.object({ next_ms: z.array(ms) })),
  }),
  rotateSecrets: call(CALLS.server.rotateSecrets, {
    tag: "Secrets",
    summary: "Creates a new key and seals every secret with it",
    answer: one(
      z.object({
        rotated: z.literal(true),
        left: z.int().describe("number of secrets that could not be opened; they stay unchanged, and earlier keys are kept"),
      }),
    ),
  }),
  owner: call(CALLS.server.owner, {
    tag: "Account",
    summary: "Shows the owner of this server",
    answer: one(z.object({ id: text, username: text, email: text, orgs: z.array(workspace) })),
  }),
  workspace: call(CALLS.server.workspace, { tag: "Account", summary: "Shows the workspace of this server", answer: one(workspace) }),
  projects: call(CALLS.server.projects, {
    tag: "Account",
    summary: "Lists projects; always empty here",
    answer: many(z.object({ id: text, name: text })),
  }),
};

export const keys = {
  list: call(CALLS.keys.list, { tag: "Server", summary: "Lists named keys, newest first; the keys themselves are not stored", answer: many(key) }),
  create: call(CALLS.keys.create, {
    tag: "Server",
    summary: "Creates a named key, which is shown only once",
    params: z.object({ name: word, read_only: flag.default(false).describe("may read everything except secrets, and may not change anything") }),
    answer: one(key),
  }),
  revoke: call(CALLS.keys.revoke, { tag: "Server", summary: "Revokes a key, by id or name", answer: one(deleted) }),
};

const node = z.object({
  node: text.describe("host and port of its API, as other nodes reach it"),
  role: z
    .enum(["leading", "starting", "standby", "unable", "draining", "silent"])
    .describe(
      "leading: serves all sources; starting: is about to lead or to stand by; standby: forwards requests, and leads when the leader ends; unable: failed when it tried to lead; draining: leads only when no other node can; silent: gave no sign of life for 5 s",
    ),
  version: text,
  problem: optionalText.describe("why it could not lead"),
  started_at_ms: ms,
  silent_ms: z.int().describe("since its last sign of life"),
});
export type NodeRecord = z.infer<typeof node>;

export const cluster = {
  nodes: call(CALLS.cluster.nodes, { tag: "Cluster", summary: "Lists the nodes of this cluster; empty for a server that is alone", answer: many(node) }),
  drain: call(CALLS.cluster.drain, {
    tag: "Cluster",
    summary: "Drains a node, or ends its draining. A draining node does not lead: a leader hands over to another node",
    params: z.object({ draining: flag }),
    answer: one(node),
  }),
};

const tag = "Page";

export const page = {
  ticket: call(CALLS.page.ticket, {
    tag,
    summary: "Creates a one-time ticket for a browser, which exchanges it for this key",
    params: z.object({ valid_s: whole(1, 3600).optional().describe("60 by default") }),
    beyondReaders: [],
    answer: one(z.object({ ticket: text })),
  }),
  redeem: call(CALLS.page.redeem, {
    tag,
    summary: "Exchanges a one-time ticket for an API key. Needs no authentication.",
    params: z.object({ ticket: word }),
    isOpen: true,
    answer: one(z.object({ key: text })),
  }),
  session: call(CALLS.page.session, {
    tag,
    summary: "Shows the name and rights of this key",
    answer: one(z.object({ key_name: optionalText.describe("omitted for the key of PD_HOME"), read_only: z.boolean(), version: text })),
  }),
};
