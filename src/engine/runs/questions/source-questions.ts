import type { AccountStore } from "../../../ports/stores/account-store.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EngineSettings } from "../../../ports/engine-settings.ts";
import type { Credentials } from "../../accounts/credentials.ts";
import { readableProps } from "../../../domain/props/check-props.ts";
import { withNamedAccounts } from "../../../domain/account/account.ts";
import type { ComponentDefinition } from "../../../domain/component/component.ts";
import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { PdError } from "../../../domain/errors.ts";
import { type Method, type RunResult, reasonOf } from "../../../domain/run/invocation.ts";
import { type JsonObject, parseJson } from "../../../domain/text/json.ts";
import type { AppHookProp } from "../../../domain/props/app-hook-prop.ts";
import { withDynamicProps } from "../../../domain/props/declared-props.ts";
import type { Unit } from "../../../ports/runner.ts";
import { accountFinder } from "../../accounts/accounts.ts";
import { askUnit } from "./ask-unit.ts";
import { type Configuration, type Configuring, configure } from "./configure.ts";

export interface AskedSource {
  readonly source: DeployedComponent;
  /** Includes the dynamic props. */
  readonly definition: ComponentDefinition;
  /** `declared` excludes the dynamic props. */
  readonly provenance: { readonly declared: Pick<ComponentDefinition, "props"> };
  readonly endpoint: string;
  withUnit<Value>(work: (unit: Unit) => Promise<Value>): Promise<Value>;
}

export interface QuestionPorts {
  readonly clock: Clock;
  readonly settings: Pick<EngineSettings, "deadlineMs">;
  readonly store: Pick<AccountStore, "listAccounts">;
  readonly credentials: Credentials;
}

/** Calls a deployed component for an answer. Stores nothing. */
export class SourceQuestions {
  readonly #ports: QuestionPorts;
  readonly #asked: AskedSource;
  #eventNames: { readonly source: DeployedComponent; readonly names: Promise<readonly string[]> } | undefined;

  constructor(ports: QuestionPorts, asked: AskedSource) {
    this.#ports = ports;
    this.#asked = asked;
  }

  async ask(method: Method, given: JsonObject = {}): Promise<RunResult> {
    const { source, definition } = this.#asked;
    const { configured, dynamicProps } = source;
    const own = this.#asked.provenance.declared.props;
    const named = withNamedAccounts({ own, dynamic: dynamicProps }, given, await accountFinder(this.#ports.store));
    const values = { configured: readableProps(definition.props, { ...configured, ...named }), dynamicProps };
    return this.#ask({ unit: undefined, definition }, method, values);
  }

  /** Called once per configuration. Throws PD_OPTIONS_FAILED. */
  async eventNames({ name, eventNames, namesByMethod }: AppHookProp): Promise<readonly string[] | undefined> {
    if (namesByMethod !== true) return eventNames;
    const { source } = this.#asked;
    if (this.#eventNames?.source !== source) this.#eventNames = { source, names: this.ask({ kind: "event-names", prop: name }).then(namesOf) };
    const asked = this.#eventNames;
    asked.names.catch(() => {
      if (this.#eventNames === asked) this.#eventNames = undefined;
    });
    return asked.names;
  }

  /** `unit` defaults to the serving one. Throws PD_BAD_PROPS, PD_ADDITIONAL_PROPS_FAILED. */
  async configure(unit: Unit | undefined, configuring: Omit<Configuring, "ask" | "findAccount">): Promise<Configuration> {
    const { definition } = configuring;
    const ask = (values: Configuration): Promise<RunResult> => this.#ask({ unit, definition }, { kind: "additional-props" }, values);
    return configure({ ...configuring, ask, findAccount: await accountFinder(this.#ports.store) });
  }

  /** The unit comes last, because it may retire while accounts are fetched. */
  async #ask({ unit, definition }: { unit: Unit | undefined; definition: ComponentDefinition }, method: Method, values: Configuration): Promise<RunResult> {
    const access = await this.#ports.credentials.reachOf(withDynamicProps(definition.props, values.dynamicProps), values.configured);
    const question = { method, ...values, ...access, endpoint: this.#asked.endpoint };
    return unit === undefined ? this.#asked.withUnit((current) => askUnit(this.#ports, current, question)) : askUnit(this.#ports, unit, question);
  }
}

function namesOf({ outcome, returned }: RunResult): readonly string[] {
  if (outcome.kind !== "returned") throw new PdError("PD_OPTIONS_FAILED", `Cannot list the wanted events: ${reasonOf(outcome)}`);
  const names = parseJson(returned ?? "[]");
  return Array.isArray(names) ? names.map(String) : [];
}
