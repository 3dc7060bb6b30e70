import { confirm } from "../../ask/prompts.ts";
import type { CodeParams, ComponentRecord, DescribedRecord } from "../../../api/components.ts";
import type { SourceRecord } from "../../../api/sources.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { appOfKey } from "../../../domain/component/registry.ts";
import { differenceOf } from "../../../domain/text/text-difference.ts";
import { canAsk } from "../../ask/can-ask.ts";
import type { CliContext } from "../../context.ts";
import { printLine, printNote } from "../../reporter.ts";
import { fileLines } from "../../transfer/transfer-plan.ts";

interface LatestFlags {
  readonly prompt?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly import?: readonly string[] | undefined;
}

/** From the source's origin. Empty without newer code. Undefined when the user declined. */
export async function latestCode(
  cli: CliContext,
  client: Client,
  { source, flags }: { source: SourceRecord; flags: LatestFlags },
): Promise<CodeParams | undefined> {
  const code = await refreshed(client, source);
  const [before, after] = [await client.components.get(source.component_id), await client.components.describe(code)];
  const changes = fileLines(differenceOf(filesOf(before), filesOf(after)));
  if (changes.length === 0) {
    printNote(cli, `${source.name_slug} already runs the newest code (version ${before.version})`);
    // `--import` modules change only with the code.
    return flags.import === undefined ? {} : code;
  }
  printLine(cli, `${source.name_slug}: version ${before.version} → ${after.version}`);
  for (const line of propChanges(before, after)) printLine(cli, line);
  for (const line of changes) printLine(cli, line);
  return (await isWanted(cli, flags)) ? code : undefined;
}

/** Updates the registry first. Throws PD_BAD_INPUT without an origin. */
async function refreshed(client: Client, source: SourceRecord): Promise<CodeParams> {
  const { registry, component_url: url, component_key: key } = source;
  if (url !== undefined) return { component_url: url };
  if (registry !== undefined && key !== undefined) {
    await client.registries.update({ name: registry.name, app: appOfKey(key) });
    return { key, registry: registry.name };
  }
  const published = key === undefined ? undefined : await publishedUnder(client, key);
  if (published !== undefined) return { component_id: published.id };
  throw new PdError("PD_BAD_INPUT", `Cannot look for newer code of ${source.name_slug}: its code did not come from a registry, an address or a published key`, {
    fix: "pd update <source> --code <file>",
  });
}

async function publishedUnder(client: Client, key: string): Promise<ComponentRecord | undefined> {
  const components = await everyPage(client.components.list);
  return components.find((component) => component.key === key && component.published);
}

async function isWanted(cli: CliContext, flags: LatestFlags): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!canAsk(cli, flags)) throw new PdError("PD_BAD_INPUT", "Cannot update without confirmation: the command cannot ask here", { fix: "Give --yes" });
  return confirm({ message: "Update?", default: false }, { input: cli.stdin, output: cli.stderr });
}

type Version = Pick<ComponentRecord | DescribedRecord, "code" | "component_path" | "component_files" | "configurable_props" | "version">;

function filesOf({ component_path: path, code, component_files: files = {} }: Version): Record<string, string> {
  return { [path]: code, ...files };
}

function propChanges(before: Version, after: Version): string[] {
  const [old, fresh] = [before, after].map(({ configurable_props: props }) => props.map(({ name }) => name));
  const added = fresh?.filter((name) => old?.includes(name) === false).map((name) => `+ prop ${name}`) ?? [];
  return [...added, ...(old?.filter((name) => fresh?.includes(name) === false).map((name) => `- prop ${name}`) ?? [])];
}
