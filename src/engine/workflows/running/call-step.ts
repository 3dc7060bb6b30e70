import { PdError, isOfDatabase } from "../../../domain/errors.ts";
import type { WorkflowId } from "../../../domain/ids.ts";
import type { ActionContext, Method, RunResult } from "../../../domain/run/invocation.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../../../domain/text/json.ts";
import { dataStoresOf, withDynamicProps } from "../../../domain/props/declared-props.ts";
import type { ProcessGrant } from "../../../domain/source/process-grant.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import { accountIdOf } from "../../../domain/props/app-prop.ts";
import { storeIdOf } from "../../../domain/props/data-store-prop.ts";
import { withComputedDefaults } from "../../../domain/workflow/step-props.ts";
import type { CodeStep } from "../../../domain/workflow/workflow.ts";
import type { AccountStore } from "../../../ports/stores/account-store.ts";
import type { DebugLink } from "../../../ports/debugger.ts";
import type { DataStoreStore } from "../../../ports/stores/data-store-store.ts";
import { askUnit } from "../../runs/questions/ask-unit.ts";
import type { Configuration } from "../../runs/questions/configure.ts";
import { type ActionPorts, type CallTerms, type LoadedAction, callAction } from "../../workbench/actions.ts";
import type { Workbench } from "../../workbench/workbench.ts";
import { withMailSent } from "../../workbench/send-mail.ts";
import { type Ask, type ExpressionContext, callValues, evaluated, noteLines, shownInputs } from "./step-values.ts";
import { EXPRESSIONS_COMPONENT } from "./trigger-unit.ts";

export interface StepPorts extends ActionPorts {
  readonly store: AccountStore & DataStoreStore & ActionPorts["store"];
  readonly bench: Workbench;
}

export interface StepSurroundings {
  readonly workflowId: WorkflowId;
  readonly env: Readonly<Record<string, string>>;
  /** Id in the file → account here. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Id in the file → name here. */
  readonly stores: Readonly<Record<string, string>>;
  readonly grant: ProcessGrant;
  /** An unsent e-mail does not fail the step. */
  readonly isMailOptional: boolean;
  /** Applies to each call, including expressions. */
  readonly deadlineMs: number;
  readonly debug?: DebugLink | undefined;
}

export interface StepCalled {
  readonly result: RunResult;
  /** Prop values as shown to users. */
  readonly inputs: JsonObject;
  /** A retry would fail in the same way. */
  readonly isHopeless?: true;
}

/** The hosted platform's variable with the id of the workflow. */
const WORKFLOW_ID = "PIPEDREAM_WORKFLOW_ID";

/** These errors do not end the step, nor do those of the database. */
const PASSING: ReadonlySet<string> = new Set(["PD_STOPPING", "PD_INTERRUPTED", "PD_TOO_BUSY", "PD_DATABASE_DAMAGED"]);

/** The workflow sets the deadline. */
export type StepTerms = Omit<CallTerms, "deadlineMs">;

interface StepCalling extends ActionContext {
  readonly step: CodeStep;
  readonly component: SavedComponent;
  readonly terms: StepTerms;
}

/** An error that prevents the call is the step's failure. Throws errors in PASSING. */
export async function callStep(ports: StepPorts, surroundings: StepSurroundings, calling: StepCalling): Promise<StepCalled> {
  const { deadlineMs, debug } = surroundings;
  const { step, component, terms, steps, context, thirdParties } = calling;
  const isPython = component.bundle.python !== undefined;
  // Without a wall, Python needs this right to run at all, and Node code must not start programs.
  const allowsPrograms = surroundings.grant.allowsPrograms === true && (isPython || ports.settings.enclosesPrograms);
  try {
    const env = variablesOf(surroundings);
    return await ports.bench.use(
      { code: { kind: "saved", component }, env, debug, grant: { ...surroundings.grant, allowsPrograms }, isOneByOne: ports.settings.allowsAddons },
      async (loaded) => {
        // Expressions are always JavaScript.
        const ask: Ask = isPython ? (method, values) => askBlank(ports, surroundings, { method, values }) : askOf(ports, loaded, deadlineMs);
        const props = withComputedDefaults(component.definition.props, withCheckpoints(component, step, surroundings));
        const given = withOwnIds((await evaluated(props, { steps, context }, async () => ask)) ?? {}, surroundings);
        const { configured, dynamicProps, notes } = await callValues({ store: ports.store, loaded, ask, step }, given);
        const declared = withDynamicProps(component.definition.props, dynamicProps);
        for (const name of dataStoresOf(declared, configured)) await ports.store.createDataStore(name, ports.clock.now());
        const watched = thirdParties === undefined ? {} : { thirdParties };
        const called = await callAction(ports, loaded, { configured, dynamicProps, steps, context, terms: { ...terms, deadlineMs }, ...watched });
        const result = await withMailSent(ports, called, { isOptional: step.isMailOptional ?? surroundings.isMailOptional });
        return { result: { ...result, logs: [...noteLines(notes, ports.clock.now()), ...result.logs] }, inputs: shownInputs(configured, declared) };
      },
    );
  } catch (error) {
    if (!(error instanceof PdError) || PASSING.has(error.code) || isOfDatabase(error)) throw error;
    return { result: refused(error), inputs: {}, ...(error.code === "PD_BAD_PROPS" ? { isHopeless: true } : {}) };
  }
}

/** Evaluates what branches and loops depend on. Throws PD_BAD_PROPS. */
export async function decide(ports: StepPorts, surroundings: StepSurroundings, { value, ...context }: ExpressionContext & { readonly value: JsonValue }) {
  const inProcess = (): Promise<Ask> => Promise.resolve((method, values) => askBlank(ports, surroundings, { method, values }));
  return evaluated(value, context, inProcess);
}

/** Workflows must not share a process, in which one could read the memory of another. */
function variablesOf({ env, workflowId }: StepSurroundings): StepSurroundings["env"] {
  return { ...env, [WORKFLOW_ID]: workflowId };
}

function askBlank(ports: StepPorts, surroundings: StepSurroundings, { method, values }: { method: Method; values: Configuration }): Promise<RunResult> {
  return ports.bench.use({ code: { kind: "saved", component: EXPRESSIONS_COMPONENT }, env: variablesOf(surroundings) }, (loaded) =>
    askOf(ports, loaded, surroundings.deadlineMs)(method, values),
  );
}

function askOf(ports: StepPorts, { unit, component }: LoadedAction, deadlineMs: number): Ask {
  return async (method, values) => {
    const access = await ports.credentials.reachOf(withDynamicProps(component.definition.props, values.dynamicProps), values.configured);
    return askUnit({ clock: ports.clock, settings: { deadlineMs } }, unit, { method, ...values, ...access, endpoint: "" });
  };
}

/** A step from before `defineComponent` keeps `$checkpoint` in a data store of its workflow. */
function withCheckpoints({ definition }: SavedComponent, { namespace, props }: CodeStep, { workflowId }: StepSurroundings): JsonObject {
  const isLegacy = definition.props.some(({ name }) => name === "$checkpoints");
  return isLegacy ? { ...props, $checkpoints: `checkpoints-${workflowId}`, $step: namespace } : props;
}

/** Replaces ids of accounts and data stores from elsewhere. */
function withOwnIds(given: JsonValue, { accounts, stores }: StepSurroundings): JsonObject {
  if (!isJsonObject(given)) return {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const [account, store] = [accounts[accountIdOf(value) ?? ""], stores[storeIdOf(value) ?? ""]];
      return [name, account === undefined ? (store ?? value) : { authProvisionId: account }];
    }),
  );
}

function refused({ code, message }: PdError): RunResult {
  return { outcome: { kind: "threw", error: { name: code, message, stack: `${code}: ${message}` } }, emits: [], stateChanges: {}, logs: [] };
}
