import { type JsonObject, type JsonValue, isJsonObject } from "../text/json.ts";
import { parseGivenTimer } from "../timer/schedule.ts";
import type { CodeStep, PythonCode, Step, StepCode, Workflow, WorkflowSettings, WorkflowTrigger } from "./workflow.ts";
import { everyStep } from "./workflow.ts";
import { isDay } from "../component/package-spec.ts";
import type { FileProblem } from "../text/bounded-yaml.ts";
import { type Dependence, readChoice, readCondition, readItems } from "./condition.ts";
import { expressionProblem, textsIn } from "./expressions.ts";
import { type Value, type WrittenScalar, YamlReader } from "./yaml-reader.ts";

/** Schema of the hosted platform's export, which ours extends. */
export const WORKFLOW_SCHEMA = "workflow/2022.04";

export type WorkflowRead =
  /** `warnings` are about parts without effect. */
  | { readonly kind: "valid"; readonly workflow: Workflow; readonly warnings: readonly FileProblem[] }
  | { readonly kind: "invalid"; readonly problems: readonly FileProblem[] };

/** Defaults of the hosted platform, whose timeout is per run instead of per step. */
const DEFAULTS: WorkflowSettings = { concurrency: 10, timeout: 300, isMailOptional: false, mailsErrors: false, records: false };

/** The last two are the hosted platform's names. */
const SETTINGS = [
  "error_notification",
  "concurrency",
  "queue",
  "throttle",
  "retries",
  "timeout",
  "record",
  "email",
  "packages_as_of",
  "lambda_timeout",
  "lambda_memory",
];
/** Notes to the author, and data of the hosted editor. */
const NOTES = ["id", "note", "notes", "_props_cursor"];

const MOST_STEPS = 1000;
const MOST_DEPTH = 20;
const DAY_SECONDS = 86_400;
/** These have another meaning in `steps`. */
const RESERVED = new Set(["trigger", "__proto__", "constructor", "prototype"]);
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,99}$/;
const REGISTRY_CODE = /^(\w+(?:-\w+)*)(?:@(\d+\.\d+\.\d+[\w.+-]*))?$/;

/** All problems together. With `isDeployed`, newer rules only warn. */
export function readWorkflow(text: string, { isDeployed = false }: { readonly isDeployed?: boolean } = {}): WorkflowRead {
  const reader = new YamlReader(text);
  const workflow = reader.problems.length > 0 ? undefined : new WorkflowReader(reader, isDeployed).workflow();
  if (workflow === undefined || reader.problems.length > 0) return { kind: "invalid", problems: reader.problems.toSorted((a, b) => a.line - b.line) };
  return { kind: "valid", workflow, warnings: reader.warnings };
}

class WorkflowReader {
  readonly #reader: YamlReader;
  readonly #isDeployed: boolean;

  constructor(reader: YamlReader, isDeployed: boolean) {
    this.#reader = reader;
    this.#isDeployed = isDeployed;
  }

  workflow(): Workflow | undefined {
    const reader = this.#reader;
    const members = reader.members(reader.root, "a workflow");
    if (members === undefined) return undefined;
    this.#tellOthers(members, ["schema", "name", "inactive", "settings", "triggers", "steps", "org_id", "project_id"], "a workflow");
    this.#checkSchema(members.get("schema"));
    const name = this.#optional(members.get("name"), (value) => reader.text(value, "name"));
    const settings = this.#optional(members.get("settings"), (value) => this.#settings(value)) ?? DEFAULTS;
    const triggers = this.#optional(members.get("triggers"), (value) => this.#each(value, "triggers", (one) => this.#trigger(one))) ?? [];
    const steps = this.#optional(members.get("steps"), (value) => this.#steps(value, "steps", 1)) ?? [];
    const isInactive = this.#optional(members.get("inactive"), (value) => reader.truth(value, "inactive")) ?? false;
    if (name === undefined) reader.wrong(1, "a workflow needs a name");
    this.#checkNames(steps);
    return name === undefined ? undefined : { name, isInactive, settings, triggers, steps };
  }

  #checkSchema(value: Value | undefined): void {
    const found = this.#optional(value, (given) => this.#reader.text(given, "schema"));
    if (value !== undefined && found !== undefined && found !== WORKFLOW_SCHEMA)
      this.#reader.wrong(value.line, `schema: expected ${WORKFLOW_SCHEMA}, got ${JSON.stringify(found)}`);
  }

  #settings(value: Value): WorkflowSettings {
    const reader = this.#reader;
    const members = reader.members(value, "settings") ?? new Map<string, Value>();
    this.#tellOthers(members, SETTINGS, "settings");
    const notification = members.get("error_notification");
    const whole = (name: string, least: number, most: number): number | undefined =>
      this.#optional(members.get(name), (given) => reader.whole(given, `settings.${name}`, { least, most }));
    const packagesAsOf = this.#optional(members.get("packages_as_of"), (given) => this.#day(given, "settings.packages_as_of"));
    const throttle = this.#optional(members.get("throttle"), (given) => this.#throttle(given));
    const [queue, retries, memory] = [whole("queue", 1, 1_000_000), whole("retries", 0, 100), whole("lambda_memory", 1, 1_000_000)];
    return {
      concurrency: whole("concurrency", 1, 1000) ?? DEFAULTS.concurrency,
      timeout: whole("timeout", 1, DAY_SECONDS) ?? whole("lambda_timeout", 1, DAY_SECONDS) ?? DEFAULTS.timeout,
      ...(retries === undefined ? {} : { retries }),
      ...(memory === undefined ? {} : { memory }),
      isMailOptional: this.#optional(members.get("email"), (given) => this.#isOptional(given, "settings.email")) ?? DEFAULTS.isMailOptional,
      mailsErrors: notification !== undefined && !reader.isFalse(notification),
      records: this.#optional(members.get("record"), (given) => reader.truth(given, "settings.record")) ?? DEFAULTS.records,
      ...(queue === undefined ? {} : { queue }),
      ...(packagesAsOf === undefined ? {} : { packagesAsOf }),
      ...(throttle === undefined ? {} : { throttle }),
    };
  }

  #day(value: Value, what: string): string | undefined {
    const given = this.#reader.text(value, what);
    if (given === undefined || isDay(given)) return given;
    return this.#reader.wrong(value.line, `${what}: expected a day such as 2023-06-01, got ${JSON.stringify(given)}`);
  }

  #isOptional(value: Value, what: string): boolean | undefined {
    const given = this.#reader.text(value, what);
    if (given === undefined || given === "optional" || given === "required") return given === undefined ? undefined : given === "optional";
    return this.#reader.wrong(value.line, `${what}: expected optional or required, got ${JSON.stringify(given)}`);
  }

  #throttle(value: Value): WorkflowSettings["throttle"] {
    const members = this.#reader.members(value, "settings.throttle");
    if (members === undefined) return undefined;
    const whole = (name: string, most: number): number | undefined => {
      const given = members.get(name);
      const what = `settings.throttle.${name}`;
      return given === undefined ? this.#reader.wrong(value.line, `${what} is missing`) : this.#reader.whole(given, what, { least: 1, most });
    };
    const [runs, seconds] = [whole("runs", 1_000_000), whole("seconds", DAY_SECONDS)];
    return runs === undefined || seconds === undefined ? undefined : { runs, seconds };
  }

  #trigger(value: Value): WorkflowTrigger | undefined {
    const reader = this.#reader;
    const members = reader.members(value, "a trigger");
    if (members === undefined) return undefined;
    const id = this.#optional(members.get("id"), (given) => reader.text(given, "a trigger's id"));
    const http = members.get("http");
    const schedule = members.get("schedule");
    const from = members.get("source") ?? members.get("workflow");
    if (schedule !== undefined || id?.startsWith("ti_") === true) return this.#scheduleTrigger(id, schedule);
    if (http !== undefined || id?.startsWith("hi_") === true) {
      const custom = http === undefined ? undefined : reader.members(http, "http")?.get("custom_response");
      const customResponse = this.#optional(custom, (one) => reader.truth(one, "custom_response"));
      return { kind: "http", ...(id === undefined ? {} : { id }), ...(customResponse === undefined ? {} : { customResponse }) };
    }
    const emitter = from === undefined ? id : reader.text(from, "a trigger's source");
    const channel = this.#optional(members.get("channel"), (given) => reader.text(given, "a trigger's channel")) ?? "";
    if (emitter?.startsWith("ei_") === true) return reader.wrong(value.line, "a trigger by e-mail needs the hosted platform");
    if (emitter !== undefined) return { kind: "events", emitter, channel };
    return from === undefined ? reader.wrong(value.line, "a trigger needs an id, http, schedule, source or workflow") : undefined;
  }

  /** The hosted export contains only a schedule's id. The deployer must give the schedule. */
  #scheduleTrigger(id: string | undefined, value: Value | undefined): WorkflowTrigger | undefined {
    const own = id === undefined ? {} : { id };
    if (value === undefined) return { kind: "schedule", ...own };
    const parsed = parseGivenTimer(this.#reader.json(value, "schedule"));
    if (typeof parsed === "string") return this.#reader.wrong(value.line, `schedule: ${parsed}`);
    return { kind: "schedule", ...own, schedule: parsed.schedule };
  }

  #steps(value: Value, what: string, depth: number): readonly Step[] {
    if (depth > MOST_DEPTH) {
      this.#reader.wrong(value.line, `steps are nested deeper than ${MOST_DEPTH} levels`);
      return [];
    }
    return this.#each(value, what, (one) => this.#step(one, depth));
  }

  #step(value: Value, depth: number): Step | undefined {
    const members = this.#reader.members(value, "a step");
    if (members === undefined) return undefined;
    const { line } = value;
    if (this.#optional(members.get("disabled"), (given) => this.#reader.truth(given, "disabled")) === true) return undefined;
    const namespace = this.#optional(members.get("namespace"), (given) => this.#reader.text(given, "namespace"));
    const inner = { namespace: namespace ?? `step_${line}`, line, depth: depth + 1 };
    if (members.has("if")) return this.#ifStep(members, inner);
    if (members.has("switch")) return this.#switchStep(members, inner);
    if (members.has("parallel")) return this.#parallelStep(members, inner);
    if (members.has("for_each")) return this.#forEachStep(members, inner);
    if (namespace === undefined) return this.#reader.wrong(line, "a step needs a namespace");
    return this.#codeStep(members, { namespace, line });
  }

  #codeStep(members: ReadonlyMap<string, Value>, { namespace, line }: Pick<CodeStep, "namespace" | "line">): CodeStep | undefined {
    const reader = this.#reader;
    this.#tellOthers(members, ["namespace", "runtime", "uses", "props", "retries", "email", "disabled", ...NOTES], `step ${namespace}`);
    const runtime = this.#optional(members.get("runtime"), (given) => reader.text(given, "runtime"));
    const language = languageOf(runtime);
    if (language === undefined)
      return reader.wrong(
        members.get("runtime")?.line ?? line,
        `step ${namespace} has the runtime ${runtime}: only JavaScript, TypeScript and Python are supported`,
      );
    const uses = members.get("uses");
    if (uses === undefined) return reader.wrong(line, `step ${namespace} needs uses: a registry key, or a file such as ./step/entry.mjs`);
    const props = this.#props(members.get("props"), namespace);
    const found = this.#code(uses, namespace);
    const isPython = found?.kind === "python";
    if (found !== undefined && language.name !== "any" && isPython !== (language.name === "python"))
      return reader.wrong(uses.line, `step ${namespace} has the runtime ${runtime}, which does not match ${reader.text(uses, "uses") ?? ""}`);
    const code = isPython ? this.#pythonCode(found.path, { namespace, line, version: language.version, given: props }) : found;
    const given = isPython ? withoutDeclarations(props) : props;
    const retries = this.#optional(members.get("retries"), (given) => reader.whole(given, `retries of ${namespace}`, { least: 0, most: 100 }));
    const isMailOptional = this.#optional(members.get("email"), (one) => this.#isOptional(one, `email of ${namespace}`));
    if (code === undefined) return undefined;
    return {
      kind: "code",
      namespace,
      line,
      code,
      ...given,
      ...(retries === undefined ? {} : { retries }),
      ...(isMailOptional === undefined ? {} : { isMailOptional }),
    };
  }

  /** The props of a Python file are declared among its given props. */
  #pythonCode(path: string, { namespace, line, version, given: { props, propLines } }: PythonGiven): PythonCode | undefined {
    const declares: JsonObject = Object.fromEntries(Object.keys(props).flatMap((name) => (name === DECLARED ? [] : [[name, { type: "any", optional: true }]])));
    const listed = props[DECLARED] ?? [];
    const wrong = (): undefined =>
      this.#reader.wrong(propLines[DECLARED] ?? line, `prop ${DECLARED} of ${namespace}: expected a list of props, each with a name and a type`);
    if (!Array.isArray(listed)) return wrong();
    for (const prop of listed) {
      if (!isJsonObject(prop) || typeof prop["name"] !== "string" || typeof prop["type"] !== "string") return wrong();
      const { name, ...declared } = prop;
      declares[name] = declared;
    }
    return { kind: "python", path, declares, ...(version === undefined ? {} : { version }) };
  }

  #props(value: Value | undefined, namespace: string): Pick<CodeStep, "props" | "propLines" | "written"> {
    const reader = this.#reader;
    const isNothing = value === undefined || reader.isNothing(value);
    const members = (isNothing ? undefined : reader.members(value, `props of ${namespace}`)) ?? new Map<string, Value>();
    const props: [string, JsonValue][] = [];
    const written: WrittenScalar[] = [];
    for (const [name, given] of members) {
      const read = reader.json(given, `prop ${name} of ${namespace}`);
      if (read === undefined) continue;
      props.push([name, read]);
      written.push(...reader.writtenOtherwise(given).map((one) => ({ ...one, path: [name, ...one.path] })));
      for (const text of textsIn(read)) {
        const problem = expressionProblem(text);
        if (problem !== undefined) this.#refuse(given.line, `prop ${name} of ${namespace}: ${problem}`);
      }
    }
    return { props: Object.fromEntries(props), propLines: Object.fromEntries([...members].map(([name, { line }]) => [name, line])), written };
  }

  /** A key that is nearly one that could stand there is refused as mistyped. Other unknown keys are ignored. */
  #tellOthers(members: ReadonlyMap<string, Value>, known: readonly string[], what: string): void {
    for (const { name, line, nearest } of this.#reader.others(members, known)) {
      if (nearest === "") this.#reader.warn(line, `${what} has no ${name}: it is ignored`);
      else this.#refuse(line, `${what} has no ${name}${nearest}`);
    }
  }

  /** Later rules only warn about deployed files. */
  #refuse(line: number, problem: string): void {
    if (this.#isDeployed) this.#reader.warn(line, problem);
    else this.#reader.wrong(line, problem);
  }

  #code(value: Value, namespace: string): StepCode | undefined {
    const uses = this.#reader.text(value, `uses of ${namespace}`);
    if (uses === undefined) return undefined;
    if (uses.startsWith("./")) {
      const path = uses.slice(2);
      const isInside = path.split("/").every((part) => part !== "" && part !== "." && part !== "..") && !path.includes("\\");
      if (!isInside) return this.#reader.wrong(value.line, `uses of ${namespace} is ${uses}, which is outside the workflow's folder`);
      if (path.endsWith(".py")) return { kind: "python", path, declares: {} };
      if (!/\.[mc]?[jt]s$/.test(path))
        return this.#reader.wrong(value.line, `uses of ${namespace} is ${uses}: only JavaScript, TypeScript and Python files are supported`);
      return { kind: "file", path };
    }
    const found = REGISTRY_CODE.exec(uses);
    if (found === null)
      return this.#reader.wrong(
        value.line,
        `uses of ${namespace}: expected a key such as app-name or app-name@1.2.3, or a file such as ./step/entry.mjs, got ${JSON.stringify(uses)}`,
      );
    const [, key = "", version] = found;
    return { kind: "registry", key, ...(version === undefined ? {} : { version }) };
  }

  #ifStep(members: ReadonlyMap<string, Value>, { namespace, line, depth }: Inner): Step {
    this.#tellOthers(members, ["namespace", "if", "then", "else", "disabled", ...NOTES], "if");
    const condition = this.#dependence(members.get("if"), "if", readCondition);
    const whenTrue = this.#optional(members.get("then"), (given) => this.#steps(given, "then", depth));
    const otherwise = this.#optional(members.get("else"), (given) => this.#steps(given, "else", depth)) ?? [];
    if (whenTrue === undefined) this.#reader.wrong(line, "if needs then: a list of steps");
    return { kind: "if", namespace, line, condition, whenTrue: whenTrue ?? [], otherwise };
  }

  #switchStep(members: ReadonlyMap<string, Value>, { namespace, line, depth }: Inner): Step {
    const reader = this.#reader;
    this.#tellOthers(members, ["namespace", "switch", "cases", "default", "disabled", ...NOTES], "switch");
    const listed = this.#optional(members.get("cases"), (given) => this.#each(given, "cases", (one) => this.#case(one, depth)));
    if (listed === undefined) reader.wrong(line, "switch needs cases: a list of when and steps");
    const otherwise = this.#optional(members.get("default"), (given) => this.#steps(given, "default", depth)) ?? [];
    return { kind: "switch", namespace, line, value: this.#dependence(members.get("switch"), "switch", readChoice), cases: listed ?? [], otherwise };
  }

  #case(value: Value, depth: number): { readonly when: JsonValue; readonly steps: readonly Step[] } | undefined {
    const members = this.#reader.members(value, "a case");
    if (members === undefined) return undefined;
    this.#tellOthers(members, ["when", "steps"], "a case");
    const steps = members.get("steps");
    if (!members.has("when") || steps === undefined) return this.#reader.wrong(value.line, "a case needs when and steps");
    const when = this.#value(members.get("when"), "when");
    if (typeof when === "string" && when.includes("{{"))
      this.#refuse(members.get("when")?.line ?? value.line, `when: ${JSON.stringify(when)} is compared literally; write expressions in switch`);
    return { when, steps: this.#steps(steps, "steps", depth) };
  }

  #dependence(value: Value | undefined, what: string, read: (given: JsonValue) => Dependence): JsonValue {
    const given = this.#value(value, what);
    const found = read(given);
    if ("value" in found) return found.value;
    this.#refuse(value?.line ?? 1, found.problem);
    return given;
  }

  #parallelStep(members: ReadonlyMap<string, Value>, { namespace, line, depth }: Inner): Step {
    this.#tellOthers(members, ["namespace", "parallel", "disabled", ...NOTES], "parallel");
    const given = members.get("parallel");
    const named = given === undefined ? undefined : this.#reader.members(given, "parallel");
    const branches = [...(named ?? [])].map(([name, value]) => ({ name, steps: this.#steps(value, `branch ${name}`, depth) }));
    return { kind: "parallel", namespace, line, branches };
  }

  #forEachStep(members: ReadonlyMap<string, Value>, { namespace, line, depth }: Inner): Step {
    this.#tellOthers(members, ["namespace", "for_each", "concurrency", "steps", "disabled", ...NOTES], "for_each");
    const concurrency = this.#optional(members.get("concurrency"), (given) => this.#reader.whole(given, "concurrency", { least: 1, most: 100 })) ?? 1;
    const steps = this.#optional(members.get("steps"), (given) => this.#steps(given, "steps", depth));
    if (steps === undefined) this.#reader.wrong(line, "for_each needs steps");
    return { kind: "for_each", namespace, line, items: this.#dependence(members.get("for_each"), "for_each", readItems), concurrency, steps: steps ?? [] };
  }

  #value(value: Value | undefined, what: string): JsonValue {
    return this.#optional(value, (given) => this.#reader.json(given, what)) ?? null;
  }

  #optional<Found>(value: Value | undefined, read: (value: Value) => Found | undefined): Found | undefined {
    return value === undefined ? undefined : read(value);
  }

  #each<Found>(value: Value, what: string, read: (value: Value) => Found | undefined): readonly Found[] {
    return (this.#reader.list(value, what) ?? []).flatMap((one) => read(one) ?? []);
  }

  /** Results are found by namespace. */
  #checkNames(steps: readonly Step[]): void {
    const lines = new Map<string, number>();
    let count = 0;
    for (const { namespace, line } of everyStep(steps)) {
      const before = lines.get(namespace);
      if (before !== undefined) this.#reader.wrong(line, `namespace ${namespace} is already used at line ${before}`);
      else if (!IDENTIFIER.test(namespace) || RESERVED.has(namespace))
        this.#reader.wrong(
          line,
          `namespace ${JSON.stringify(namespace)} is not a valid name: expected letters, digits, _ and $, and none of ${[...RESERVED].join(", ")}`,
        );
      lines.set(namespace, line);
      if (++count === MOST_STEPS + 1) this.#reader.wrong(line, `a workflow may have at most ${MOST_STEPS} steps`);
    }
  }
}

interface PythonGiven extends Pick<CodeStep, "namespace" | "line"> {
  readonly version: string | undefined;
  readonly given: Pick<CodeStep, "props" | "propLines" | "written">;
}

/** Here the hosted export lists the props of a Python step. */
const DECLARED = "__configurableProps";

function withoutDeclarations({ props, propLines, written }: PythonGiven["given"]): PythonGiven["given"] {
  const { [DECLARED]: _props, ...rest } = props;
  const { [DECLARED]: _line, ...lines } = propLines;
  return { props: rest, propLines: lines, written: written.filter(({ path }) => path[0] !== DECLARED) };
}

/** Undefined for an unsupported runtime. With `any`, the file decides. */
function languageOf(runtime: string | undefined): { readonly name: "node" | "python" | "any"; readonly version?: string } | undefined {
  if (runtime === undefined) return { name: "any" };
  if (runtime.startsWith("nodejs")) return { name: "node" };
  const version = /^python(\d+(?:\.\d+)?)?$/.exec(runtime);
  if (version === null) return undefined;
  return { name: "python", ...(version[1] === undefined ? {} : { version: version[1] }) };
}

interface Inner {
  readonly namespace: string;
  readonly line: number;
  /** Of the steps inside. */
  readonly depth: number;
}
