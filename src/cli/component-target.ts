import { stat } from "node:fs/promises";
import { search } from "@inquirer/prompts";
import { PdError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { looksLikeKey } from "../domain/registry.ts";
import { type ApiClient, listOf } from "./api-client.ts";
import { canAsk } from "./ask.ts";
import type { CliContext } from "./context.ts";
import { codeParamsOf } from "./local-code.ts";
import { text } from "./reporter.ts";

const MOST_SHOWN = 50;

/** Parameters of the API for what a component is named by: a file, a URL, a key, or a saved component's id. */
export async function codeOf(target: string): Promise<JsonObject> {
  if (/^https?:\/\//.test(target)) return { component_url: target };
  if (/^sc_[0-9A-Za-z]+$/.test(target)) return { component_id: target };
  if (looksLikeKey(target) && !(await isFile(target))) return { key: target };
  return codeParamsOf(target);
}

/** Modules that are loaded before the component, as parameters of the API. What is no file is a package. */
export async function importParams(modules: readonly string[] = []): Promise<JsonObject> {
  if (modules.length === 0) return {};
  return { component_imports: await Promise.all(modules.map(importedModule)) };
}

async function importedModule(module: string): Promise<JsonObject> {
  const isPackage = !/^[./]/.test(module) && !(await isFile(module));
  if (isPackage) return { code: `import ${JSON.stringify(module)};\n`, path: `import-${module.replaceAll(/[^\w.-]/g, "-")}.mjs` };
  const { component_code: code = "", component_path: path = "", component_files: files = {} } = await codeParamsOf(module);
  return { code, path, files };
}

/** Lets a person pick a component out of the registries. Throws PD_BAD_INPUT where nobody can be asked. */
export async function pickComponent(cli: CliContext, client: ApiClient, flags: { prompt?: boolean }): Promise<string> {
  if (!canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", "Cannot tell what to deploy: no file, URL or key is given", {
      fix: "pd deploy <file>, or pd registry search <words> to find a key",
    });
  const source = async (typed: string | undefined): Promise<{ name: string; value: string; description: string }[]> => {
    const found = listOf(await client.get(`/v1/registries/search?limit=${MOST_SHOWN}&query=${encodeURIComponent(typed ?? "")}`));
    return found
      .filter((entry) => entry["component_type"] === "source")
      .map((entry) => ({ name: `${text(entry, "name")}  ${text(entry, "key")}`, value: text(entry, "key"), description: text(entry, "description") }));
  };
  return search({ message: "Which component? (type to search)", source, pageSize: 12 }, { input: cli.stdin, output: cli.stderr });
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
