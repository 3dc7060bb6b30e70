import { search } from "../ask/prompts.ts";
import type { ForeignId, WorkflowRecord } from "../../api/workflows.ts";
import type { Client } from "../../client/client.ts";
import type { ProcessLimits } from "../code/limit-flags.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { canAsk } from "../ask/can-ask.ts";
import { splitPair } from "../code/prop-flags.ts";
import type { CliContext } from "../context.ts";
import { printLine, printNote, table } from "../reporter.ts";
import { holdingTerminal, withSpinner } from "../spinner.ts";
import { type WorkflowFolder, noteId } from "./folder.ts";
import { graphOf } from "./workflow-text.ts";

export interface StandFlags {
  /** Each is `apn_x=mine`. */
  readonly account?: readonly string[] | undefined;
  /** Each is `dc_x=my-source`. */
  readonly source?: readonly string[] | undefined;
  /** Each is `ti_x={"cron":"0 8 * * *"}`. */
  readonly schedule?: readonly string[] | undefined;
  /** Any of these, or `ds_x=my-store`, by the id's prefix. */
  readonly map?: readonly string[] | undefined;
  readonly prompt?: boolean | undefined;
}

export interface Stand {
  readonly accounts: Record<string, string>;
  readonly sources: Record<string, string>;
  readonly stores: Record<string, string>;
  readonly schedules: Record<string, JsonObject>;
}

/** Throws PD_BAD_INPUT. */
export function standOf({ account = [], source = [], schedule = [], map = [] }: StandFlags): Stand {
  const stand: Stand = { accounts: {}, sources: {}, stores: {}, schedules: {} };
  for (const [flag, part, given] of [
    ["--account", "accounts", account],
    ["--source", "sources", source],
  ] as const)
    for (const pair of given) Object.assign(stand[part], Object.fromEntries([splitPair(pair, flag)]));
  for (const pair of schedule) noteSchedule(stand, splitPair(pair, "--schedule"));
  for (const pair of map) {
    const [id, value] = splitPair(pair, "--map");
    const part = MAPPED[id.slice(0, id.indexOf("_") + 1)];
    if (part === undefined)
      throw new PdError("PD_BAD_INPUT", `Cannot use --map ${JSON.stringify(pair)}: ${JSON.stringify(id)} is not an id that can be mapped`, {
        fix: "Ids of accounts start with apn_, of data stores with ds_, of sources and workflows with dc_ or p_, of schedules with ti_; an endpoint hi_ gets a new address",
      });
    if (part === "schedules") noteSchedule(stand, [id, value]);
    else stand[part][id] = value;
  }
  return stand;
}

export function unusedIds(stand: Stand, { name_slug: slug, foreign }: WorkflowRecord): readonly string[] {
  const known = new Set(foreign.map(({ id }) => id));
  const given = Object.values(stand).flatMap((part: Readonly<Record<string, unknown>>) => Object.keys(part));
  const there = foreign.length === 0 ? "it has no ids" : `its ids are ${[...known].join(", ")}`;
  return given.filter((id) => !known.has(id)).map((id) => `the file of ${slug} has no ${id}: ${there}`);
}

const MAPPED: Readonly<Record<string, keyof Stand>> = { apn_: "accounts", ds_: "stores", dc_: "sources", p_: "sources", ti_: "schedules" };

function noteSchedule({ schedules }: Stand, [id, text]: [string, string]): void {
  schedules[id] = scheduleOf(text);
}

/** JSON of a timer, seconds, or cron. */
export function scheduleOf(text: string): JsonObject {
  const given = text.startsWith("{") ? parseJson(text) : undefined;
  if (isJsonObject(given)) return given;
  return /^\d+$/.test(text) ? { intervalSeconds: Number(text) } : { cron: text };
}

interface Sending {
  readonly folder: WorkflowFolder;
  readonly flags: StandFlags;
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly env: Record<string, string>;
  readonly limits?: ProcessLimits;
  /** Ignores the id that the folder notes. */
  readonly isNew?: boolean | undefined;
  /** Replaces the mapping flags. */
  readonly chosen?: Stand;
}

export interface Sent {
  readonly workflow: WorkflowRecord;
  readonly isNew: boolean;
}

export async function sendWorkflow(
  cli: CliContext,
  client: Client,
  { folder, flags, name, slug, env, limits = {}, isNew = false, chosen }: Sending,
): Promise<Sent> {
  const { files, id } = folder;
  const known = isNew || id === undefined ? undefined : await knownWorkflow(client, id);
  const { ".workflow.state": _own, ...others } = files;
  const request = { files: isNew ? others : files, name, slug, env, ...limits };
  const stand = chosen ?? standOf(flags);
  if (canAsk(cli, flags)) await askStores(cli, client, { files, stand, known });
  for (;;) {
    try {
      const sending =
        known === undefined
          ? client.workflows.deploy({ ...request, ...stand })
          : client.workflows.update(known.id, { ...request, ...stand, keep_slug: name !== undefined });
      const workflow = await withSpinner(cli, "Deploying", sending);
      if (workflow.id !== id)
        await noteId(folder, workflow.id).catch((error: unknown) =>
          printNote(cli, `Warning: the next deploy will not find ${workflow.id} again, because its id cannot be noted in the folder: ${messageOf(error)}`),
        );
      for (const text of unusedIds(stand, workflow)) printNote(cli, `Warning: ${text}`);
      return { workflow, isNew: known === undefined };
    } catch (error) {
      const missing = missingAccounts(error);
      if (missing.length === 0 || !canAsk(cli, flags)) throw error;
      for (const one of missing) stand.accounts[one.id] = await askAccount(cli, client, one);
    }
  }
}

/** Undefined for an unknown id. */
export async function knownWorkflow(client: Client, id: string): Promise<WorkflowRecord | undefined> {
  return client.workflows.get(id).catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_WORKFLOW_NOT_FOUND") return undefined;
    throw error;
  });
}

interface MissingAccount {
  readonly id: string;
  readonly app: string;
  readonly steps: string;
}

function missingAccounts(error: unknown): readonly MissingAccount[] {
  const accounts = error instanceof PdError && error.code === "PD_ACCOUNT_NOT_FOUND" ? error.details?.["accounts"] : undefined;
  return (Array.isArray(accounts) ? accounts : []).flatMap((one) =>
    isJsonObject(one) ? [{ id: String(one["id"]), app: String(one["app"]), steps: Array.isArray(one["steps"]) ? one["steps"].join(", ") : "" }] : [],
  );
}

/** Throws PD_ACCOUNT_NOT_FOUND without an account. */
async function askAccount(cli: CliContext, client: Client, { id, app, steps }: MissingAccount): Promise<string> {
  const known = (await client.accounts.list({ app, limit: 1000 })).data;
  if (known.length === 0)
    throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot deploy: ${steps} needs an account of ${app}, and none is connected`, {
      fix: `pd accounts connect ${app}`,
    });
  const choices = known.map(({ id: value, name }) => ({ name: `${name ?? value}  ${value}`, value }));
  const question = { message: `Which account of ${app} is ${id} (${steps})?`, source: () => choices };
  return holdingTerminal(() => search(question, { input: cli.stdin, output: cli.stderr }));
}

async function askStores(
  cli: CliContext,
  client: Client,
  { files, stand, known }: { files: WorkflowFolder["files"]; stand: Stand; known: WorkflowRecord | undefined },
): Promise<void> {
  const chosen = new Set(known?.foreign.map(({ id }) => id));
  const ids = [...new Set([...(files["workflow.yaml"] ?? "").matchAll(/\bstoreId["']?\s*:\s*["']?(ds_\w+)/g)].map(([, id = ""]) => id))];
  for (const id of ids.filter((one) => stand.stores[one] === undefined && !chosen.has(one))) {
    const names = (await client.dataStores.list()).map(({ name }) => name);
    const choices = [{ name: `a new one, named ${id}`, value: id }, ...names.map((name) => ({ name, value: name }))];
    const question = { message: `Which data store is ${id}?`, source: () => choices };
    stand.stores[id] = await holdingTerminal(() => search(question, { input: cli.stdin, output: cli.stderr }));
  }
}

export function printSent(cli: CliContext, { workflow, isNew }: Sent): void {
  for (const warning of workflow.warnings) printNote(cli, `Warning: ${warning}`);
  printLine(cli, `${isNew ? "Deployed" : "Updated"} ${workflow.name_slug} (${workflow.id}), version ${workflow.version}`);
  for (const line of graphOf(workflow)) printLine(cli, line);
  for (const line of foreignLines(workflow.foreign)) printLine(cli, line);
  if (!workflow.active) printNote(cli, `It is inactive: pd update ${workflow.name_slug} --activate starts it`);
  printNote(cli, `pd runs ${workflow.name_slug} lists its runs, pd logs ${workflow.name_slug} follows its logs`);
}

function foreignLines(foreign: readonly ForeignId[]): readonly string[] {
  if (foreign.length === 0) return [];
  const rows = foreign.map(({ id, kind, used_by: usedBy, here }) => [id, kind, usedBy.join(", "), here ?? "nothing yet"]);
  return ["", table(["id in the file", "is", "for", "here"], rows)];
}
