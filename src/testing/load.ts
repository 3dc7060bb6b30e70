import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { esbuildBundler } from "../code/esbuild-bundler.ts";
import { LocalComponent } from "../code/local-component.ts";
import type { Account } from "../domain/account/account.ts";
import { buildFailed } from "../domain/component/build-problem.ts";
import { PdError } from "../domain/errors.ts";
import { invocationId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/text/json.ts";
import { isJsonObject } from "../domain/text/json.ts";
import { withDynamicProps } from "../domain/props/declared-props.ts";
import type { OutsideRequest } from "../domain/run/exchange.ts";
import type { PropDeclaration } from "../domain/props/kinds.ts";
import { type Loadable, loadComponent } from "../engine/code/build-component.ts";
import { configure } from "../engine/runs/questions/configure.ts";
import type { Unit } from "../ports/runner.ts";
import { systemClock } from "../system/clock.ts";
import { Answerer, type Outside } from "./outside.ts";
import { type Place, packages, runnerFor } from "./plugs.ts";
import { jsonOf } from "./run-input.ts";
import { type UnitPorts, ENDPOINT, TestSource, timeOf } from "./test-source.ts";

export interface LoadOptions {
  /** Values of props, as a user would enter them. */
  readonly props?: Readonly<Record<string, unknown>>;
  /** Account fields by the name of the app prop, for `$auth`. */
  readonly accounts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Initial values of `this.db`. */
  readonly db?: Readonly<Record<string, unknown>>;
  /** When omitted, requests to third parties fail. */
  readonly http?: Outside;
  /** Omitted for the real time. */
  readonly now?: number | string | Date;
  readonly env?: Readonly<Record<string, string>>;
  /** `in-process` is fast and visible to a debugger. `sandbox` isolates the component as on a server. */
  readonly place?: Place;
  /** Milliseconds that a run may take. The default is 30,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/**
 * Loads a component for tests. A path is relative to the calling file, or else to the working folder. Throws
 * PD_FILE_NOT_FOUND, PD_BUILD_FAILED, PD_PACKAGE_NOT_FOUND and other package errors, PD_NOT_A_COMPONENT, PD_LOAD_FAILED,
 * PD_BAD_PROPS.
 */
export async function load(path: string | URL, options: LoadOptions = {}): Promise<TestSource> {
  const { place = "in-process", env = {}, http: outside = {}, db = {}, now, timeoutMs = TIMEOUT_MS } = options;
  // The stack has the caller only until the first await.
  const entry = placeOf(path);
  const runner = await runnerFor(place);
  const code = await readCode(entry);
  // `additionalProps` may send requests during loading.
  const first = outside === "real" ? undefined : new Answerer(outside);
  const alone: UnitPorts = { answerer: () => first, late: () => {}, ask: () => Promise.reject(new Error("a component cannot use data stores while it loads")) };
  let loadable: Loadable | undefined;
  const startWith = ({ bundle, packagesFolder }: Loadable, state: Readonly<Record<string, string>>, ports: UnitPorts): Promise<Unit> => {
    const packagesPath = packagesFolder === undefined ? {} : { packagesPath: packages.locate(packagesFolder) };
    const { answerer, late, ask: askStore } = ports;
    const events = { late, ended: () => {}, ask: askStore, fetch: async (request: OutsideRequest) => theAnswerer(answerer()).answer(request) };
    return runner.start({ bundle, env: { ...env, PD_COMPONENT: "dc_test" }, state, ...packagesPath }, events);
  };
  const ports = { bundler: esbuildBundler, packages, clock: systemClock };
  const { component, unit } = await loadComponent(
    ports,
    { kind: "resolved", code, origin: { kind: "inline" } },
    {
      start: (built) => startWith((loadable = built), {}, alone),
    },
  );
  const { definition } = component;
  const withFields = (values: JsonObject, dynamic: readonly PropDeclaration[]): JsonObject =>
    withAccountFields(withDynamicProps(definition.props, dynamic), values, options.accounts ?? {});
  try {
    const { configured, dynamicProps } = await configure({
      name: definition.name,
      definition,
      given: propsOf(definition.props, options),
      findAccount: (app, name) => accountNamed(app, name),
      ask: ({ configured: values, dynamicProps: declared }) =>
        ask(unit, { configured: withFields(values, declared), dynamicProps: declared, timeoutMs, asksHost: first !== undefined }),
    });
    return new TestSource({
      definition,
      configured: withFields(configured, dynamicProps),
      dynamicProps,
      db: objectOf(db),
      outside,
      now: now === undefined ? undefined : timeOf(now),
      timeoutMs,
      start(state, ports) {
        if (loadable === undefined) throw new Error("the component was not loaded");
        return startWith(loadable, state, ports);
      },
    });
  } finally {
    unit.kill("it was loaded to be read");
  }
}

async function readCode(path: string) {
  const component = await LocalComponent.open(path);
  try {
    const read = await component.read();
    if (read.kind === "read") return read.code;
    throw buildFailed(path, read.problems);
  } finally {
    await component.dispose();
  }
}

function placeOf(path: string | URL): string {
  if (path instanceof URL || path.startsWith("file:")) return fileURLToPath(path);
  const near = resolve(callerFolder(), path);
  return existsSync(near) ? near : resolve(path);
}

function callerFolder(): string {
  const own = import.meta.url.replace(/[^/]*$/, "");
  const frames = (new Error("where").stack ?? "").split("\n").slice(1);
  for (const frame of frames) {
    const found = /\(?((?:file:\/\/)?\/[^():]+):\d+:\d+\)?$/.exec(frame.trim())?.[1];
    if (found === undefined) continue;
    const url = found.startsWith("file:") ? found : `file://${found}`;
    if (!url.startsWith(own)) return dirname(fileURLToPath(url));
  }
  return process.cwd();
}

interface Asking {
  readonly configured: JsonObject;
  readonly dynamicProps: readonly PropDeclaration[];
  readonly timeoutMs: number;
  readonly asksHost: boolean;
}

async function ask(unit: Unit, { timeoutMs, asksHost, ...values }: Asking) {
  const id = invocationId(systemClock.now(), systemClock.randomText(8));
  const asking = asksHost ? { asksHost: true as const } : {};
  const request = {
    id,
    method: { kind: "additional-props" },
    secrets: [],
    dataStores: [],
    endpoint: ENDPOINT,
    deadlineMs: timeoutMs,
    ...values,
    ...asking,
  } as const;
  return unit.call(request, { log: () => {}, respond: () => {} });
}

/** Each app prop gets an account, so that most tests need not give one. */
function propsOf(declared: readonly PropDeclaration[], { props = {}, accounts = {} }: LoadOptions): JsonObject {
  const apps = declared.flatMap(({ kind, name }) => (kind === "app" ? [name] : []));
  for (const name of Object.keys(accounts)) {
    if (!apps.includes(name))
      throw new PdError("PD_BAD_INPUT", `Cannot give ${name} an account: not a prop of the type app`, {
        fix: apps.length === 0 ? "Leave out accounts" : `Use one of ${apps.join(", ")}`,
      });
  }
  return { ...Object.fromEntries(apps.map((name) => [name, name])), ...objectOf(props) };
}

function objectOf(values: Readonly<Record<string, unknown>>): JsonObject {
  const value = jsonOf(values);
  return isJsonObject(value) ? value : {};
}

function accountNamed(app: string, name: string): Account {
  return { id: `apn_${name.replace(/^apn_/, "")}`, name, app, credentials: {}, createdAt: 0, updatedAt: 0, revision: 1 };
}

function withAccountFields(declared: readonly PropDeclaration[], configured: JsonObject, accounts: NonNullable<LoadOptions["accounts"]>): JsonObject {
  const fields = declared.flatMap(({ kind, name }) => (kind === "app" ? [[name, { ...accounts[name] }] as const] : []));
  return { ...configured, ...Object.fromEntries(fields) };
}

function theAnswerer(answerer: Answerer | undefined): Answerer {
  if (answerer === undefined) throw new Error("this test has no handler for third parties");
  return answerer;
}
