import type { ChangePorts } from "./change-ports.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { isSameJson, type JsonObject, type JsonValue } from "../../domain/text/json.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import { defaultsAmong, withDefaults } from "../../domain/props/check-props.ts";
import { withDynamicProps } from "../../domain/props/declared-props.ts";
import { isOtherVersion } from "../../domain/source/source-version.ts";
import { type SettingsChange } from "../../domain/source-settings/settings.ts";
import { changedSettings } from "../../domain/source-settings/read-settings.ts";
import { rightsOf } from "../runs/source/source-units.ts";
import type { Tracked } from "../../ports/progress.ts";
import type { CarriedState } from "../../ports/stores/component-store.ts";
import type { Unit } from "../../ports/runner.ts";
import { type GivenComponent, type LoadedComponent, loadComponent, requireSource, resolveCode } from "../code/build-component.ts";
import { type DeployRequest, makeDataStores } from "./deploy.ts";
import { type HookAttempt, callHook, hasHookThrown, lacksAccount, reactivate } from "./hooks.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import type { UpdateHold } from "../runs/source/running-source.ts";
import type { Hosting } from "./hosted-sources.ts";
import { planTimers } from "../timers/plan-timers.ts";
import { refuseForeignCode } from "./debug.ts";
import { slugAfter } from "./slugs.ts";

export interface UpdateRequest extends Tracked {
  /** The caller does not own the server. */
  readonly isForeign?: boolean;
  readonly code?: DeployRequest["code"];
  /** Earlier code to return to. */
  readonly version?: SavedComponent;
  /** Throws PD_CONFLICT unless this version runs. */
  readonly ifVersion?: number;
  readonly name?: string;
  readonly keepsSlug?: boolean;
  /** Must not be in use. Follows the name by default. */
  readonly slug?: string;
  /** Other values stay. `null` removes a value. */
  readonly props?: JsonObject;
  /** As `props`. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly active?: boolean;
  /** Continues when `deactivate` of the old version throws. */
  readonly isForced?: boolean;
  readonly settings?: SettingsChange;
  /** New state and dedupe cache. In memory before `activate` runs, stored with the swap. */
  readonly carried?: CarriedState | undefined;
}

interface NextVersion {
  readonly source: DeployedComponent;
  readonly component: SavedComponent;
  readonly unit: Unit | undefined;
}

/**
 * `deactivate` of the old version, swap, `activate` of the new one, never `deploy`. After a failure, the old version
 * serves again, activated.
 */
export function update(ports: ChangePorts, state: Hosting, { live, request }: { live: LiveSource; request: UpdateRequest }): Promise<LiveSource> {
  const change = async (): Promise<LiveSource> => {
    const { slug, version } = live.source;
    refuseForeignCode(live, request.isForeign);
    if (request.ifVersion !== undefined && request.ifVersion !== version)
      throw new PdError("PD_CONFLICT", `Cannot update ${slug}: expected version ${request.ifVersion}, but version ${version} is running`, {
        fix: `Check what has changed (pd versions ${slug}), and repeat the change`,
      });
    const next = await toNext(ports, state, { live, request });
    live.prepareNext(next.component);
    // Deliveries that were held while it was inactive.
    if (request.active === true) ports.onDeliveries([live.source.id]);
    ports.feed.observe(live.source.id, { kind: "updated", at: ports.clock.now(), version: next.component.definition.version, hash: next.component.hash });
    return live;
  };
  return state.sources.inTurn(live, () => live.keepWarm(change));
}

/** Calls wait a little for the new code, because a caller has often just saved it. */
async function toNext(ports: ChangePorts, state: Hosting, { live, request }: { live: LiveSource; request: UpdateRequest }): Promise<NextVersion> {
  const hold = live.holdCalls();
  try {
    const next = await prepare(ports, state, { live, request });
    await replace(ports, state, { live, next, request, hold }).finally(() => state.sources.releaseSlug(next.source.slug));
    return next;
  } finally {
    hold.release();
  }
}

function changedVariables(before: Readonly<Record<string, string>>, changes: UpdateRequest["env"] = {}): Readonly<Record<string, string>> {
  const entries = Object.entries({ ...before, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Everything that can fail without touching the running version. */
async function prepare(ports: ChangePorts, state: Hosting, { live, request }: { live: LiveSource; request: UpdateRequest }): Promise<NextVersion> {
  const { source } = live;
  const env = changedVariables(source.env, request.env);
  const { component, unit } = await nextCode(ports, live, { request, env });
  try {
    const values = await nextValues(live, unit, { component, props: request.props ?? {} });
    const name = request.name ?? source.name;
    const active = request.active ?? source.active;
    const settings = changedSettings(source.settings, request.settings);
    const version = isOtherVersion(await live.readComponent(), component) ? live.highestVersion + 1 : source.version;
    // Last: whoever calls releases it.
    const slug = await slugAfter(state.sources, ports.store, { source, name, wanted: request.slug, keepsSlug: request.keepsSlug });
    return {
      component,
      unit,
      source: { ...source, componentId: component.id, version, name, slug, ...values, settings, env, active, updatedAt: ports.clock.now() },
    };
  } catch (error) {
    unit?.kill("the update failed");
    throw error;
  }
}

/**
 * Values that were only defaults follow new defaults. Values of props that are no longer declared are set aside, so
 * that a prop that returns (rollback) gets its value back.
 */
async function nextValues(
  { source, definition: current, questions }: LiveSource,
  unit: Unit | undefined,
  { component: { id, definition }, props }: { component: SavedComponent; props: JsonObject },
): Promise<Pick<DeployedComponent, "configured" | "dynamicProps" | "setAside">> {
  const names = Object.keys(props);
  const before = { kept: withoutNames(source.configured, names), setAside: withoutNames(source.setAside, names) };
  const isOther = ([name, value]: [string, JsonValue | undefined]): boolean => !isSameJson(value ?? undefined, source.configured[name]);
  const followsDefaults = id !== source.componentId || Object.entries(props).some(isOther);
  const known = { keptFor: withDynamicProps(current.props, source.dynamicProps), followsDefaults };
  const found = await questions.configure(unit, { name: source.name, definition, given: withoutNulls(props), ...known, ...before });
  // Must still be recognized as a default.
  const configuration = followsDefaults
    ? found
    : { ...found, dynamicProps: withDefaults(found.dynamicProps, defaultsAmong(known.keptFor, withoutNames(found.configured, names))) };
  const declared = [...definition.props, ...configuration.dynamicProps].map((prop) => prop.name);
  return { ...configuration, setAside: withoutNames({ ...before.setAside, ...before.kept }, declared) };
}

/** Calls may have run on the version. If the server ends first, the next one finds the number in the calls' records. */
export async function giveUpVersion(
  { store, log }: Pick<ChangePorts, "store" | "log">,
  { id, slug }: Pick<DeployedComponent, "id" | "slug">,
  number: number,
): Promise<void> {
  try {
    await store.giveUpVersion(id, number);
  } catch (error) {
    log.warn("the number of an undone version could not be stored", { source: slug, reason: messageOf(error) });
  }
}

async function nextCode(
  ports: ChangePorts,
  live: LiveSource,
  { request, env }: { request: UpdateRequest; env: Readonly<Record<string, string>> },
): Promise<{ component: SavedComponent; unit: Unit | undefined }> {
  const current = await live.readComponent();
  const saved = { kind: "saved" as const, component: request.version ?? current };
  const code = request.code === undefined ? saved : keepingAdditions(request.code, current);
  const settings = changedSettings(live.source.settings, request.settings);
  const isSame = code.kind === "saved" && code.component.id === current.id;
  const isSameProcess = isSame && isSameJson({ ...env }, { ...live.source.env }) && settings.allow_run === live.source.settings.allow_run;
  const isAskedAgain = isSame && hasMembers(request.props, request.env) && followsNewest(current);
  if (isSameProcess && !isAskedAgain) return { component: current, unit: undefined };
  const load = (given: GivenComponent): Promise<LoadedComponent> =>
    loadComponent(ports, given, {
      lock: current.lock,
      lockAsOf: current.code.packagesAsOf,
      before: current.bundle.packages,
      accepts: requireSource,
      progress: request.progress,
      start: (loadable) => live.startUnit({ ...loadable, ...rightsOf({ env, settings }) }, ports.signal),
    });
  if (!isAskedAgain) return load(code.kind === "saved" ? code : await resolveCode(ports, code, request.progress));
  const newest = await load(codeOf(current)).catch((error: unknown) => noNewest(ports, live, error));
  if (newest !== undefined && isOtherVersion(current, newest.component)) return newest;
  if (isSameProcess) newest?.unit.kill("the current version is the newest");
  return isSameProcess ? { component: current, unit: undefined } : { component: current, unit: (newest ?? (await load(saved))).unit };
}

/** Changing values must not fail because newer packages cannot be loaded. Throws when the server is stopping. */
function noNewest({ log, signal }: Pick<ChangePorts, "log" | "signal">, { source: { slug } }: LiveSource, error: unknown): undefined {
  if (signal.aborted) throw error;
  log.warn("a source keeps its packages: the newest ones could not be loaded", { source: slug, reason: messageOf(error) });
}

function hasMembers(...given: readonly (object | undefined)[]): boolean {
  return given.some((members = {}) => Object.keys(members).length > 0);
}

/** `@latest` means the newest version at every update, also when only values change. */
function followsNewest({ bundle }: SavedComponent): boolean {
  return bundle.packages.some(({ range }) => range === "latest");
}

function codeOf({ code, origin, lock }: SavedComponent): GivenComponent {
  return { kind: "resolved", code, origin, lock };
}

/**
 * False when the hook threw and the source is changed anyway (missing account or `isForced`), so its resources at third
 * parties still exist.
 */
async function deactivated(
  { log }: Pick<ChangePorts, "log">,
  live: LiveSource,
  { isForced, ...attempt }: HookAttempt & { isForced: boolean },
): Promise<boolean> {
  try {
    await callHook(live, "deactivate", attempt);
    return true;
  } catch (error) {
    if (!isForced && !lacksAccount(error)) throw withWayOut(error, live);
    log.warn("a source could not be deactivated and is changed anyway", { source: live.source.slug, reason: messageOf(error) });
    return !hasHookThrown(error);
  }
}

/** New code cannot repair the running version's hook. */
function withWayOut(error: unknown, { source: { slug } }: LiveSource): unknown {
  if (!(error instanceof PdError) || error.code !== "PD_HOOK_FAILED") return error;
  return new PdError(error.code, error.message, {
    cause: error,
    ...(error.details === undefined ? {} : { details: error.details }),
    fix: `Fix what the hook calls and retry. To ignore the error of the running version's hook, repeat the change with pd update ${slug} --force, or use pd rollback ${slug} --force`,
  });
}

/** Imports and package date stay unless they are given. */
function keepingAdditions(code: DeployRequest["code"], { code: { imports, packagesAsOf } }: SavedComponent): DeployRequest["code"] {
  if (imports === undefined && packagesAsOf === undefined) return code;
  const kept = { ...(imports === undefined ? {} : { imports }), ...(packagesAsOf === undefined ? {} : { packagesAsOf }) };
  if (code.kind === "saved") return { kind: "code", code: { ...code.component.code, ...kept }, lock: code.component.lock };
  if (code.kind === "code") return { ...code, code: { ...kept, ...code.code } };
  return { ...kept, ...code };
}

async function replace(
  ports: ChangePorts,
  state: Hosting,
  { live, next, request: { carried, progress, isForced = false }, hold }: { live: LiveSource; next: NextVersion; request: UpdateRequest; hold: UpdateHold },
): Promise<void> {
  const { store } = ports;
  const { source, component, unit } = next;
  const attempt = { attempted: `update ${live.source.slug}`, progress };
  const wasActive = live.source.active;
  const hasDeactivate = wasActive && live.definition.hooks.includes("deactivate");
  // A hook may wait for a call to the source. Until `activate` has run, the old version should answer.
  if (hasDeactivate || (source.active && component.definition.hooks.includes("activate"))) hold.release();
  if (hasDeactivate) await store.beginChange(source.id);
  let swap: ReturnType<LiveSource["switchTo"]> | undefined;
  let hasGivenUp = true;
  try {
    if (wasActive) hasGivenUp = await deactivated(ports, live, { ...attempt, isForced });
    // Clear activate_due so that neither this server nor the next one activates the old version again.
    if (hasDeactivate && !hasGivenUp) await store.endChange(source.id);
    swap = live.switchTo(source, component, unit);
    await makeDataStores(ports, live);
    if (carried !== undefined) await live.state.carry(carried);
    hold.release();
    if (source.active) await callHook(live, "activate", attempt);
    const timers = source.active ? planTimers(ports, live.definition.props, { source, before: await store.listTimers([source.id]) }) : [];
    // Runs of held calls are stored before the swap, which is larger.
    await hold.untilStored();
    await (carried === undefined
      ? store.swap(source, component, { timers })
      : live.state.storeCarried((now) => store.swap(source, component, { timers, carried: now })));
    state.timers.replace(source.id, timers);
    swap.retireOld();
  } catch (error) {
    if (swap === undefined) unit?.kill("the update failed");
    swap?.undo();
    if (carried !== undefined) live.state.disown("an update was undone");
    if (swap !== undefined && source.version > live.source.version) await giveUpVersion(ports, live.source, source.version);
    // When `deactivate` threw, it released nothing that `activate` would have to restore.
    const gaveUpNothing = !hasGivenUp || (swap === undefined && hasHookThrown(error));
    if (hasDeactivate) await (gaveUpNothing ? store.endChange(source.id) : reactivate(ports, live));
    throw error;
  }
}

function withoutNames(values: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

function withoutNulls(given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
