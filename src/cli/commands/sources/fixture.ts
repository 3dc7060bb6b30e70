import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import type { InvocationRecord } from "../../../api/invocations.ts";
import type { SourceRecord } from "../../../api/sources.ts";
import type { Client } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isSameJson } from "../../../domain/text/json.ts";
import { textsAndNumbersIn } from "../../../domain/account/secrets.ts";
import { RunFailed, type RunInput, closeAll, load, recording } from "../../../testing/index.ts";
import { makeFolder } from "../../../system/home/make-folder.ts";
import { type CliContext, connect } from "../../context.ts";
import { settingsOf } from "../../settings-of.ts";
import { requirePlainPath, writeServerFiles } from "../../code/server-files.ts";
import { Attachments } from "../../code/attachments.ts";
import { differenceOf } from "../../fixture/compare-events.ts";
import { headersLeftOut, inputOf } from "../../fixture/recorded-run.ts";
import { standInFor, standingFor, takeSecretsOut } from "../../fixture/stand-ins.ts";
import { testText } from "../../fixture/test-text.ts";
import { findProfile } from "../../profiles.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";
import { withSpinner } from "../../spinner.ts";

export interface FixtureFlags {
  /** Omitted: the file that was deployed from here, or the server's code. */
  readonly file?: string | undefined;
  /** Calls third parties once with the source's accounts, and stores their answers. */
  readonly record?: boolean | undefined;
  /** Starts the test with the source's current state. */
  readonly withState?: boolean | undefined;
  readonly force?: boolean | undefined;
}

/** Writes a run's input, and a test that passes. */
export async function fixture(cli: CliContext, [first, event]: readonly [string, string | undefined], flags: FixtureFlags): Promise<number> {
  const client = await connect(cli);
  const invocation = await invocationOf(client, first, event);
  const trigger = inputOf(invocation);
  const source = await client.sources.get(invocation.source_id);
  const path = await fileOf(cli, client, { source, flags });
  const files = namesFor(path, invocation.id);
  const taken = Object.values(files).filter((file) => existsSync(file));
  if (taken.length > 0 && flags.force !== true)
    throw new PdError("PD_BAD_INPUT", `Cannot write ${taken.map((file) => relative(process.cwd(), file)).join(", ")}: it exists`, {
      fix: "--force overwrites it",
    });
  const db = flags.withState === true ? await client.state.all(source.id) : {};
  const given: Given = { props: propsOf(source), db, now: invocation.started_at_ms, trigger };
  let isWritten = false;
  try {
    if (flags.record === true) await recordOnce(cli, client, { path, given, source, recordingFile: files.recording });
    const kept = await tried(path, given, files.recording);
    const again = await tried(path, given, files.recording);
    if (!isSameJson(asJson(kept), asJson(again)))
      throw new PdError("PD_BAD_INPUT", `Cannot make a test of ${invocation.id}: each run gives another result`, {
        fix: "Leave out random and time-dependent values: a test stops the clock, but not Math.random",
      });
    await makeFolder(dirname(files.test));
    await writeFile(files.fixture, `${JSON.stringify({ ...given, ...("events" in kept ? { events: kept.events } : {}) }, null, 2)}\n`);
    const words = {
      title: `${invocation.trigger_summary}, as on ${new Date(invocation.started_at_ms).toISOString()}`,
      component: `./${basename(path)}`,
      fixture: `./${basename(files.fixture)}`,
    };
    await writeFile(
      files.test,
      testText({
        ...words,
        ...(existsSync(files.recording) ? { recording: `./${basename(files.recording)}` } : {}),
        ...("throws" in kept ? { throws: kept.throws } : {}),
      }),
    );
    isWritten = true;
    await told(cli, client, { files, invocation, kept, standIns: standInsOf(source, given) });
    return 0;
  } finally {
    // A recording is useless without its test.
    if (!isWritten && flags.record === true) await rm(files.recording, { force: true });
    await closeAll();
  }
}

interface Given {
  readonly props: JsonObject;
  readonly db: JsonObject;
  readonly now: number;
  readonly trigger: JsonObject;
  /** Prop → stand-ins for its account's fields. */
  accounts?: Record<string, Record<string, string>>;
}

type TriedRun = { readonly events: JsonValue[] } | { readonly throws: string };

async function invocationOf(client: Client, first: string, event: string | undefined): Promise<InvocationRecord> {
  if (event === undefined) return client.invocations.get(first);
  const { metadata } = await client.events.get(first, event);
  return client.invocations.get(metadata.invocation_id);
}

/** The file that was saved or deployed from this machine. Otherwise the server's code, which is written into a folder of the source's name. */
async function fileOf(cli: CliContext, client: Client, { source, flags }: { source: SourceRecord; flags: FixtureFlags }): Promise<string> {
  if (flags.file !== undefined) return resolve(flags.file);
  const { home } = await settingsOf(cli);
  const elsewhere = (await findProfile(cli.profile, cli.environment))?.baseUrl ?? "";
  for (const kind of ["dev", "deploy"] as const) {
    const known = await new Attachments(home, elsewhere, kind).fileOf(source.id);
    if (known !== undefined && existsSync(known)) return known;
  }
  const { component_path: path, files } = await client.sources.version(source.id, String(source.version));
  for (const name of [path, ...Object.keys(files)]) requirePlainPath(`${source.name_slug}/${name}`);
  const folder = resolve(source.name_slug);
  await writeServerFiles(folder, files, { isForced: flags.force === true, fix: "Give the component with --file, or --force to overwrite" });
  return join(folder, path);
}

interface Files {
  readonly fixture: string;
  readonly recording: string;
  readonly test: string;
}

/** A server's id becomes part of paths. */
function namesFor(path: string, id: string): Files {
  if (!/^[\w-]+$/.test(id)) throw new PdError("PD_BAD_INPUT", `Cannot write files for the run ${JSON.stringify(id)}: its id is not a valid file name`);
  const stem = join(dirname(path), `${basename(path).replace(/\.[^.]+$/, "")}.${id}`);
  return { fixture: `${stem}.json`, recording: `${stem}.recording.json`, test: `${stem}.test.${/^\.[mc]?ts$/.test(extname(path)) ? "ts" : "mjs"}` };
}

function propsOf({ configured_props: values, configurable_props: declared }: SourceRecord): JsonObject {
  const plain = declared.filter(({ type, name }) => type !== "app" && !/^\$\.(interface|service)\./.test(type) && values[name] !== undefined);
  return Object.fromEntries(
    plain.map(({ name, type, secret }) => [name, secret === true ? (type.endsWith("[]") ? [standInFor(name)] : standInFor(name)) : (values[name] ?? null)]),
  );
}

interface Recording {
  readonly path: string;
  readonly given: Given;
  readonly source: SourceRecord;
  readonly recordingFile: string;
}

/** The recording contains no secrets and credentials. */
async function recordOnce(cli: CliContext, client: Client, { path, given, source, recordingFile }: Recording): Promise<void> {
  const standIns = new Map<string, string>();
  const accounts: Record<string, Record<string, string>> = {};
  const { configured_props: values } = await client.sources.export(source.id, { secrets: true });
  const secrets: JsonObject = {};
  for (const { name, type, secret } of source.configurable_props) {
    const value = source.configured_props[name];
    const held = secret === true ? values[name] : undefined;
    if (held !== undefined) {
      secrets[name] = held;
      given.props[name] = standingFor(name, held, standIns);
    }
    if (type !== "app" || !isJsonObject(value) || typeof value["authProvisionId"] !== "string") continue;
    const { credentials = {} } = await client.accounts.get(value["authProvisionId"], { include_credentials: true });
    const fields = Object.entries(credentials).map(([field, text]): [string, string] => [field, String(text)]);
    accounts[name] = Object.fromEntries(fields);
    for (const [field, text] of fields) standIns.set(text, standIns.get(text) ?? standInFor(name, field));
  }
  await rm(recordingFile, { force: true });
  const run = await load(path, { ...given, props: { ...given.props, ...secrets }, accounts, http: recording(recordingFile), place: "sandbox" });
  await withSpinner(
    cli,
    "Calling third parties",
    run.run(inputFor(given)).then(() => {}, unlessFailed),
  );
  if (existsSync(recordingFile)) await takeSecretsOut(recordingFile, standIns);
  const standing = Object.entries(accounts).map(([name, fields]) => [
    name,
    Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, standIns.get(text) ?? standInFor(name, field)])),
  ]);
  given.accounts = Object.fromEntries(standing);
}

/** Runs the component as the test will. */
async function tried(path: string, given: Given, recordingFile: string): Promise<TriedRun> {
  const source = await load(path, { ...given, ...(existsSync(recordingFile) ? { http: recording(recordingFile) } : {}), place: "sandbox" });
  try {
    const { kept, calls } = await source.run(inputFor(given));
    requireAnswers(calls);
    return { events: kept.map(({ event }) => asJson(event)) };
  } catch (error) {
    if (!(error instanceof RunFailed)) throw error;
    requireAnswers(error.result.calls);
    return { throws: error.message };
  }
}

/** Unanswered calls make the run differ from the server's, even when the code ignores them. */
function requireAnswers(calls: RunFailed["result"]["calls"]): void {
  const asked = calls.find(({ status }) => status === undefined);
  if (asked === undefined) return;
  throw new PdError("PD_BAD_INPUT", `Cannot make a test yet: the run calls ${asked.method} ${asked.url}, and the test has no answer`, {
    fix: "--record calls third parties once, with the accounts of the source, and stores their answers",
  });
}

function unlessFailed(error: unknown): void {
  if (!(error instanceof RunFailed)) throw error;
}

function inputFor({ trigger }: Given): RunInput {
  const { http, timer, event } = trigger;
  if (isJsonObject(http)) return { http };
  if (isJsonObject(timer)) return { timer: { prop: String(timer["prop"]), at: Number(timer["at"]) } };
  return { event };
}

function asJson(value: unknown): JsonValue {
  const plain: JsonValue = JSON.parse(JSON.stringify(value ?? null));
  return plain;
}

async function told(cli: CliContext, client: Client, { files, invocation, kept, standIns }: Told): Promise<void> {
  const written = Object.values(files)
    .filter((file) => existsSync(file))
    .map((file) => relative(process.cwd(), file));
  const difference = "events" in kept ? await differenceFromServer(client, { invocation, standIns }, kept.events) : undefined;
  if (cli.isJson) {
    const result = "events" in kept ? { events: kept.events } : { throws: kept.throws };
    return printJson(cli, { files: written, ...result, ...(difference === undefined ? {} : { difference }) });
  }
  printLine(cli, `Wrote ${written.join(", ")}`);
  if (difference !== undefined) printNote(cli, `On the server this run emitted other events, because its state or code was different: ${difference}`);
  if (existsSync(files.recording)) printNote(cli, "Check the recording for secrets before you commit it");
  printNote(cli, `Run it with: pd test ${relative(process.cwd(), files.test)}`);
}

/** Fetches each event, because the list shortens long ones. */
async function differenceFromServer(
  client: Client,
  { invocation, standIns }: Pick<Told, "invocation" | "standIns">,
  inTest: readonly JsonValue[],
): Promise<string | undefined> {
  const listed = await client.invocations.events(invocation.id, { limit: MOST_LISTED });
  const onServer: JsonValue[] = [];
  for (const { id } of listed.slice(0, MOST_COMPARED)) {
    const whole = await client.events.get(invocation.source_id, id).catch(unlessGone);
    // After a deleted event, nothing can be compared.
    if (whole === undefined) break;
    onServer.push(asJson(whole.event));
  }
  if (listed.length !== inTest.length && listed.length < MOST_LISTED) return `${listed.length} events on the server, ${inTest.length} in the test`;
  const { started_at_ms: from, duration_ms: lasted } = invocation;
  return differenceOf(onServer, inTest.slice(0, onServer.length), { headers: headersLeftOut(invocation), standIns, from, until: from + lasted + CLOCK_MS });
}

function unlessGone(error: unknown): undefined {
  if (error instanceof PdError && error.code.endsWith("_NOT_FOUND")) return undefined;
  throw error;
}

interface Told {
  readonly files: Files;
  readonly invocation: InvocationRecord;
  readonly kept: TriedRun;
  readonly standIns: readonly string[];
}

function standInsOf({ configurable_props: declared }: SourceRecord, { props, accounts = {} }: Given): readonly string[] {
  const ofProps = declared.filter(({ secret }) => secret === true).flatMap(({ name }) => textsAndNumbersIn(props[name]));
  return [...ofProps, ...Object.values(accounts).flatMap((fields) => Object.values(fields))];
}

const MOST_LISTED = 1000;
const MOST_COMPARED = 100;
/** Stored run times are rounded. */
const CLOCK_MS = 1000;
