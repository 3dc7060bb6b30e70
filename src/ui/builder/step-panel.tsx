import { useMemo, useState } from "preact/hooks";
import {
  type Files,
  type Place,
  WORKFLOW_FILE,
  changeProps,
  changeStep,
  duplicateStep,
  moveStep,
  propsIn,
  removeStep,
} from "../../domain/workflow/edit-steps.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { usePropValues } from "../form/use-prop-values.ts";
import { problemIn } from "../parts/editor/code-problem.ts";
import { LazyEditor } from "../parts/editor/lazy-editor.tsx";
import { JsonTree } from "../parts/json/json-tree.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Described } from "../parts/text/described.tsx";
import type { RunStep, WorkflowRun, WorkflowStep } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { STEP_TONES } from "../workflow/step-texts.ts";
import type { Folder } from "./use-folder.ts";
import { type Typing, useTyping } from "./use-typing.ts";

export interface StepPanelProps {
  readonly step: WorkflowStep;
  readonly folder: Folder;
  readonly typing: Typing;
  readonly references: readonly string[];
  /** Of the last run. */
  readonly record: RunStep | undefined;
  readonly run: WorkflowRun | undefined;
  readonly onChosen: (namespace: string) => void;
  readonly onAdd: (place: Place) => void;
}

export function StepPanel({ step, folder, typing, references, record, run, onChosen, onAdd }: StepPanelProps) {
  const mayChange = useMayChange();
  const { namespace, kind } = step;
  const { files } = folder;
  const text = files[WORKFLOW_FILE] ?? "";
  const { isUnderWay, error, attempt } = useAttempt();
  const change = (next: () => Files): Promise<void> => attempt(async () => folder.change(next()));
  const move = (by: -1 | 1): Promise<void> => change(() => ({ ...files, [WORKFLOW_FILE]: moveStep(text, namespace, by) }));
  const duplicate = (): Promise<void> =>
    attempt(async () => {
      const copy = duplicateStep(files, namespace);
      await folder.change(copy.files);
      onChosen(copy.namespace);
    });
  const remove = (): Promise<void> =>
    attempt(async () => {
      await folder.change(removeStep(files, namespace));
      onChosen("");
    });
  return (
    <section class="stack" aria-label={`Step ${namespace}`}>
      <div class="row wrap">
        <h2 class="grow" style={{ flexBasis: "120px" }}>
          {namespace}
        </h2>
        {mayChange && (
          <>
            <button type="button" class="button" disabled={isUnderWay} onClick={() => onAdd({ kind: "after", namespace })}>
              Add a step after it
            </button>
            <button type="button" class="button" disabled={isUnderWay} aria-label="Move up" onClick={() => void move(-1)}>
              ↑
            </button>
            <button type="button" class="button" disabled={isUnderWay} aria-label="Move down" onClick={() => void move(1)}>
              ↓
            </button>
            <button type="button" class="button" disabled={isUnderWay} onClick={() => void duplicate()}>
              Duplicate
            </button>
            <button type="button" class="button" disabled={isUnderWay} onClick={() => void remove()}>
              Delete
            </button>
          </>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {kind === "code" ? (
        <Work key={folder.generation} step={step} folder={folder} references={references} typing={typing} />
      ) : (
        <Block key={folder.generation} step={step} folder={folder} references={references} typing={typing} onAdd={onAdd} />
      )}
      {record !== undefined && <LastResult record={record} run={run} mayRerun={mayChange} />}
    </section>
  );
}

interface LastResultProps {
  readonly record: RunStep;
  readonly run: WorkflowRun | undefined;
  readonly mayRerun: boolean;
}

function LastResult({ record: { namespace, state, inputs, exports, decision, message, outcome }, run, mayRerun }: LastResultProps) {
  const client = useClient();
  const go = useGo();
  const { isUnderWay, error, attempt } = useAttempt();
  const rerun = (of: WorkflowRun): Promise<void> =>
    attempt(async () => {
      const { id } = await client.workflows.rerun(of.id, { from: namespace });
      go(`/workflows/${of.workflow_id}/runs?run=${id}`);
    });
  return (
    <section class="stack tight" aria-label="Last result">
      <div class="row">
        <h3>Last result</h3>
        <StateMark tone={STEP_TONES[state]}>{state}</StateMark>
        <span class="grow" />
        {mayRerun && run !== undefined && (
          <button type="button" class="button" disabled={isUnderWay} onClick={() => void rerun(run)}>
            Rerun the last run from here
          </button>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {outcome !== "returned" && <p class="note bad">{message}</p>}
      {inputs !== undefined && Object.keys(inputs).length > 0 && <JsonTree value={inputs} label="last inputs" />}
      <JsonTree value={decision ?? exports} label="last exports" />
    </section>
  );
}

type PartProps = Pick<StepPanelProps, "step" | "folder" | "references" | "typing">;

function Work({ step, folder, references, typing }: PartProps) {
  const { component_path: path, component_key: key, namespace } = step;
  if (path !== undefined && folder.files[path] !== undefined) return <CodeOfStep key={path} path={path} folder={folder} typing={typing} />;
  if (key === undefined) return <p class="muted">Its file is not in the folder.</p>;
  return (
    <Described code={{ key }} back="All steps" onBack={() => history.back()}>
      {(described) => (
        <ActionProps key={`${namespace} ${key}`} step={step} folder={folder} typing={typing} references={references} declared={described.configurable_props} />
      )}
    </Described>
  );
}

function CodeOfStep({ path, folder, typing }: { path: string } & Pick<PartProps, "folder" | "typing">) {
  const mayChange = useMayChange();
  const [typed, setTyped] = useState<string>();
  const stored = folder.files[path] ?? "";
  const isChanged = typed !== undefined && typed !== stored;
  useTyping(typing, isChanged);
  const { isUnderWay, error, attempt } = useAttempt();
  // The editor owns its text once created.
  const begins = useMemo(() => stored, [path]);
  const problem = useMemo(() => problemIn(path, error), [path, error]);
  const save = (): Promise<void> =>
    attempt(async () => {
      if (typed !== undefined) await folder.change({ ...folder.files, [path]: typed });
    });
  return (
    <div class="stack tight">
      <div class="row wrap">
        <code class="grow cut">{path}</code>
        {mayChange && (
          <button type="button" class="button filled" disabled={!isChanged || isUnderWay} onClick={() => void save()}>
            {isUnderWay ? "Saving…" : "Save code"}
          </button>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      <div class="panel" style={{ height: "min(420px, 50vh)", overflow: "hidden" }}>
        <LazyEditor
          text={begins}
          path={path}
          isReadOnly={!mayChange}
          problem={problem}
          label={`Code of ${path}`}
          onChange={setTyped}
          onSave={() => void save()}
        />
      </div>
    </div>
  );
}

type Declared = Parameters<typeof usePropValues>[0]["declared"];

function ActionProps({ step, folder, typing, references, declared }: PartProps & { readonly declared: Declared }) {
  const mayChange = useMayChange();
  const { namespace, component_key: key = "" } = step;
  const text = folder.files[WORKFLOW_FILE] ?? "";
  // From the file: the server hides secrets in its answer.
  const kept = useMemo(() => propsIn(text, namespace), [text, namespace]);
  const form = usePropValues({ code: { key }, declared, kept });
  const isChanged = Object.keys(form.changed).length > 0;
  useTyping(typing, isChanged);
  const save = async (): Promise<void> => {
    await folder.change({ ...folder.files, [WORKFLOW_FILE]: changeProps(text, namespace, form.changed) });
    form.reset();
  };
  return (
    <ComponentForm form={form} act={save} references={references} isDisabled={!mayChange} head={<p class="mono muted">{key}</p>}>
      {(isSaving) => (
        <div>
          <button type="submit" class="button filled" disabled={!isChanged || isSaving}>
            {isSaving ? "Saving…" : "Save props"}
          </button>
        </div>
      )}
    </ComponentForm>
  );
}

const EXPRESSIONS: Readonly<Record<string, string>> = { if: "Condition", switch: "Value that selects the branch", for_each: "List" };

function Block({ step, folder, references, typing, onAdd }: PartProps & Pick<StepPanelProps, "onAdd">) {
  const mayChange = useMayChange();
  const { namespace, kind, value } = step;
  const label = EXPRESSIONS[kind];
  return (
    <div class="stack">
      {label !== undefined && (
        <Expression key={namespace} label={label} value={value ?? ""} step={step} folder={folder} typing={typing} references={references} />
      )}
      {mayChange &&
        insidesOf(step).map(({ title, path }) => (
          <div key={title}>
            <button type="button" class="button" onClick={() => onAdd({ kind: "inside", namespace, path })}>
              Add a step to {title}
            </button>
          </div>
        ))}
    </div>
  );
}

function Expression({ label, value, step, folder, typing, references }: PartProps & { readonly label: string; readonly value: JsonValue }) {
  const mayChange = useMayChange();
  const stored = typeof value === "string" ? value : JSON.stringify(value);
  const [text, setText] = useState(stored);
  const { isUnderWay, error, attempt } = useAttempt();
  useTyping(typing, text !== stored);
  const save = (): Promise<void> =>
    attempt(async () => {
      const file = changeStep(folder.files[WORKFLOW_FILE] ?? "", step.namespace, { [step.kind]: text });
      await folder.change({ ...folder.files, [WORKFLOW_FILE]: file });
    });
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div class="field">
        <label for="block-expression">{label}</label>
        <input
          id="block-expression"
          class="input mono"
          list="block-references"
          disabled={!mayChange}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <datalist id="block-references">
          {references.map((reference) => (
            <option key={reference} value={reference} />
          ))}
        </datalist>
      </div>
      {error !== undefined && <Problem error={error} />}
      {mayChange && (
        <div>
          <button type="submit" class="button filled" disabled={text === stored || isUnderWay}>
            Save
          </button>
        </div>
      )}
    </form>
  );
}

/** The lists of steps in a block, with their places in the file. */
function insidesOf({ kind, branches = [] }: WorkflowStep): readonly { readonly title: string; readonly path: readonly (string | number)[] }[] {
  switch (kind) {
    case "if":
      return ["then", "else"].map((name) => ({ title: name, path: [name] }));
    case "for_each":
      return [{ title: "the loop", path: ["steps"] }];
    case "parallel":
      return branches.map(({ name }) => ({ title: name, path: ["parallel", name] }));
    case "switch":
      return branches.map(({ name }, index) => ({ title: name, path: name === "default" ? ["default"] : ["cases", index, "steps"] }));
    case "code":
      return [];
  }
}
