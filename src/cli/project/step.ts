import type { SourceRecord } from "../../api/sources.ts";
import type { AccountRecord } from "../../api/accounts.ts";
import type { WebhookRecord } from "../../api/webhooks.ts";
import type { WorkflowRecord } from "../../api/workflows.ts";
import { type Client, everyPage } from "../../client/client.ts";
import { didYouMean } from "../../domain/text/did-you-mean.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import type { Right } from "../../domain/account/rights.ts";
import { theNamed } from "../../domain/source/named.ts";
import { ProjectRoot } from "../../system/home/project-root.ts";

export type StepKind = "data store" | "source" | "workflow" | "webhook" | "delivery";
/** `extra`: on the server, but not in pd.yaml. */
export type StepAction = "create" | "update" | "unchanged" | "extra" | "delete";

/** Performed as a whole or not at all. */
export interface Step {
  readonly kind: StepKind;
  readonly name: string;
  readonly action: StepAction;
  /** Never contain secrets. */
  readonly changes: readonly string[];
  /** Omitted without new rights. */
  readonly rights?: readonly Right[];
  perform(): Promise<unknown>;
}

/** The server when the plan was made. */
export interface ProjectContext {
  readonly client: Client;
  readonly folder: string;
  /** pd.yaml's files must be in it. */
  readonly root: ProjectRoot;
  readonly accounts: readonly AccountRecord[];
  readonly sources: readonly SourceRecord[];
  readonly workflows: readonly WorkflowRecord[];
  readonly webhooks: readonly WebhookRecord[];
}

export async function readContext(client: Client, folder: string): Promise<ProjectContext> {
  const [accounts, sources, workflows, webhooks] = await Promise.all([
    everyPage((page) => client.accounts.list(page)),
    everyPage(client.sources.list),
    everyPage(client.workflows.list),
    everyPage(client.webhooks.list),
  ]);
  return { client, folder, root: await ProjectRoot.of(folder), accounts, sources, workflows, webhooks };
}

export const NOTHING = async (): Promise<void> => {};

/** Throws PD_ACCOUNT_NOT_FOUND and PD_AMBIGUOUS. */
export function accountNamed({ accounts }: Pick<ProjectContext, "accounts">, word: string, where: string): AccountRecord {
  const found = accounts.find(({ id }) => id === word);
  if (found !== undefined) return found;
  if (!accounts.some(({ name }) => name === word)) {
    const near = didYouMean(
      word,
      accounts.map(({ name }) => name),
    );
    throw new PdError("PD_ACCOUNT_NOT_FOUND", `Cannot apply ${where}: the account ${JSON.stringify(word)} does not exist${near}`, {
      fix: `pd accounts connect <app> --name ${word}`,
    });
  }
  const things = accounts.map((record) => ({ id: record.id, slug: record.name, name: record.name, record }));
  return theNamed(things, word, { attempted: `apply ${where}` }).record;
}

/** Converts `account:NAME` to the stored form. */
export function valueOf(context: Pick<ProjectContext, "accounts">, value: JsonValue, where: string): JsonValue {
  if (typeof value !== "string" || !value.startsWith("account:")) return value;
  return { authProvisionId: accountNamed(context, value.slice("account:".length), where).id };
}
