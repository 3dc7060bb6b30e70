import { resolve } from "node:path";
import type { SourceRecord } from "../../api/sources.ts";
import { type Client, everyPage } from "../../client/client.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { isAgreed } from "../ask/agree.ts";
import { canAsk } from "../ask/can-ask.ts";
import type { CliContext } from "../context.ts";
import { findProfile } from "../profiles.ts";
import { printNote } from "../reporter.ts";
import { settingsOf } from "../settings-of.ts";
import { Attachments } from "./attachments.ts";
import { isFile } from "./component-target.ts";

interface Deploying {
  /** A file, URL or key. */
  readonly target: string | undefined;
  readonly name: string | undefined;
}

/** A source with this name. Without a name, the one that this file, URL or key was deployed as. */
export async function deployedBefore(cli: CliContext, client: Client, { target, name }: Deploying): Promise<SourceRecord | undefined> {
  if (name === undefined && target !== undefined && (await isFile(target))) {
    const id = await idOfFile(cli, target);
    return id === undefined ? undefined : client.sources.get(id).catch(ignoringDeleted);
  }
  if (name === undefined && target === undefined) return undefined;
  const sources = await everyPage(client.sources.list);
  return sources.find((source) => (name === undefined ? source.component_url === target || source.component_key === target : source.name === name));
}

function ignoringDeleted(error: unknown): undefined {
  if (!(error instanceof PdError && error.code === "PD_SOURCE_NOT_FOUND")) throw error;
}

async function idOfFile(cli: CliContext, target: string): Promise<string | undefined> {
  const [deployed, developed] = await Promise.all([attachments(cli, "deploy"), attachments(cli, "dev")]);
  return (await deployed.find(resolve(target))) ?? developed.find(resolve(target));
}

export async function noteDeployed(cli: CliContext, target: string | undefined, { id }: SourceRecord): Promise<void> {
  if (target === undefined || !(await isFile(target))) return;
  const kept = (await attachments(cli, "deploy")).keep(resolve(target), id);
  await kept.catch((error: unknown) =>
    printNote(cli, `Warning: the next deploy of ${target} will not find ${id} again, because it cannot be noted here: ${messageOf(error)}`),
  );
}

async function attachments(cli: CliContext, kind: "dev" | "deploy"): Promise<Attachments> {
  const { home } = await settingsOf(cli);
  return new Attachments(home, (await findProfile(cli.profile, cli.environment))?.baseUrl ?? "", kind);
}

interface Wishes {
  readonly name?: string | undefined;
  readonly new?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly prompt?: boolean | undefined;
}

/** Throws PD_CONFLICT where it cannot ask. */
export async function mayDeployAnother(
  cli: CliContext,
  { id, name_slug: slug, name }: SourceRecord,
  { target, flags }: { readonly target: string | undefined; readonly flags: Wishes },
): Promise<boolean> {
  if (flags.new === true) return true;
  const what = flags.name === undefined ? `of ${target}` : `named ${JSON.stringify(name)}`;
  const update = target === undefined ? `pd update ${slug}` : `pd update ${slug} --code ${target}`;
  if (flags.yes === true) {
    printNote(cli, `Warning: there is already a source ${what}, ${slug} (${id}); this deploys another one`);
    return true;
  }
  if (!canAsk(cli, flags))
    throw new PdError("PD_CONFLICT", `Cannot deploy: there is already a source ${what}, ${slug} (${id})`, {
      fix: `Change it with ${update}, or deploy another one with --new`,
    });
  printNote(cli, `There is already a source ${what}: ${slug} (${id}). To change it: ${update}`);
  return isAgreed(cli, { yes: false, question: "Deploy another one?", attempted: "deploy another one", prompt: flags.prompt });
}
