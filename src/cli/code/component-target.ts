import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { search } from "../ask/prompts.ts";
import { PdError } from "../../domain/errors.ts";
import { looksLikeKey, mayBeKey } from "../../domain/component/registry.ts";
import type { CodeParams } from "../../api/components.ts";
import type { IndexedRecord } from "../../api/registries.ts";
import type { Client } from "../../client/client.ts";
import { canAsk } from "../ask/can-ask.ts";
import type { CliContext } from "../context.ts";
import type { CodeFlags } from "./prop-flags.ts";
import { codeParamsOf } from "./local-code.ts";
import { holdingTerminal } from "../spinner.ts";
import { isThere } from "../../system/home/is-there.ts";
import { ProjectRoot } from "../../system/home/project-root.ts";

const MOST_SHOWN = 50;
/** Pause in typing before the registries are searched. */
const TYPING_MS = 300;

/** A file, URL, key, or id of a saved component. */
export async function codeOf(target: string): Promise<CodeParams> {
  if (/^https?:\/\//.test(target)) return { component_url: target };
  if (/^sc_[0-9A-Za-z]+$/.test(target)) return { component_id: target };
  if (looksLikeKey(target) && !(await isFile(target))) return { key: target };
  if (mayBeKey(target) && !(await isThere(target))) return { key: target };
  return codeParamsOf(target);
}

/** An update keeps what is omitted. A module that is not a file is a package. */
export async function additionParams({
  import: modules,
  packagesAsOf,
}: Pick<CodeFlags, "import" | "packagesAsOf">): Promise<Pick<CodeParams, "component_imports" | "packages_as_of">> {
  return {
    ...(modules === undefined ? {} : { component_imports: await Promise.all(modules.map(importedModule)) }),
    ...(packagesAsOf === undefined ? {} : { packages_as_of: packagesAsOf }),
  };
}

async function importedModule(module: string): Promise<NonNullable<CodeParams["component_imports"]>[number]> {
  const isPackage = !/^[./]/.test(module) && !(await isFile(module));
  if (isPackage) return { code: `import ${JSON.stringify(module)};\n`, path: `import-${module.replaceAll(/[^\w.-]/g, "-")}.mjs` };
  const { component_code: code, component_path: path, component_files: files = {} } = await codeParamsOf(module);
  return { code, path, files };
}

/** Throws PD_BAD_INPUT. */
export async function pickComponent(cli: CliContext, client: Client, flags: { prompt?: boolean | undefined }): Promise<string> {
  if (!canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", "Cannot deploy: no file, URL or key is given", {
      fix: "pd deploy <file>, or pd registry search <words> to find a key",
    });
  const source = async (typed = "", { signal }: { signal: AbortSignal }): Promise<PickedKey[]> => {
    if (typed !== "") await sleep(TYPING_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return [];
    const { data } = await client.registries.search({ limit: MOST_SHOWN, component_type: "source", query: typed });
    return data.map(pickedKey);
  };
  const question = { message: "Which component? (type an app or words to search)", source, pageSize: 12 };
  return holdingTerminal(() => search(question, { input: cli.stdin, output: cli.stderr }));
}

interface PickedKey {
  readonly name: string;
  readonly value: string;
  readonly description: string;
}

function pickedKey({ name, key, description }: IndexedRecord): PickedKey {
  return { name: `${name}  ${key}`, value: key, description };
}

interface DevelopedFile {
  readonly path: string;
  /** Must contain its files. Omitted: the project of the path. */
  readonly root?: ProjectRoot;
}

/** A file, or a key with a file in a registry on this machine. Throws PD_BAD_INPUT. */
export async function fileOf(client: Client, target: string, { home, isElsewhere }: { home: string; isElsewhere: boolean }): Promise<DevelopedFile> {
  if (!looksLikeKey(target) || (await isFile(target))) return { path: target };
  if (isElsewhere) throw new PdError("PD_BAD_INPUT", `Cannot watch ${target}: its file is on another machine`, { fix: "pd dev <file>" });
  const { registry: name } = await client.components.describe({ key: target });
  const found = (await client.registries.list()).find((registry) => registry.name === name);
  if (found === undefined) throw new PdError("PD_BAD_INPUT", `Cannot watch ${target}: it was published here, and has no file`, { fix: "pd dev <file>" });
  const folder = found.kind === "folder" ? found.location : join(home, "registries", found.name);
  const { data } = await client.registries.search({ limit: 1000, query: target });
  return { path: join(folder, data.find(({ key }) => key === target)?.path ?? ""), root: await ProjectRoot.at(folder) };
}

export async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
