import * as z from "zod";
import { KINDS } from "../domain/usage.ts";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, many, ms, one, optionalText, seconds, text, word } from "./declare.ts";

const status = z.object({
  version: z.string(),
  pid: z.int(),
  in_background: z.boolean().describe("a command has started it"),
  home: z.string(),
  secret_key: z.enum(["keyring", "file", "environment"]),
  api_url: z.string(),
  endpoint_url: z.string(),
  started_at_ms: z.int(),
  sources: z.int(),
  processes: z.int().optional().describe("processes of components"),
  database: z.enum(["better-sqlite3", "node:sqlite"]).describe("what opens the database"),
  sandbox: z.enum(["wall", "belt"]).describe("what encloses components"),
  no_wall: z.string().optional().describe("why there is no wall"),
  component_network: z.enum(["open", "public"]).describe("what components reach; public: neither this machine nor its network"),
  damage: z.string().optional().describe("what is wrong with the database, which is not written any more"),
});
export type StatusRecord = z.infer<typeof status>;

const figures = z.object({
  at_ms: ms,
  runs: z.number().describe("calls of run and of hooks"),
  failed: z.number().describe("those of them that did not return"),
  events: z.number(),
  dropped: z.number().describe("emits that dedupe dropped"),
  attempts: z.number().describe("attempts to deliver"),
  delivered: z.number().describe("those of them that were taken"),
  memory_bytes: z.number().describe("of the server's own process"),
  database_bytes: z.number().describe("of the database with its log"),
  running_calls: z.number(),
  waiting_calls: z.number().describe("that wait for their turn, or for a process"),
  pending_requests: z.number().describe("acknowledged, and not run to their end"),
  pending_deliveries: z.number(),
  postponed_events: z.number(),
});
export type FiguresRecord = z.infer<typeof figures>;

const usage = z.object({
  at_ms: ms,
  kinds: z.array(z.object({ kind: z.enum(KINDS), count: z.number().optional(), bytes: z.number() })).describe("of the database"),
  folders: z.array(z.object({ name: text, bytes: z.number() })).describe("beside the database"),
  free_bytes: z.number().describe("left on the disk"),
  total_bytes: z.number().describe("of the disk"),
  keeps: z.object({ events: z.number(), invocations: z.number(), days: z.number() }).describe("of each source, at most"),
});
export type UsageRecord = z.infer<typeof usage>;

const finding = z.object({ level: z.enum(["good", "attention", "bad"]), about: text, text, fix: optionalText.describe("what to do") });

const progress = z.object({
  step: z.enum(["fetching", "bundling", "installing", "loading", "hook"]).optional().describe("what is being done; absent: nothing that takes its time"),
  subject: optionalText.describe("the packages, the hook or the key that it is about"),
  elapsed_ms: z.number().optional(),
});
export type ProgressRecord = z.infer<typeof progress>;

const workspace = z.object({ id: text, orgname: text, name: text, email: text, daily_credits_quota: z.int(), daily_credits_used: z.int() });
export type WorkspaceRecord = z.infer<typeof workspace>;

const key = z.object({ id: text, name: text, read_only: z.boolean(), created_at: seconds, key: optionalText });
export type KeyRecord = z.infer<typeof key>;

/** One user and one workspace without quota, for clients of the hosted platform. */
export const server = {
  status: call(CALLS.server.status, { tag: "Server", summary: "What runs here", answer: one(status) }),
  progress: call(CALLS.server.progress, {
    tag: "Server",
    summary: "How far a request is that was sent with this id in its header pd-progress, and the same key",
    answer: one(progress),
  }),
  figures: call(CALLS.server.figures, {
    tag: "Server",
    summary: "How much has happened since the server began, and what it takes up",
    answer: one(figures),
  }),
  usage: call(CALLS.server.usage, {
    tag: "Server",
    summary: "What is kept takes up, by kind, and what may be kept; looked at once in a minute",
    answer: one(usage),
  }),
  checkup: call(CALLS.server.checkup, { tag: "Server", summary: "What is right and wrong with this server, the worst first", answer: many(finding) }),
  schedule: call(CALLS.server.schedule, {
    tag: "Server",
    summary: "The next five instants of a schedule, were it deployed now",
    params: z.object({ intervalSeconds: z.coerce.number<string | number>().optional(), cron: optionalText, timezone: optionalText }),
    answer: one(z.object({ next_ms: z.array(ms) })),
  }),
  rotateSecrets: call(CALLS.server.rotateSecrets, {
    tag: "Secrets",
    summary: "Makes a new key and seals every secret with it",
    answer: one(
      z.object({ rotated: z.literal(true), left: z.int().describe("how many could not be opened: they stay as they are, and earlier keys are kept") }),
    ),
  }),
  owner: call(CALLS.server.owner, {
    tag: "Account",
    summary: "Who owns this server",
    answer: one(z.object({ id: text, username: text, email: text, orgs: z.array(workspace) })),
  }),
  workspace: call(CALLS.server.workspace, { tag: "Account", summary: "The workspace that this server is", answer: one(workspace) }),
  projects: call(CALLS.server.projects, {
    tag: "Account",
    summary: "Projects: there are none here",
    answer: many(z.object({ id: text, name: text })),
  }),
};

export const keys = {
  list: call(CALLS.keys.list, { tag: "Server", summary: "Lists named keys, the newest first; the keys themselves are not kept", answer: many(key) }),
  create: call(CALLS.keys.create, {
    tag: "Server",
    summary: "Makes a named key; it is shown only now",
    params: z.object({ name: word, read_only: flag.default(false).describe("it sees everything but secrets, and changes nothing") }),
    answer: one(key),
  }),
  revoke: call(CALLS.keys.revoke, { tag: "Server", summary: "Revokes a key, by id or name", answer: one(deleted) }),
};
