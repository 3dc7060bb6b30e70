import { withAccounts } from "../domain/account.ts";
import { readableProps } from "../domain/check-props.ts";
import { PdError } from "../domain/errors.ts";
import type { ActionContext, Method, OptionsRequest, RunResult } from "../domain/invocation.ts";
import type { JsonObject } from "../domain/json.ts";
import { type PropDeclaration, dataStoresOf, withDynamicProps } from "../domain/prop.ts";
import type { SavedComponent } from "../domain/saved-component.ts";
import { accountFinder } from "./accounts.ts";
import { type LoadedAction, runAction } from "./actions.ts";
import { askUnit } from "./ask-unit.ts";
import {
  type CodeInput,
  type BuiltCode,
  type ResolvedCode,
  buildAndLoad,
  definitionOf,
  requireAction,
  resolveCode,
  savedComponentOf,
} from "./build-component.ts";
import { type Configuration, type Configuring, configure, dynamicPropsFor } from "./configure.ts";
import { answerDataStore } from "./data-stores.ts";
import { type OptionsPage, optionsOf } from "./options-page.ts";
import type { Unit } from "../ports/runner.ts";
import type { EnginePorts } from "./ports.ts";
import { Usage } from "./usage.ts";

/** What is laid on the workbench: code, or what was saved of it, with its variables. */
export interface WorkPiece {
  readonly code: CodeInput | { readonly kind: "saved"; readonly component: SavedComponent };
  readonly env: Readonly<Record<string, string>>;
}

/** A component that is loaded and not deployed, or is being loaded. */
interface Bench {
  readonly loading: Promise<LoadedAction>;
  /** Absent while it is loaded. */
  loaded?: LoadedAction;
  /** Those who wait for it count as well: what is in use stays. */
  uses: number;
  lastUsedAt: number;
}

const MOST_BENCHES = 4;
const IDLE_MS = 60_000;

/**
 * Where components that are not deployed are looked at, configured and run as actions. One stays loaded for a while:
 * whoever asks for one choice will ask for the next. Runs of the same code share its process, so they share the
 * globals of its modules and its /tmp, as on the hosted platform.
 */
export class Workbench {
  readonly #ports: EnginePorts;
  readonly #benches = new Map<string, Bench>();
  readonly #usage: Usage;
  #isClosed = false;

  constructor(ports: EnginePorts) {
    this.#ports = ports;
    this.#usage = new Usage(ports.clock);
  }

  /** What the code declares. Throws what building and loading throw. */
  describe(piece: WorkPiece): Promise<SavedComponent> {
    return this.#with(piece, async ({ component }) => component);
  }

  /** One page of a prop's choices. Throws PD_OPTIONS_FAILED. */
  listOptions(piece: WorkPiece, request: OptionsRequest, given: JsonObject): Promise<OptionsPage> {
    return this.#with(piece, async (loaded) => {
      const { definition } = loaded.component;
      const isDynamic = !definition.props.some(({ name }) => name === request.prop);
      const dynamicProps = isDynamic ? await this.#dynamicProps(loaded, { given, isPartial: true }) : [];
      const declared = withDynamicProps(definition.props, dynamicProps);
      const configured = readableProps(declared, withAccounts(declared, given, await accountFinder(this.#ports.store)));
      return optionsOf(request.prop, await this.#ask(loaded, { kind: "options", ...request }, { configured, dynamicProps }));
    });
  }

  /** What `additionalProps` declares for these values. Throws PD_BAD_PROPS, PD_ADDITIONAL_PROPS_FAILED. */
  additionalProps(piece: WorkPiece, given: JsonObject): Promise<readonly PropDeclaration[]> {
    return this.#with(piece, (loaded) => this.#dynamicProps(loaded, { given }));
  }

  /** Throws PD_NOT_A_COMPONENT, PD_BAD_PROPS and its like; an action that fails is a result. */
  runAction(piece: WorkPiece, { props, ...action }: { props: JsonObject } & ActionContext): ReturnType<typeof runAction> {
    return this.#with(piece, async (loaded) => {
      const { definition } = loaded.component;
      requireAction(definition);
      const ask = (values: Configuration): Promise<RunResult> => this.#ask(loaded, { kind: "additional-props" }, values);
      const configuration = await configure({ name: definition.name, definition, given: props, ask, findAccount: await accountFinder(this.#ports.store) });
      const stores = dataStoresOf(withDynamicProps(definition.props, configuration.dynamicProps), configuration.configured);
      for (const name of stores) await this.#ports.store.createDataStore(name, this.#ports.clock.now());
      return runAction(this.#ports, loaded, { ...configuration, ...action });
    });
  }

  /** Ends what nobody has used for a while. */
  coolDown(): void {
    const now = this.#ports.clock.now();
    for (const [key, bench] of this.#benches) if (bench.uses === 0 && now - bench.lastUsedAt >= IDLE_MS) this.#putAway(key, bench);
  }

  /** Resolves when nothing goes on. */
  untilIdle(): Promise<void> {
    return this.#usage.untilIdle();
  }

  /** Calls in flight are interrupted; what is being loaded ends as soon as it can be called. */
  close(): void {
    this.#isClosed = true;
    for (const { loaded } of this.#benches.values()) loaded?.unit.kill("the server stopped");
  }

  #with<Value>(piece: WorkPiece, work: (loaded: LoadedAction) => Promise<Value>): Promise<Value> {
    return this.#usage.during(() => this.#use(piece, work));
  }

  async #use<Value>({ code, env }: WorkPiece, work: (loaded: LoadedAction) => Promise<Value>): Promise<Value> {
    const resolved = code.kind === "saved" ? code : await resolveCode(this.#ports, code);
    const key = JSON.stringify([resolved.kind === "saved" ? resolved.component.id : resolved.code, env]);
    for (;;) {
      const bench = this.#benches.get(key) ?? this.#open(key, resolved, env);
      bench.uses++;
      try {
        const loaded = await bench.loading;
        if (loaded.unit.isUsable) return await work(loaded);
        this.#forget(key, bench);
      } finally {
        bench.uses--;
        bench.lastUsedAt = this.#ports.clock.now();
      }
    }
  }

  #open(key: string, code: ResolvedCode | Extract<WorkPiece["code"], { kind: "saved" }>, env: WorkPiece["env"]): Bench {
    const bench: Bench = { loading: this.#load(code, env), uses: 0, lastUsedAt: this.#ports.clock.now() };
    bench.loading.then(
      (loaded) => (bench.loaded = loaded),
      () => this.#forget(key, bench),
    );
    this.#benches.set(key, bench);
    this.#makeRoom();
    return bench;
  }

  async #load(code: ResolvedCode | Extract<WorkPiece["code"], { kind: "saved" }>, env: WorkPiece["env"]): Promise<LoadedAction> {
    const ports = this.#ports;
    const events = { late: () => {}, ended: () => {}, ask: answerDataStore.bind(undefined, ports) };
    const load = ({ bundle, packagesFolder }: Pick<BuiltCode, "bundle"> & { packagesFolder?: string | undefined }): Promise<Unit> => {
      const packagesPath = packagesFolder === undefined ? {} : { packagesPath: ports.packages.locate(packagesFolder) };
      return ports.runner.start({ bundle, env, state: {}, ...packagesPath }, events);
    };
    const { built, unit } =
      code.kind === "saved" ? { built: code.component, unit: await load(code.component) } : await buildAndLoad(ports, code, { lock: {}, load });
    if (this.#isClosed) {
      unit.kill("the server stopped");
      throw new PdError("PD_STOPPING", `Cannot use ${built.code.path}: the server is stopping`);
    }
    const definition = code.kind === "saved" ? code.component.definition : definitionOf(unit, built);
    const component = "definition" in built ? built : savedComponentOf(ports, built, { definition, isTransient: true });
    return { component, unit, memory: new Set() };
  }

  /** Those that were not used for longest make place for others. */
  #makeRoom(): void {
    const idle = [...this.#benches].filter(([, { uses, loaded }]) => uses === 0 && loaded !== undefined);
    const surplus = idle.toSorted(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt).slice(0, Math.max(0, this.#benches.size - MOST_BENCHES));
    for (const [key, bench] of surplus) this.#putAway(key, bench);
  }

  #putAway(key: string, bench: Bench): void {
    this.#forget(key, bench);
    void bench.loaded?.unit.retire();
  }

  #forget(key: string, bench: Bench): void {
    if (this.#benches.get(key) === bench) this.#benches.delete(key);
  }

  async #dynamicProps(loaded: LoadedAction, values: Pick<Configuring, "given" | "isPartial">): Promise<readonly PropDeclaration[]> {
    const { definition } = loaded.component;
    return dynamicPropsFor({
      name: definition.name,
      definition,
      ...values,
      findAccount: await accountFinder(this.#ports.store),
      ask: (values) => this.#ask(loaded, { kind: "additional-props" }, values),
    });
  }

  async #ask({ unit, component }: LoadedAction, method: Method, values: Configuration): Promise<RunResult> {
    const reach = await this.#ports.credentials.reachOf(withDynamicProps(component.definition.props, values.dynamicProps), values.configured);
    return askUnit(this.#ports, unit, { method, ...values, ...reach, endpoint: "" });
  }
}
