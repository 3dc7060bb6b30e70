import { homedir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { PdError } from "./domain/errors.ts";
import type { CatchUp } from "./domain/timer/schedule.ts";
import type { ComponentNetwork, SandboxUse } from "./ports/runner.ts";
import type { KeyringUse } from "./ports/vault.ts";

export interface Settings {
  readonly home: string;
  /** PostgreSQL. Empty for SQLite in the home. */
  readonly databaseUrl: string;
  readonly databasePasswordFile: string;
  /** Makes the server a node of a cluster: where other nodes reach it. Empty for a server that is alone. */
  readonly advertise: string;
  readonly host: string;
  readonly port: number;
  readonly endpointPort: number;
  /** Public URL of the endpoints, without a trailing slash. Empty when they have none. */
  readonly publicUrl: string;
  /** Empty for the API's own address. */
  readonly pageUrl: string;
  /** Program that makes the endpoints public: `auto`, or its name or path. Empty for none. */
  readonly tunnel: string;
  readonly timeoutMs: number;
  readonly responseMs: number;
  readonly memoryMb: number;
  readonly idleMs: number;
  readonly concurrency: number;
  /** Maximum number of queued calls of one source. */
  readonly waiting: number;
  /** Maximum number of source processes. */
  readonly processes: number;
  readonly bodyLimitBytes: number;
  readonly headerLimitBytes: number;
  readonly catchUp: CatchUp;
  readonly keepEvents: number;
  readonly keepInvocations: number;
  readonly keepMs: number;
  readonly allowScripts: boolean;
  /** Allows native code, which Node's permission model does not restrict. */
  readonly allowAddons: boolean;
  /** Allows callers of a shared server to preload modules. */
  readonly allowImports: boolean;
  readonly deliveryConcurrency: number;
  readonly allowPrivateWebhooks: boolean;
  /** Sandbox in addition to Node's permission model. */
  readonly sandboxUse: SandboxUse;
  readonly componentNetwork: ComponentNetwork;
  /** Whether the operating system's keyring stores the key of all secrets. */
  readonly keyringUse: KeyringUse;
  /** Keeps a full-text index of events and runs. */
  readonly search: boolean;
  /** Command or path of the interpreter. */
  readonly python: string;
}

const IDLE_PROCESS_BYTES = 10 * 2 ** 20;

type SettingName = keyof Settings;

interface SettingRow {
  readonly flag: string;
  readonly variable: string;
  readonly value: string;
  /** The value of the flag without one. */
  readonly alone?: string;
  readonly default: string;
  readonly help: string;
}

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

/** As many idle processes as fit into a quarter of the memory. */
function defaultProcesses(): string {
  return String(Math.max(32, Math.min(200, Math.floor(totalmem() / 4 / IDLE_PROCESS_BYTES))));
}

/** Precedence: flag, environment variable, config file (named as the flag, with `_` for `-`), default. */
export const SETTINGS: Readonly<Record<SettingName, SettingRow>> = {
  home: { flag: "home", variable: "PD_HOME", value: "<folder>", default: "", help: "Folder for all data" },
  databaseUrl: {
    flag: "database-url",
    variable: "PD_DATABASE_URL",
    value: "<url>",
    default: "",
    help: "PostgreSQL database instead of SQLite in the home: postgres://user@host/name; PG* variables supply what is missing",
  },
  databasePasswordFile: {
    flag: "database-password-file",
    variable: "PD_DATABASE_PASSWORD_FILE",
    value: "<file>",
    default: "",
    help: "File with the password of the PostgreSQL database",
  },
  advertise: {
    flag: "advertise",
    variable: "PD_ADVERTISE",
    value: "<host>",
    default: "",
    help: "Be a node of a cluster on this PostgreSQL database: the host name or address at which the other nodes reach this one",
  },
  host: { flag: "host", variable: "PD_HOST", value: "<address>", default: "127.0.0.1", help: "Address to listen on" },
  port: { flag: "port", variable: "PD_PORT", value: "<port>", default: "4141", help: "Port of the API (0: any free one)" },
  endpointPort: {
    flag: "endpoint-port",
    variable: "PD_ENDPOINT_PORT",
    value: "<port>",
    default: "4142",
    help: "Port of the components' endpoints (0: any free one)",
  },
  publicUrl: {
    flag: "public-url",
    variable: "PD_PUBLIC_URL",
    value: "<url>",
    default: "",
    help: "URL of the endpoints from outside, behind a proxy or tunnel",
  },
  pageUrl: {
    flag: "page-url",
    variable: "PD_PAGE_URL",
    value: "<url>",
    default: "",
    help: "URL of the page from outside, for links in alerts and mails",
  },
  tunnel: {
    flag: "tunnel",
    variable: "PD_TUNNEL",
    value: "[program]",
    alone: "auto",
    default: "",
    help: "Make the endpoints public while the server runs, by an installed cloudflared, ngrok or tailscale, or by the named one",
  },
  timeoutMs: { flag: "timeout", variable: "PD_TIMEOUT", value: "<seconds>", default: "300", help: "Timeout of a run" },
  responseMs: {
    flag: "response-timeout",
    variable: "PD_RESPONSE_TIMEOUT",
    value: "<seconds>",
    default: "30",
    help: "Answer 504 when a component that sends its own response takes longer",
  },
  memoryMb: { flag: "memory", variable: "PD_MEMORY", value: "<MB>", default: "256", help: "JavaScript memory of a component's process" },
  idleMs: { flag: "idle", variable: "PD_IDLE", value: "<seconds>", default: "50", help: "End the process of a source that was idle for this time" },
  concurrency: { flag: "concurrency", variable: "PD_CONCURRENCY", value: "<n>", default: "64", help: "Concurrent runs of one source; more wait" },
  waiting: { flag: "waiting", variable: "PD_WAITING", value: "<n>", default: "10000", help: "Waiting runs of one source; more are rejected" },
  processes: {
    flag: "processes",
    variable: "PD_PROCESSES",
    value: "<n>",
    default: defaultProcesses(),
    help: "Concurrent processes of sources; more wait",
  },
  bodyLimitBytes: { flag: "body-limit", variable: "PD_BODY_LIMIT", value: "<KB>", default: "10240", help: "Largest request body" },
  headerLimitBytes: { flag: "header-limit", variable: "PD_HEADER_LIMIT", value: "<KB>", default: "16", help: "Largest total size of a request's headers" },
  catchUp: {
    flag: "catch-up",
    variable: "PD_CATCH_UP",
    value: "<policy>",
    default: "latest",
    help: "Policy for missed timer instants: latest, skip or all",
  },
  keepEvents: { flag: "keep-events", variable: "PD_KEEP_EVENTS", value: "<n>", default: "10000", help: "Events stored per source" },
  keepInvocations: {
    flag: "keep-invocations",
    variable: "PD_KEEP_INVOCATIONS",
    value: "<n>",
    default: "10000",
    help: "Invocations stored per source, with their logs",
  },
  keepMs: { flag: "keep-days", variable: "PD_KEEP_DAYS", value: "<days>", default: "30", help: "Maximum age of stored events and invocations" },
  search: {
    flag: "search",
    variable: "PD_SEARCH",
    value: "[true|false]",
    alone: "true",
    default: "false",
    help: "Keep a full-text index of events and runs, for pd search and the page",
  },
  allowScripts: {
    flag: "allow-scripts",
    variable: "PD_ALLOW_SCRIPTS",
    value: "[true|false]",
    alone: "true",
    default: "false",
    help: "Let packages run their install scripts",
  },
  allowAddons: {
    flag: "allow-addons",
    variable: "PD_ALLOW_ADDONS",
    value: "[true|false]",
    alone: "true",
    default: "false",
    help: "Let components load packages with native code, which may read this machine's files",
  },
  allowImports: {
    flag: "allow-imports",
    variable: "PD_ALLOW_IMPORTS",
    value: "[true|false]",
    alone: "true",
    default: "false",
    help: "Let callers of a shared server (pd serve) load modules before a component, as with --import",
  },
  deliveryConcurrency: {
    flag: "delivery-concurrency",
    variable: "PD_DELIVERY_CONCURRENCY",
    value: "<n>",
    default: "4",
    help: "Concurrent deliveries to one listener",
  },
  allowPrivateWebhooks: {
    flag: "allow-private-webhooks",
    variable: "PD_ALLOW_PRIVATE_WEBHOOKS",
    value: "[true|false]",
    alone: "true",
    default: "false",
    help: "Deliver to addresses inside this network even if the server listens beyond this machine",
  },
  sandboxUse: {
    flag: "sandbox",
    variable: "PD_SANDBOX",
    value: "<auto|wall|belt>",
    default: "auto",
    help: "Sandbox in addition to Node's permission model; wall: separate namespaces (bubblewrap); belt: no sandbox; auto: wall where available",
  },
  componentNetwork: {
    flag: "component-network",
    variable: "PD_COMPONENT_NETWORK",
    value: "<open|public>",
    default: "open",
    help: "Network that components can reach; public: not this machine or its network, except this server's API (needs the wall)",
  },
  keyringUse: {
    flag: "keyring",
    variable: "PD_KEYRING",
    value: "<auto|always|never>",
    default: "auto",
    help: "Store the secret key in this machine's keyring instead of a file in the home; auto: where a keyring exists",
  },
  python: {
    flag: "python",
    variable: "PD_PYTHON",
    value: "<path>",
    default: "python3",
    help: "Python for workflow steps in Python, 3.9 or newer",
  },
};

export type GivenSettings = Partial<Readonly<Record<SettingName, string>>>;

export interface SettingSources {
  readonly flags?: GivenSettings;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly file?: Readonly<Record<string, unknown>>;
}

interface Given {
  readonly name: SettingName;
  readonly text: string;
  /** Flag, variable or config key, for error messages. */
  readonly place: string;
}

/** Throws PD_BAD_INPUT for an invalid value. */
export function readSettings({ flags = {}, environment = {}, file = {} }: SettingSources): Settings {
  const given = (name: SettingName): Given => {
    const row = SETTINGS[name];
    const [flag, variable, key] = [flags[name], environment[row.variable], row.flag.replaceAll("-", "_")];
    if (flag !== undefined) return { name, text: flag, place: `--${row.flag}` };
    if (variable !== undefined) return { name, text: variable, place: row.variable };
    return { name, text: file[key] === undefined ? row.default : String(file[key]), place: `${key} of the config file:` };
  };
  const number = (name: SettingName, unit: number, lowest: number): number => numberOf(given(name), lowest) * unit;
  const yes = (name: SettingName): boolean => ["true", "1"].includes(choiceOf(given(name), ["true", "false", "1", "0"]));
  return {
    home: homeFolder(given("home").text, environment),
    databaseUrl: given("databaseUrl").text,
    databasePasswordFile: given("databasePasswordFile").text,
    advertise: hostOf(given("advertise")),
    host: given("host").text,
    port: portOf(given("port")),
    endpointPort: portOf(given("endpointPort")),
    publicUrl: publicUrl(given("publicUrl")),
    pageUrl: publicUrl(given("pageUrl")),
    tunnel: tunnelOf(given("tunnel"), { host: given("host").text, others: [given("publicUrl"), given("advertise")] }),
    timeoutMs: number("timeoutMs", SECOND, 0.01),
    responseMs: number("responseMs", SECOND, 0.01),
    memoryMb: number("memoryMb", 1, 32),
    idleMs: number("idleMs", SECOND, 0.1),
    concurrency: number("concurrency", 1, 1),
    waiting: number("waiting", 1, 0),
    processes: number("processes", 1, 1),
    bodyLimitBytes: number("bodyLimitBytes", 1024, 1),
    headerLimitBytes: number("headerLimitBytes", 1024, 1),
    catchUp: choiceOf(given("catchUp"), ["latest", "skip", "all"]),
    keepEvents: number("keepEvents", 1, 1),
    keepInvocations: number("keepInvocations", 1, 1),
    keepMs: number("keepMs", DAY, 0.001),
    allowScripts: yes("allowScripts"),
    search: yes("search"),
    allowAddons: yes("allowAddons"),
    allowImports: yes("allowImports"),
    deliveryConcurrency: number("deliveryConcurrency", 1, 1),
    allowPrivateWebhooks: yes("allowPrivateWebhooks"),
    sandboxUse: choiceOf(given("sandboxUse"), ["auto", "wall", "belt"]),
    componentNetwork: choiceOf(given("componentNetwork"), ["open", "public"]),
    keyringUse: choiceOf(given("keyringUse"), ["auto", "always", "never"]),
    python: given("python").text,
  };
}

function homeFolder(given: string, environment: Readonly<Record<string, string | undefined>>): string {
  if (given !== "") return resolve(given);
  return join(environment["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"), "headwater");
}

function publicUrl(given: Given): string {
  const { text } = given;
  if (text !== "" && (!/^https?:\/\//.test(text) || !URL.canParse(text))) throw badSetting(given, "an http or https address");
  return text.replace(/\/+$/, "");
}

/** The tunnel gives the address, which a proxy or a balancer would give as well. */
function tunnelOf({ text, place }: Given, { host, others }: { readonly host: string; readonly others: readonly Given[] }): string {
  const other = others.find((one) => one.text !== "");
  if (text !== "" && !["127.0.0.1", "0.0.0.0", "localhost", "::"].includes(host))
    throw new PdError("PD_BAD_INPUT", `Cannot use ${place} with --host ${host}: a tunnel leads to 127.0.0.1`, { fix: `Leave out ${place} or --host` });
  if (text !== "" && other !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use both ${place} and ${other.place}`, { fix: `Leave out ${place}` });
  return text === "true" || text === "1" ? "auto" : text;
}

function numberOf(given: Given, lowest: number): number {
  const value = Number(given.text);
  if (given.text.trim() === "" || !Number.isFinite(value) || value < lowest) throw badSetting(given, `a number of at least ${lowest}`);
  return value;
}

function portOf(given: Given): number {
  const value = numberOf(given, 0);
  if (!Number.isInteger(value) || value > 65_535) throw badSetting(given, "a port from 0 to 65535");
  return value;
}

function hostOf(given: Given): string {
  const { text } = given;
  const url = `http://${text.includes(":") ? `[${text}]` : text}/`;
  if (text !== "" && (!URL.canParse(url) || new URL(url).href !== url.toLowerCase())) throw badSetting(given, "a host name or an IP address, without a port");
  return text;
}

function choiceOf<Choice extends string>(given: Given, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === given.text);
  if (chosen === undefined) throw badSetting(given, `one of ${choices.join(", ")}`);
  return chosen;
}

function badSetting({ name, text, place }: Given, wanted: string): PdError {
  return new PdError("PD_BAD_INPUT", `Cannot use ${place} ${JSON.stringify(text)}: expected ${wanted}`, {
    fix: `Set --${SETTINGS[name].flag} or ${SETTINGS[name].variable} to ${wanted}`,
  });
}
