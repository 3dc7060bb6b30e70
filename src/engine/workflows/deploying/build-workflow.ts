import { buildFailed } from "../../../domain/component/build-problem.ts";
import { PdError } from "../../../domain/errors.ts";
import { isJsonObject, isSameJson, parseJson } from "../../../domain/text/json.ts";
import type { PackageResolver } from "../../../ports/package-resolver.ts";
import type { ProcessGrant } from "../../../domain/source/process-grant.ts";
import type { ComponentCode, SavedComponent } from "../../../domain/component/saved-component.ts";
import type { FileProblem } from "../../../domain/text/bounded-yaml.ts";
import { type CodeStep, type StepCode, type Workflow, everyStep } from "../../../domain/workflow/workflow.ts";
import { FILTER_CODE, FILTER_PROP, filterProblem } from "../../../domain/workflow/filter-step.ts";
import { NO_MAIL_SERVER, mailServerIn } from "../../../domain/account/mail.ts";
import type { AccountStore } from "../../../ports/stores/account-store.ts";
import type { Bundler } from "../../../ports/bundler.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { CodeOrigin } from "../../../ports/code-origin.ts";
import type { ComponentStore } from "../../../ports/stores/component-store.ts";
import type { EngineSettings } from "../../../ports/engine-settings.ts";
import type { Tracked } from "../../../ports/progress.ts";
import type { StepComponent } from "../../../ports/stores/workflow-store.ts";
import { withFetchedImports } from "../../code/fetch-imports.ts";
import { requireAction } from "../../code/build-component.ts";
import type { Workbench } from "../../workbench/workbench.ts";
import type { WorkflowPlan } from "../plan.ts";

export const WORKFLOW_FILE = "workflow.yaml";
/** Contains the workflow's id in the hosted export. */
export const STATE_FILE = ".workflow.state";

export interface WorkflowBuildPorts {
  readonly bundler: Bundler;
  readonly packages: Pick<PackageResolver, "fits">;
  readonly store: Pick<ComponentStore, "listComponents" | "getComponentByKey"> & Pick<AccountStore, "listAccounts">;
  readonly workbench: Workbench;
  readonly origin: CodeOrigin;
  readonly clock: Clock;
  readonly settings: Pick<EngineSettings, "memoryMb">;
}

/** Path → text. */
export type WorkflowFiles = Readonly<Record<string, string>>;

export interface BuildWishes extends Tracked {
  readonly files: WorkflowFiles;
  readonly env: Readonly<Record<string, string>>;
  /** Without a wall, Python steps run only where they may start programs. */
  readonly grant?: ProcessGrant | undefined;
  /** Its unchanged steps are not built again and stay pinned. */
  readonly before?: WorkflowPlan | undefined;
  /** Collects errors, so that the rest is still built. Omitted to throw the first error. */
  readonly failures?: PdError[];
  /** The files ran here before, so newer rules only warn. */
  readonly isDeployed?: boolean;
}

export interface BuiltWorkflow extends WorkflowPlan {
  readonly stepComponents: readonly StepComponent[];
  readonly warnings: readonly string[];
}

/** Throws PD_BAD_INPUT, PD_BUILD_FAILED with lines, PD_COMPONENT_NOT_FOUND, and what loading a step throws. */
export async function buildWorkflow(ports: WorkflowBuildPorts, wishes: BuildWishes): Promise<BuiltWorkflow> {
  const { files, isDeployed = false } = wishes;
  const { workflow, warnings } = await readFiles(files, isDeployed);
  const [{ checkStep }, { unknownSteps }] = await Promise.all([
    import("../../../domain/workflow/step-props.ts"),
    import("../../../domain/workflow/step-names.ts"),
  ]);
  const steps = new Map<string, SavedComponent>();
  const hasMailServer = mailServerIn(await ports.store.listAccounts()) !== undefined;
  if (workflow.settings.mailsErrors && !hasMailServer)
    warnings.push(`settings.error_notification sends no mail: ${NO_MAIL_SERVER}. To notify a program: pd subscribe <workflow> <url> --channel '$errors'`);
  const notes = [...warnings];
  const problems: FileProblem[] = [];
  const names = new Set([...everyStep(workflow.steps)].map(({ namespace }) => namespace));
  for (const step of everyStep(workflow.steps)) {
    if (step.kind !== "code") continue;
    notes.push(...unknownSteps(step, names).map(inWorkflowFile));
    const found = await orNoted(stepComponent(ports, { ...wishes, step, packagesAsOf: workflow.settings.packagesAsOf }), wishes.failures);
    if (found === undefined) continue;
    const { component, note } = found;
    if (note !== undefined) notes.push(note);
    steps.set(step.namespace, component);
    if (step.code.kind !== "registry") notes.push(...component.definition.warnings.map((warning) => `step ${step.namespace}: ${warning}`));
    const mayFail = !(step.isMailOptional ?? workflow.settings.isMailOptional);
    if (!hasMailServer && SENDS_MAIL.test(component.bundle.code))
      notes.push(
        inWorkflowFile({
          line: step.line,
          problem: `the e-mail of step ${step.namespace} ${mayFail ? "will fail the step" : "will not be sent"}: ${NO_MAIL_SERVER}`,
        }),
      );
    const checked = checkStep(step, component.definition);
    notes.push(...checked.warnings.map(inWorkflowFile));
    problems.push(...checked.problems);
  }
  // An inactive workflow may be unfinished.
  if (workflow.isInactive || isDeployed) notes.push(...problems.map(inWorkflowFile));
  else if (problems.length > 0) await orNoted(Promise.reject(refusedFile(problems)), wishes.failures);
  const code = savedWorkflow(ports, { files, workflow, warnings: notes });
  return { code, workflow, steps, warnings: notes, stepComponents: [...steps].map(([namespace, component]) => ({ namespace, component })) };
}

async function orNoted<Value>(work: Promise<Value>, failures: PdError[] | undefined): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (failures === undefined || !(error instanceof PdError) || PASSING.has(error.code)) throw error;
    failures.push(error);
    return undefined;
  }
}

/** Errors that do not concern the folder. */
const PASSING: ReadonlySet<string> = new Set(["PD_STOPPING", "PD_INTERRUPTED", "PD_TOO_BUSY"]);

async function readFiles(files: WorkflowFiles, isDeployed: boolean): Promise<{ workflow: Workflow; warnings: string[] }> {
  const text = files[WORKFLOW_FILE];
  if (text === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot read the workflow: ${WORKFLOW_FILE} is missing`, {
      fix: "Use the folder that contains it, or create one with pd init workflow",
    });
  const { readWorkflow } = await import("../../../domain/workflow/read-workflow.ts");
  const read = readWorkflow(text, { isDeployed });
  if (read.kind === "invalid") throw refusedFile(read.problems);
  return { workflow: read.workflow, warnings: read.warnings.map(inWorkflowFile) };
}

/** Matches bundled code. */
const SENDS_MAIL = /\bsend\s*\??\.\s*email\b/;

function inWorkflowFile({ line, problem }: FileProblem): string {
  return `${WORKFLOW_FILE}:${line}: ${problem}`;
}

function refusedFile(problems: readonly FileProblem[]): PdError {
  return buildFailed(
    WORKFLOW_FILE,
    problems.map(({ line, problem }) => ({ text: problem, file: WORKFLOW_FILE, line })),
  );
}

interface StepBuild extends BuildWishes {
  readonly step: CodeStep;
  readonly packagesAsOf: string | undefined;
}

async function stepComponent(ports: WorkflowBuildPorts, build: StepBuild): Promise<{ component: SavedComponent; note?: string }> {
  const { step, before, packagesAsOf } = build;
  const known = before?.steps.get(step.namespace);
  const knownStep = [...everyStep(before?.workflow.steps ?? [])].find((candidate) => candidate.kind === "code" && candidate.namespace === step.namespace);
  const isSameUse = knownStep?.kind === "code" && isSameJson({ ...knownStep.code }, { ...step.code });
  if (step.code.kind === "registry")
    return isSameUse && known !== undefined && known.code.packagesAsOf === packagesAsOf ? { component: known } : registryStep(ports, build, step.code);
  return { component: await fileStep(ports, build, { code: step.code, known }) };
}

async function registryStep(
  ports: WorkflowBuildPorts,
  build: StepBuild,
  { key, version }: { readonly key: string; readonly version?: string },
): Promise<{ component: SavedComponent; note?: string }> {
  const { step } = build;
  try {
    // Transient: it may be unpublished before the workflow is stored, and storing must not publish it again.
    const component = { ...(await ofKey(ports, build, { key, ...(version === undefined ? {} : { version }) })), isTransient: true };
    requireAction(component.definition);
    const found = component.definition.version;
    if (version === undefined || version === found) return { component };
    const note = `${WORKFLOW_FILE}:${step.line}: step ${step.namespace} uses ${key}@${version}, which is neither published here nor the newest in a registry: using ${found} from now on`;
    return { component, note };
  } catch (error) {
    throw atStep(error, step);
  }
}

/** Published components come before registries, unless only a registry has the requested version. Throws PD_COMPONENT_NOT_FOUND. */
async function ofKey(
  ports: WorkflowBuildPorts,
  { env, progress, packagesAsOf, grant = {} }: StepBuild,
  { key, version }: { key: string; version?: string },
): Promise<SavedComponent> {
  const published = (await ports.store.listComponents()).filter(({ definition, isTransient }) => !isTransient && definition.key === key);
  // Throws for an unreadable component: an older one must not replace it.
  const newest = await ports.store.getComponentByKey(key);
  const own = version === undefined ? newest : published.find(({ definition }) => definition.version === version);
  if (own !== undefined) return own;
  const elsewhere = ports.workbench.describe({
    code: { kind: "key", key, ...(packagesAsOf === undefined ? {} : { packagesAsOf }) },
    env,
    progress,
    grant: { ...grant, allowsPrograms: false },
  });
  if (newest === undefined) return elsewhere;
  const found = await elsewhere.catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_COMPONENT_NOT_FOUND") return newest;
    throw error;
  });
  return found.definition.version === version ? found : newest;
}

function atStep(error: unknown, { namespace, line }: CodeStep): unknown {
  if (!(error instanceof PdError)) return error;
  const { code, message, fix, details = {} } = error;
  return new PdError(code, `${WORKFLOW_FILE}:${line}: step ${namespace}: ${message}`, { fix, details: { ...details, step: namespace, line }, cause: error });
}

async function fileStep(
  ports: WorkflowBuildPorts,
  { step, files, env, grant = {}, progress, packagesAsOf }: StepBuild,
  { code: given, known }: { code: Exclude<StepCode, { kind: "registry" }>; known: SavedComponent | undefined },
): Promise<SavedComponent> {
  const { path } = given;
  const text = files[path] ?? builtInCode(step);
  if (text === undefined)
    throw buildFailed(WORKFLOW_FILE, [{ text: `step ${step.namespace} uses ./${path}, which is not in the folder`, file: WORKFLOW_FILE, line: step.line }]);
  const own =
    given.kind === "python"
      ? { path, text, files: pythonFiles(files, path), declares: given.declares, ...(given.version === undefined ? {} : { wantsPython: given.version }) }
      : await ownCode(ports.bundler, await withFetchedImports(ports.origin, { path, text, files: codeFiles(files, path) }, known?.code.files));
  const code = packagesAsOf === undefined ? own : { ...own, packagesAsOf };
  if (known?.hash === ports.bundler.hashOf(code) && (known.packagesFolder === undefined || (await ports.packages.fits(known.packagesFolder)))) return known;
  try {
    const lock = known === undefined || known.code.packagesAsOf !== packagesAsOf ? {} : { lock: known.lock };
    const component = await ports.workbench.describe({
      code: { kind: "code", code, ...lock },
      env,
      step: step.namespace,
      progress,
      grant: given.kind === "python" ? grant : { ...grant, allowsPrograms: false },
    });
    if (component.definition.props.some(({ kind }) => kind === "db"))
      throw new PdError("PD_NOT_A_COMPONENT", "$.service.db is for sources. In a step, use a data store (type: data_store)");
    return component;
  } catch (error) {
    throw atStep(error, step);
  }
}

/** Other files must not change the step. */
async function ownCode(bundler: Bundler, code: ComponentCode): Promise<ComponentCode> {
  const result = await bundler.bundle(code, { isStep: true });
  if (result.kind === "failed") throw buildFailed(code.path, result.problems);
  const map = parseJson(result.bundle.map);
  const sources = new Set(isJsonObject(map) && Array.isArray(map["sources"]) ? map["sources"].map(String) : []);
  const isOwn = (path: string): boolean => sources.has(path) || path.endsWith("package.json");
  return { ...code, files: Object.fromEntries(Object.entries(code.files).filter(([path]) => isOwn(path))) };
}

function codeFiles(files: WorkflowFiles, entry: string): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path !== entry && /\.([mc]?[jt]sx?|json)$/.test(path)));
}

/** Code of steps that the hosted platform does not export. Throws PD_BUILD_FAILED for unknown rules. */
function builtInCode({ namespace, props, propLines, line }: CodeStep): string | undefined {
  if (props[FILTER_PROP] === undefined) return undefined;
  const problem = filterProblem(props[FILTER_PROP]);
  if (problem === undefined) return FILTER_CODE;
  throw refusedFile([{ line: propLines[FILTER_PROP] ?? line, problem: `step ${namespace} is a filter: ${problem}` }]);
}

function pythonFiles(files: WorkflowFiles, entry: string): Record<string, string> {
  const folder = entry.slice(0, entry.lastIndexOf("/") + 1);
  const isBeside = (path: string): boolean => path !== entry && path.startsWith(folder) && (path.endsWith(".py") || path === `${folder}requirements.txt`);
  return Object.fromEntries(Object.entries(files).filter(([path]) => isBeside(path)));
}

/** No process loads it. */
function savedWorkflow(
  { clock, bundler }: Pick<WorkflowBuildPorts, "clock" | "bundler">,
  { files, workflow, warnings }: { files: WorkflowFiles; workflow: Workflow; warnings: readonly string[] },
): SavedComponent {
  const { [WORKFLOW_FILE]: text = "", [STATE_FILE]: _id, ...rest } = files;
  const code = { path: WORKFLOW_FILE, text, files: rest };
  return {
    id: `sc_${clock.randomText(10)}`,
    code,
    hash: bundler.hashOf(code),
    origin: { kind: "inline" },
    bundle: { code: "", map: "{}", packages: [], imports: [], isBuiltIn: true },
    definition: { name: workflow.name, version: "0.0.1", type: "workflow", props: [], hooks: [], warnings },
    lock: {},
    isTransient: true,
    createdAt: clock.now(),
  };
}

export function idInFiles(files: WorkflowFiles): string | undefined {
  return /^id:\s*(p_[0-9A-Za-z]+)\s*$/m.exec(files[STATE_FILE] ?? "")?.[1];
}
