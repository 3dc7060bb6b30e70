import { confirm } from "@inquirer/prompts";
import { createTwoFilesPatch } from "diff";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { appOfKey } from "../../domain/registry.ts";
import { type ApiClient, dataOf } from "../api-client.ts";
import { canAsk } from "../ask.ts";
import type { CliContext } from "../context.ts";
import { printLine, printNote, text } from "../reporter.ts";

interface LatestFlags {
  readonly prompt?: boolean;
  readonly yes?: boolean;
}

/**
 * Parameters of the API for the newest code of where a source came from, once whoever asked has seen what changes and
 * wants it. `undefined`: there is nothing newer, or it is not wanted.
 */
export async function latestCode(
  cli: CliContext,
  client: ApiClient,
  { source, flags }: { source: JsonObject; flags: LatestFlags },
): Promise<JsonObject | undefined> {
  const code = await refreshed(client, source);
  const [before, after] = [
    dataOf(await client.get(`/v1/components/${text(source, "component_id")}`)),
    dataOf(await client.post("/v1/components/describe", code)),
  ];
  const changes = changedFiles(before, after);
  if (changes.length === 0) {
    printNote(cli, `${text(source, "name_slug")} runs the newest code already (version ${text(before, "version")})`);
    return undefined;
  }
  printLine(cli, `${text(source, "name_slug")}: version ${text(before, "version")} → ${text(after, "version")}`);
  for (const line of propChanges(before, after)) printLine(cli, line);
  for (const patch of changes) printLine(cli, patch);
  return (await isWanted(cli, flags)) ? code : undefined;
}

/** Asks the registry for its newest first. */
async function refreshed(client: ApiClient, source: JsonObject): Promise<JsonObject> {
  const { registry, component_url: url, component_key: key } = source;
  if (typeof url === "string") return { component_url: url };
  if (isJsonObject(registry) && typeof key === "string") {
    await client.post("/v1/registries/update", { name: text(registry, "name"), app: appOfKey(key) });
    return { key, registry: text(registry, "name") };
  }
  const published = typeof key === "string" ? await publishedUnder(client, key) : undefined;
  if (published !== undefined) return { component_id: text(published, "id") };
  throw new PdError(
    "PD_BAD_INPUT",
    `Cannot look for newer code of ${text(source, "name_slug")}: its code was given, and came from no registry, address or published key`,
    {
      fix: "pd update <source> --code <file>",
    },
  );
}

async function publishedUnder(client: ApiClient, key: string): Promise<JsonObject | undefined> {
  const components = await client.all("/v1/components");
  return components.find((component) => component["key"] === key && component["published"] === true);
}

async function isWanted(cli: CliContext, flags: LatestFlags): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!canAsk(cli, flags)) throw new PdError("PD_BAD_INPUT", "Cannot update without being told to: nobody can be asked here", { fix: "Give --yes" });
  return confirm({ message: "Update?", default: false }, { input: cli.stdin, output: cli.stderr });
}

/** One patch for each file that differs. */
function changedFiles(before: JsonObject, after: JsonObject): string[] {
  const [old, fresh] = [filesOf(before), filesOf(after)];
  const names = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return names.flatMap((name) => {
    const [left = "", right = ""] = [old.get(name), fresh.get(name)];
    return left === right ? [] : [createTwoFilesPatch(name, name, left, right, text(before, "version"), text(after, "version"), { context: 2 })];
  });
}

function filesOf(component: JsonObject): Map<string, string> {
  const files = isJsonObject(component["component_files"]) ? component["component_files"] : {};
  return new Map([
    [text(component, "component_path"), text(component, "code")],
    ...Object.entries(files).map(([name, content]): [string, string] => [name, String(content)]),
  ]);
}

function propChanges(before: JsonObject, after: JsonObject): string[] {
  const [old, fresh] = [namesOf(before), namesOf(after)];
  const added = fresh.filter((name) => !old.includes(name)).map((name) => `+ prop ${name}`);
  return [...added, ...old.filter((name) => !fresh.includes(name)).map((name) => `- prop ${name}`)];
}

function namesOf(component: JsonObject): string[] {
  return Array.isArray(component["configurable_props"]) ? component["configurable_props"].filter(isJsonObject).map((prop) => text(prop, "name")) : [];
}
