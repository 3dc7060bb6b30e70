import { readFile, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { PdError, codeOf, messageOf } from "../../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { ProjectRoot } from "../../system/home/project-root.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../reporter.ts";

export interface PropFlags {
  /** Each is `name=value`. */
  readonly prop?: readonly string[] | undefined;
  readonly props?: string | undefined;
}

export interface CodeFlags extends PropFlags {
  readonly env?: readonly string[] | undefined;
  readonly envFile?: string | undefined;
  /** Loaded before the component. */
  readonly import?: readonly string[] | undefined;
  /** Imports without a version install the newest package of this day. */
  readonly packagesAsOf?: string | undefined;
  readonly prompt?: boolean | undefined;
}

/** `--prop` overrides `--props`. A name that is given more than once has a list. Throws PD_BAD_INPUT and PD_FILE_NOT_FOUND. */
export async function givenProps({ prop = [], props }: PropFlags): Promise<JsonObject> {
  const values = props === undefined ? {} : await readPropsFile(props);
  const given = new Map<string, string[]>();
  for (const pair of prop) {
    const [name, value] = splitPair(pair, "--prop");
    given.set(name, [...(given.get(name) ?? []), await readValue(name, value)]);
  }
  const pairs = [...given].map(([name, texts]): [string, JsonValue] => [name, texts.length === 1 ? (texts[0] ?? "") : texts]);
  // An assignment would lose a prop named `__proto__`.
  return { ...values, ...Object.fromEntries(pairs) };
}

/** Throws PD_BAD_INPUT. */
export function splitPair(pair: string, flag: string): [string, string] {
  const mark = pair.indexOf("=");
  if (mark < 1) throw new PdError("PD_BAD_INPUT", `Cannot use ${flag} ${JSON.stringify(pair)}: expected name=value`, { fix: `${flag} name=value` });
  return [pair.slice(0, mark), pair.slice(mark + 1)];
}

async function readPropsFile(path: string): Promise<JsonObject> {
  return { ...(await readJsonFile(path, "prop names and values")) };
}

/** `what`: the file's purpose, for errors. Throws PD_BAD_INPUT and PD_FILE_NOT_FOUND. */
export async function readJsonFile(path: string, what: string): Promise<JsonObject> {
  const value = parseJson(await readText(path));
  if (!isJsonObject(value)) throw new PdError("PD_BAD_INPUT", `Cannot use ${path} as ${what}: expected a JSON object`);
  return value;
}

/** `given`: JSON, `@file`, the path of a file, or `-` for stdin. Throws PD_BAD_INPUT and PD_FILE_NOT_FOUND. */
export async function givenEvent(cli: CliContext, given: string): Promise<JsonValue> {
  const inline = parseJson(given);
  if (inline !== undefined) return inline;
  if (/^\s*[[{"]/.test(given)) throw noEvent(given);
  const isStdin = given === "-";
  if (isStdin && cli.stdin.isTTY === true) printNote(cli, "Type the event as JSON, then press Ctrl D on a line of its own");
  const value = parseJson(isStdin ? await text(cli.stdin) : await readText(given.replace(/^@/, "")));
  if (value === undefined) throw noEvent(isStdin ? "what stdin gives" : given);
  return value;
}

/** For a workflow. Throws as `givenEvent`. */
export async function givenEventObject(cli: CliContext, given: string): Promise<JsonObject> {
  const value = await givenEvent(cli, given);
  if (isJsonObject(value)) return value;
  throw new PdError("PD_BAD_INPUT", `Cannot use ${given} as the event: expected a JSON object`, {
    fix: `--event '{"key":"value"}', --event @file or --event -`,
  });
}

function noEvent(what: string): PdError {
  return new PdError("PD_BAD_INPUT", `Cannot use ${what} as the event: it is not JSON`, { fix: `--event '{"key":"value"}', --event @file or --event -` });
}

/** `@file` reads the file. `\@` starts a text with @. */
export async function readValue(name: string, value: string): Promise<string> {
  if (value.startsWith("\\@")) return value.slice(1);
  if (!value.startsWith("@")) return value;
  try {
    return (await readText(value.slice(1))).trim();
  } catch (error) {
    if (error instanceof PdError && error.code !== "PD_FILE_NOT_FOUND") throw error;
    throw new PdError("PD_FILE_NOT_FOUND", `Cannot read the value of ${name}: ${messageOf(error)}`, {
      fix: `For a text that starts with @, write '\\${value}'`,
    });
  }
}

export async function readText(path: string): Promise<string> {
  try {
    return await readFile(await givenPlace(path), "utf8");
  } catch (error) {
    if (error instanceof PdError) throw error;
    const fix = /^\s*[[{"]/.test(path) ? { fix: "Write it to a file, and give the name of the file" } : {};
    throw new PdError("PD_FILE_NOT_FOUND", `Cannot read ${path}: ${reasonOf(error)}`, { cause: error, ...fix });
  }
}

/** Refuses links out of the file's project, which may be someone else's. Allows pipes. */
async function givenPlace(path: string): Promise<string> {
  return (await stat(path)).isFile() ? (await ProjectRoot.of(path)).place(path) : path;
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return code === "ENOENT" ? "the file does not exist" : code === "EISDIR" ? "it is a folder" : messageOf(error);
}

export async function givenEnv({ env = [], envFile }: Pick<CodeFlags, "env" | "envFile">): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  const lines = envFile === undefined ? [] : (await readText(envFile)).split(/\r?\n/).map((line) => line.trim().replace(/^export\s+/, ""));
  for (const line of lines.filter((text) => text !== "" && !text.startsWith("#"))) {
    const [name, value] = splitVariable(line, "--env-file");
    values[name] = value.trim().replace(/^(["'])(.*)\1$/, "$2");
  }
  for (const pair of env) {
    const [name, value] = splitVariable(pair, "--env");
    values[name] = value;
  }
  return values;
}

function splitVariable(pair: string, flag: string): [string, string] {
  const [name, value] = splitPair(pair, flag);
  if (/^[A-Za-z_]\w*$/.test(name.trim())) return [name.trim(), value];
  throw new PdError("PD_BAD_INPUT", `Cannot use ${flag} ${JSON.stringify(pair)}: ${JSON.stringify(name)} is not a valid variable name`, {
    fix: `${flag} NAME=value`,
  });
}
