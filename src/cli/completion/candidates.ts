import type { Client } from "../../client/client.ts";
import { type Place, flagsOf } from "./place.ts";
import { type Candidate, READERS, type Surroundings } from "./readers.ts";

type Kind = keyof typeof READERS | "files" | "profiles";

/** Keys are arguments, with the command where the name is ambiguous. */
const OF_ARGUMENTS: Readonly<Record<string, readonly Kind[]>> = {
  account: ["accounts"],
  app: ["apps"],
  component: ["files", "sources", "components"],
  "delivery-webhook-or-listener": ["webhooks", "sources", "workflows"],
  emitter: ["sources", "workflows"],
  event: ["events"],
  file: ["files"],
  folder: ["files"],
  invocation: ["invocations"],
  "invocation-or-source": ["sources"],
  "db get key": ["state"],
  "db set key": ["state"],
  "db delete key": ["state"],
  "keys revoke name": ["serverKeys"],
  listener: ["sources", "workflows", "webhooks"],
  location: ["files"],
  paths: ["files"],
  prop: ["propNames"],
  "registry remove name": ["registries"],
  "registry update name": ["registries"],
  "run-or-workflow": ["workflows"],
  source: ["sources", "workflows"],
  "source-workflow-or-run": ["sources", "workflows"],
  "stores delete name": ["stores"],
  "stores get key": ["storeKeys"],
  "stores get name": ["stores"],
  "stores set key": ["storeKeys"],
  "stores set name": ["stores"],
  "stores show name": ["stores"],
  "stores unset key": ["storeKeys"],
  "stores unset name": ["stores"],
  "webhook-listener-or-delivery": ["webhooks", "sources", "workflows"],
  "alerts delete id": ["alerts"],
  "alerts test id": ["alerts"],
  "workflow-or-run": ["workflows"],
  "webhooks delete id": ["webhooks"],
  "webhooks rotate id": ["webhooks"],
  "webhooks show id": ["webhooks"],
  "webhooks test id": ["webhooks"],
  "webhooks update id": ["webhooks"],
  workflow: ["workflows"],
};

const OF_FLAGS: Readonly<Record<string, readonly Kind[]>> = {
  "--dc": ["sources"],
  "--env-file": ["files"],
  "--from": ["profiles"],
  "--home": ["files"],
  "--import": ["files"],
  "--profile": ["profiles"],
  "--prop": ["props"],
  "--props": ["files"],
  "--to": ["profiles"],
};

const WORDS: Readonly<Record<string, readonly string[]>> = {
  "completion shell": ["bash", "zsh", "fish"],
  "init kind": ["source", "action", "app", "workflow"],
  "list kind": ["sources", "workflows", "components", "streams"],
};

export interface Completing {
  readonly place: Place;
  /** Undefined without a server. */
  readonly client: () => Promise<Client | undefined>;
  readonly profiles: () => Promise<readonly string[]>;
  readonly sourceOfFile: Surroundings["sourceOfFile"];
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly mayBeFile: boolean;
}

/** Omits values that cannot be read. */
export async function complete(completing: Completing): Promise<Completion> {
  const { command, current, flag } = completing.place;
  const isFlag = flag === undefined && current.startsWith("-");
  if (isFlag)
    return {
      candidates: flagsOf(command).flatMap(({ long, description }) => (typeof long === "string" ? [{ value: long, about: description }] : [])),
      mayBeFile: false,
    };
  const kinds = flag === undefined ? ofArgument(completing.place, OF_ARGUMENTS) : (OF_FLAGS[flag.long ?? ""] ?? []);
  const fixed = flag === undefined ? fixedAt(completing.place) : [];
  const read = await Promise.all(kinds.map((kind) => readKind(kind, completing)));
  return { candidates: [...fixed, ...read.flat()], mayBeFile: kinds.includes("files") };
}

function fixedAt(place: Place): readonly Candidate[] {
  const { command, given } = place;
  const commands = given.length > 0 ? [] : command.commands.filter((one) => one.name() !== "complete");
  return [...commands.map((one) => ({ value: one.name(), about: one.description() })), ...ofArgument(place, WORDS).map((value) => ({ value }))];
}

function ofArgument<Entry>({ command, path, given }: Place, table: Readonly<Record<string, readonly Entry[]>>): readonly Entry[] {
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[given.length] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : (table[`${path} ${argument.name()}`] ?? table[argument.name()] ?? []);
}

async function readKind(kind: Kind, { place, client, profiles, sourceOfFile }: Completing): Promise<readonly Candidate[]> {
  if (kind === "files") return [];
  try {
    if (kind === "profiles") return (await profiles()).map((value) => ({ value }));
    const found = await client();
    return found === undefined ? [] : await READERS[kind]({ place, client: found, sourceOfFile });
  } catch {
    // Tab must not print errors.
    return [];
  }
}
