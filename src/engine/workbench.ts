import { readableProps } from "../domain/check-props.ts";
import type { ActionContext, Method, OptionsRequest, RunResult } from "../domain/invocation.ts";
import type { JsonObject } from "../domain/json.ts";
import { type PropDeclaration, withDynamicProps } from "../domain/prop.ts";
import type { SavedComponent } from "../domain/saved-component.ts";
import { type LoadedAction, runAction } from "./actions.ts";
import { askUnit } from "./ask-unit.ts";
import { type CodeInput, type ResolvedCode, buildCode, definitionOf, resolveCode, savedComponentOf } from "./build-component.ts";
import { type Configuration, configure, dynamicPropsFor } from "./configure.ts";
import { answerDataStore } from "./data-stores.ts";
import { type OptionsPage, optionsOf } from "./options-page.ts";
import type { EnginePorts } from "./ports.ts";

/** What is laid on the workbench: code, or what was saved of it, with its variables. */
export interface WorkPiece {
  readonly code: CodeInput | { readonly kind: "saved"; readonly component: SavedComponent };
  readonly env: Readonly<Record<string, string>>;
}

/** A component that is loaded and not deployed. */
interface Bench extends LoadedAction {
  /** From now on it may reach the data stores that these values name. */
  readonly allow: (configured: JsonObject) => void;
  uses: number;
  lastUsedAt: number;
}

const MOST_BENCHES = 4;
const IDLE_MS = 60_000;

/**
 * Where components that are not deployed are looked at, configured and run as actions. One stays loaded for a while:
 * whoever asks for one choice will ask for the next.
 */
export class Workbench {
  readonly #ports: EnginePorts;
  readonly #benches = new Map<string, Promise<Bench>>();

  constructor(ports: EnginePorts) {
    this.#ports = ports;
  }

  /** What the code declares. Throws what building and loading throw. */
  describe(piece: WorkPiece): Promise<SavedComponent> {
    return this.#with(piece, async ({ component }) => component);
  }

  /** One page of a prop's choices. Throws PD_OPTIONS_FAILED. */
  listOptions(piece: WorkPiece, request: OptionsRequest, given: JsonObject): Promise<OptionsPage> {
    return this.#with(piece, async (bench) => {
      const { definition } = bench.component;
      const isDynamic = !definition.props.some(({ name }) => name === request.prop);
      const dynamicProps = isDynamic ? await this.#dynamicProps(bench, given) : [];
      const configured = readableProps(withDynamicProps(definition.props, dynamicProps), given);
      return optionsOf(request.prop, await this.#ask(bench, { kind: "options", ...request }, { configured, dynamicProps }));
    });
  }

  /** What `additionalProps` declares for these values. Throws PD_BAD_PROPS, PD_ADDITIONAL_PROPS_FAILED. */
  additionalProps(piece: WorkPiece, given: JsonObject): Promise<readonly PropDeclaration[]> {
    return this.#with(piece, (bench) => this.#dynamicProps(bench, given));
  }

  /** Throws PD_BAD_PROPS and its like; an action that fails is a result. */
  runAction(piece: WorkPiece, { props, ...action }: { props: JsonObject } & ActionContext): ReturnType<typeof runAction> {
    return this.#with(piece, async (bench) => {
      const { definition } = bench.component;
      const ask = (values: Configuration): Promise<RunResult> => this.#ask(bench, { kind: "additional-props" }, values);
      const configuration = await configure({ name: definition.name, definition, given: props, ask });
      for (const prop of withDynamicProps(definition.props, configuration.dynamicProps)) {
        const name = prop.kind === "data-store" ? configuration.configured[prop.name] : undefined;
        if (typeof name === "string") await this.#ports.store.createDataStore(name, this.#ports.clock.now());
      }
      bench.allow(configuration.configured);
      return runAction(this.#ports, bench, { ...configuration, ...action });
    });
  }

  /** Ends what nobody has used for a while. */
  async coolDown(): Promise<void> {
    for (const [key, starting] of this.#benches) {
      const bench = await starting.catch(() => undefined);
      if (bench === undefined || bench.uses > 0 || this.#ports.clock.now() - bench.lastUsedAt < IDLE_MS) continue;
      this.#benches.delete(key);
      void bench.unit.retire();
    }
  }

  /** Calls in flight are interrupted. */
  async close(): Promise<void> {
    for (const starting of this.#benches.values()) (await starting.catch(() => undefined))?.unit.kill("the server stopped");
  }

  async #with<Value>(piece: WorkPiece, work: (bench: Bench) => Promise<Value>): Promise<Value> {
    const bench = await this.#take(piece);
    bench.uses++;
    try {
      return await work(bench);
    } finally {
      bench.uses--;
      bench.lastUsedAt = this.#ports.clock.now();
    }
  }

  async #take({ code, env }: WorkPiece): Promise<Bench> {
    const resolved = code.kind === "saved" ? code : await resolveCode(this.#ports, code);
    const key = JSON.stringify([resolved.kind === "saved" ? resolved.component.id : resolved.code, env]);
    const known = await this.#benches.get(key)?.catch(() => undefined);
    if (known?.unit.isUsable === true) return known;
    const starting = this.#start(resolved, env);
    this.#benches.set(key, starting);
    starting.catch(() => this.#benches.delete(key));
    this.#makeRoom();
    return starting;
  }

  async #start(code: ResolvedCode | Extract<WorkPiece["code"], { kind: "saved" }>, env: WorkPiece["env"]): Promise<Bench> {
    const ports = this.#ports;
    const built = code.kind === "saved" ? code.component : await buildCode(ports, code, {});
    const { bundle, packagesFolder } = built;
    const packagesPath = packagesFolder === undefined ? {} : { packagesPath: ports.packages.locate(packagesFolder) };
    let configured: JsonObject = {};
    const unit = await ports.runner.start(
      { bundle, env, state: {}, ...packagesPath },
      { late: () => {}, ended: () => {}, ask: (request) => answerDataStore(ports, configured, request) },
    );
    const definition = code.kind === "saved" ? code.component.definition : definitionOf(unit, built);
    const component = "definition" in built ? built : savedComponentOf(ports, built, { definition, isTransient: true });
    return { component, unit, allow: (values) => (configured = values), uses: 0, lastUsedAt: ports.clock.now() };
  }

  /** The one that was not used for longest makes place for another. */
  #makeRoom(): void {
    if (this.#benches.size <= MOST_BENCHES) return;
    const [oldest] = this.#benches;
    if (oldest === undefined) return;
    this.#benches.delete(oldest[0]);
    oldest[1].then(
      ({ unit }) => unit.retire(),
      () => {},
    );
  }

  #dynamicProps(bench: Bench, given: JsonObject): Promise<readonly PropDeclaration[]> {
    const { definition } = bench.component;
    return dynamicPropsFor({ name: definition.name, definition, given, ask: (values) => this.#ask(bench, { kind: "additional-props" }, values) });
  }

  #ask({ unit }: Bench, method: Method, values: Configuration): Promise<RunResult> {
    return askUnit(this.#ports, unit, { method, ...values, endpoint: "" });
  }
}
