import { withNamedAccounts } from "../../domain/account/account.ts";
import { readableProps } from "../../domain/props/check-props.ts";
import { PdError } from "../../domain/errors.ts";
import type { ActionContext, Method, OptionsRequest, RunResult } from "../../domain/run/invocation.ts";
import { type JsonObject, isSameJson } from "../../domain/text/json.ts";
import type { PropDeclaration } from "../../domain/props/kinds.ts";
import { dataStoresOf, withDynamicProps } from "../../domain/props/declared-props.ts";
import { type SavedComponent, isPython } from "../../domain/component/saved-component.ts";
import { accountFinder } from "../accounts/accounts.ts";
import { type ActionPorts, type LoadedAction, runAction } from "./actions.ts";
import { askUnit } from "../runs/questions/ask-unit.ts";
import { type CodeInput, type CodePorts, type GivenComponent, loadComponent, requireAction, resolveCode } from "../code/build-component.ts";
import { type Configuration, type Configuring, type GivenValues, configure, dynamicPropsFor, valuesBefore } from "../runs/questions/configure.ts";
import { answerDataStore } from "../runs/source/data-stores.ts";
import { type OptionsPage, optionsOf } from "../runs/questions/options-page.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DataStoreStore } from "../../ports/stores/data-store-store.ts";
import type { RegistryStore } from "../../ports/stores/registry-store.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import type { Tracked } from "../../ports/progress.ts";
import { type ProcessGrant, granted, isOrdinary } from "../../domain/source/process-grant.ts";
import type { Runner, Unit, UnitCode } from "../../ports/runner.ts";
import { Lanes } from "../../domain/source/lanes.ts";
import { Usage } from "../runs/source/usage.ts";

export interface WorkPiece extends Tracked {
  readonly code: CodeInput | { readonly kind: "saved"; readonly component: SavedComponent };
  readonly env: Readonly<Record<string, string>>;
  /** Set for a step of a workflow: its name when the code defines none. */
  readonly step?: string;
  /** Set when it runs as an action outside a workflow. */
  readonly isAction?: boolean;
  readonly grant?: ProcessGrant | undefined;
  /** Each process makes one call at a time. */
  readonly isOneByOne?: boolean | undefined;
  /** Each use gets its own process, one after the other. */
  readonly debug?: DebugLink | undefined;
}

export interface Places {
  enter(isUrgent: boolean): Promise<void> | undefined;
  leave(): void;
  offer(): void;
}

interface BenchLimits {
  readonly most: number;
  /** Unused components are unloaded after this time. */
  readonly idleMs: number;
  /** Omitted when processes need not be counted. */
  readonly places?: Places;
  /** Components have no network access. */
  readonly isCutOff?: true;
}

export interface WorkbenchPorts extends CodePorts, ActionPorts {
  readonly store: RegistryStore & AccountStore & DataStoreStore & ActionPorts["store"];
  readonly clock: Clock;
  readonly runner: Runner;
}

interface Bench {
  readonly loading: Promise<LoadedAction>;
  loaded?: LoadedAction;
  /** Includes callers that wait for it to load. A bench in use stays loaded. */
  uses: number;
  lastUsedAt: number;
  readonly env: WorkPiece["env"];
  readonly grant: ProcessGrant;
}

const FEW: BenchLimits = { most: 4, idleMs: 60_000 };

/**
 * A component stays loaded for a while, because a caller usually asks for the next prop's options. Runs of the same
 * code share module globals and /tmp, as on the hosted platform.
 */
export class Workbench {
  readonly #ports: WorkbenchPorts;
  readonly #benches = new Map<string, Bench>();
  readonly #debugged = new WeakMap<DebugLink, Promise<unknown>>();
  readonly #alone = new Set<Unit>();
  readonly #usage: Usage;
  readonly #limits: BenchLimits;
  readonly #loading = new Set<AbortController>();
  readonly #lanes = new Lanes();
  #isClosed = false;

  constructor(ports: WorkbenchPorts, limits: BenchLimits = FEW) {
    this.#ports = ports;
    this.#limits = limits;
    this.#usage = new Usage(ports.clock);
  }

  describe(piece: WorkPiece): Promise<SavedComponent> {
    return this.use(piece, async ({ component }) => component);
  }

  /** `secrets` are strings to mask in the page. Throws PD_OPTIONS_FAILED. */
  listOptions(piece: WorkPiece, request: OptionsRequest, values: GivenValues): Promise<OptionsPage & { readonly secrets: readonly string[] }> {
    return this.use(piece, async (loaded) => {
      const { definition } = loaded.component;
      const isDynamic = !definition.props.some(({ name }) => name === request.prop);
      const dynamicProps = isDynamic ? await this.#dynamicProps(loaded, { ...values, isPartial: true }) : [];
      const declared = withDynamicProps(definition.props, dynamicProps);
      const named = withNamedAccounts({ own: definition.props, dynamic: dynamicProps }, values.given, await accountFinder(this.#ports.store));
      const configured = readableProps(declared, { ...valuesBefore(values, declared), ...named });
      const { secrets, ...result } = await this.#ask(loaded, { kind: "options", ...request }, { configured, dynamicProps });
      return { ...optionsOf({ prop: request.prop, declared, configured }, result), secrets };
    });
  }

  /** Throws PD_BAD_PROPS, PD_ADDITIONAL_PROPS_FAILED. */
  additionalProps(piece: WorkPiece, values: GivenValues, { isPartial = false }: { isPartial?: boolean } = {}): Promise<readonly PropDeclaration[]> {
    return this.use(piece, (loaded) => this.#dynamicProps(loaded, { ...values, ...(isPartial ? { isPartial } : {}) }));
  }

  /** Throws PD_NOT_A_COMPONENT, PD_BAD_PROPS and the like. A failed action is a result. */
  runAction(piece: WorkPiece, { props, ...action }: { props: JsonObject; deadlineMs?: number } & ActionContext): ReturnType<typeof runAction> {
    return this.use({ ...piece, isAction: true }, async (loaded) => {
      const { definition } = loaded.component;
      requireAction(definition);
      const ask = (values: Configuration): Promise<RunResult> => this.#ask(loaded, { kind: "additional-props" }, values);
      const configuration = await configure({ name: definition.name, definition, given: props, ask, findAccount: await accountFinder(this.#ports.store) });
      const stores = dataStoresOf(withDynamicProps(definition.props, configuration.dynamicProps), configuration.configured);
      for (const name of stores) await this.#ports.store.createDataStore(name, this.#ports.clock.now());
      return runAction(this.#ports, loaded, { ...configuration, ...action });
    });
  }

  coolDown(): void {
    const now = this.#ports.clock.now();
    for (const [key, bench] of this.#benches) if (bench.uses === 0 && now - bench.lastUsedAt >= this.#limits.idleMs) this.#putAway(key, bench);
  }

  /** Returns false when all are in use. */
  makePlace(): boolean {
    const idle = [...this.#benches].filter(([, { uses, loaded }]) => uses === 0 && loaded !== undefined);
    const [longest] = idle.toSorted(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt);
    if (longest !== undefined) this.#putAway(...longest);
    return longest !== undefined;
  }

  untilIdle(): Promise<void> {
    return this.#usage.untilIdle();
  }

  close(): void {
    this.#isClosed = true;
    for (const loading of this.#loading) loading.abort("the server stopped");
    for (const { loaded } of this.#benches.values()) loaded?.unit.kill("the server stopped");
    for (const unit of this.#alone) unit.kill("the server stopped");
  }

  /** The component stays loaded until `work` has ended. Throws what building and loading throw. */
  use<Value>(piece: WorkPiece, work: (loaded: LoadedAction) => Promise<Value>): Promise<Value> {
    return this.#usage.during(() => (piece.debug === undefined ? this.#use(piece, work) : this.#useAlone(piece, piece.debug, work)));
  }

  /** A debugger is attached to one process at a time. */
  #useAlone<Value>(piece: WorkPiece, link: DebugLink, work: (loaded: LoadedAction) => Promise<Value>): Promise<Value> {
    const before = this.#debugged.get(link) ?? Promise.resolve();
    let unit: Unit | undefined;
    const use = before.then(async () => {
      const { code, progress } = piece;
      if (this.#isClosed) throw stopping("a component under a debugger");
      const loaded = await this.#load(code.kind === "saved" ? code : await resolveCode(this.#ports, code, progress), piece);
      unit = loaded.unit;
      this.#alone.add(unit);
      return work(loaded);
    });
    // The caller gets the result now. Only the next use waits for the process to end.
    const ended = async (): Promise<void> => {
      await unit?.retire();
      if (unit !== undefined) this.#alone.delete(unit);
    };
    this.#debugged.set(link, use.then(ended, ended));
    return use;
  }

  async #use<Value>(piece: WorkPiece, work: (loaded: LoadedAction) => Promise<Value>): Promise<Value> {
    const { code, env, step, progress } = piece;
    const resolved = code.kind === "saved" ? code : await resolveCode(this.#ports, code, progress);
    const grant = granted(piece.grant ?? {});
    const key = JSON.stringify([resolved.kind === "saved" ? resolved.component.id : resolved.code, env, step, grant]);
    if (!isSingle(resolved, piece)) return this.#useShared(key, resolved, { piece, work });
    return this.#lanes.take(key, (lane) => this.#useShared(`${lane} ${key}`, resolved, { piece, work }));
  }

  async #useShared<Value>(key: string, resolved: GivenComponent, { piece, work }: { piece: WorkPiece; work: (loaded: LoadedAction) => Promise<Value> }) {
    for (;;) {
      const bench = this.#benches.get(key) ?? this.#benchOf(resolved, piece) ?? this.#open(key, resolved, piece);
      bench.uses++;
      try {
        const loaded = await bench.loading;
        if (loaded.unit.isUsable) return await work(loaded);
        this.#forget(key, bench);
      } finally {
        bench.uses--;
        bench.lastUsedAt = this.#ports.clock.now();
        if (bench.uses === 0) this.#limits.places?.offer();
      }
    }
  }

  /** Loaded from code which has been saved since. */
  #benchOf(given: GivenComponent, piece: WorkPiece): Bench | undefined {
    if (given.kind !== "saved" || isSingle(given, piece)) return undefined;
    const { env } = piece;
    return [...this.#benches.values()].find(
      ({ loaded, env: own, grant }) => isOrdinary(grant) && loaded?.component.id === given.component.id && isSameJson({ ...own }, { ...env }),
    );
  }

  #open(key: string, code: GivenComponent, piece: WorkPiece): Bench {
    const bench: Bench = {
      loading: this.#load(code, piece),
      uses: 0,
      lastUsedAt: this.#ports.clock.now(),
      env: piece.env,
      grant: piece.grant ?? {},
    };
    bench.loading.then(
      (loaded) => (bench.loaded = loaded),
      () => this.#forget(key, bench),
    );
    this.#benches.set(key, bench);
    this.#makeRoom();
    return bench;
  }

  async #load(code: GivenComponent, { env, step, isAction, grant, progress, debug }: WorkPiece): Promise<LoadedAction> {
    const ports = this.#ports;
    const { component, unit } = await loadComponent(ports, code, {
      ...(step === undefined ? {} : { step }),
      ...(isAction === true ? { isStep: true } : {}),
      progress,
      start: ({ bundle, packagesFolder }) => {
        const packagesPath = packagesFolder === undefined ? {} : { packagesPath: ports.packages.locate(packagesFolder) };
        return this.#start({
          bundle,
          env,
          state: {},
          ...packagesPath,
          ...(debug === undefined ? {} : { debug }),
          ...granted(grant ?? {}),
          ...(this.#limits.isCutOff === undefined ? {} : { isCutOff: true }),
        });
      },
    });
    if (this.#isClosed) {
      unit.kill("the server stopped");
      throw stopping(component.code.path);
    }
    return { component, unit, memory: new Set() };
  }

  async #start(code: UnitCode): Promise<Unit> {
    const { places } = this.#limits;
    const wait = places?.enter(false);
    if (wait !== undefined) await wait;
    let leave = (): void => {
      leave = () => {};
      places?.leave();
    };
    const events = { late: () => {}, ended: () => leave(), ask: answerDataStore.bind(undefined, this.#ports) };
    const loading = new AbortController();
    this.#loading.add(loading);
    if (this.#isClosed) loading.abort("the server stopped");
    try {
      return await this.#ports.runner.start(code, events, loading.signal);
    } catch (error) {
      leave();
      throw error;
    } finally {
      this.#loading.delete(loading);
    }
  }

  #makeRoom(): void {
    const idle = [...this.#benches].filter(([, { uses, loaded }]) => uses === 0 && loaded !== undefined);
    const surplus = idle.toSorted(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt).slice(0, Math.max(0, this.#benches.size - this.#limits.most));
    for (const [key, bench] of surplus) this.#putAway(key, bench);
  }

  #putAway(key: string, bench: Bench): void {
    this.#forget(key, bench);
    void bench.loaded?.unit.retire();
  }

  #forget(key: string, bench: Bench): void {
    if (this.#benches.get(key) === bench) this.#benches.delete(key);
  }

  async #dynamicProps(loaded: LoadedAction, values: GivenValues & Pick<Configuring, "isPartial">): Promise<readonly PropDeclaration[]> {
    const { definition } = loaded.component;
    return dynamicPropsFor({
      name: definition.name,
      definition,
      ...values,
      findAccount: await accountFinder(this.#ports.store),
      ask: (values) => this.#ask(loaded, { kind: "additional-props" }, values),
    });
  }

  async #ask({ unit, component }: LoadedAction, method: Method, values: Configuration): Promise<RunResult & { readonly secrets: readonly string[] }> {
    const access = await this.#ports.credentials.reachOf(withDynamicProps(component.definition.props, values.dynamicProps), values.configured);
    const result = await askUnit(this.#ports, unit, { method, ...values, ...access, endpoint: "" });
    return { ...result, secrets: access.secrets };
  }
}

/** Programs, native code and Python use the `/tmp` of their process. */
function isSingle(given: GivenComponent, { grant = {}, isOneByOne = false }: WorkPiece): boolean {
  return grant.allowsPrograms === true || grant.allowsAddons === true || isOneByOne || isPython(given.kind === "saved" ? given.component.code : given.code);
}

function stopping(what: string): PdError {
  return new PdError("PD_STOPPING", `Cannot use ${what}: the server is stopping`);
}
