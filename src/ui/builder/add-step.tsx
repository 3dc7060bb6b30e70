import { useState } from "preact/hooks";
import type { CodeParams, DescribedRecord } from "../../api/components.ts";
import { type Files, type Place, type StepText, WORKFLOW_FILE, addStep, freeName, namesTaken } from "../../domain/workflow/edit-steps.ts";
import type { JsonObject, JsonValue } from "../../domain/text/json.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { given, named, usePropValues } from "../form/use-prop-values.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { RegistrySearch } from "../parts/registry-search.tsx";
import { Described, DescribedHead } from "../parts/text/described.tsx";
import { useAttempt } from "../use-attempt.ts";
import { STEP_CODE, loopCode } from "./examples.ts";

interface AddStepProps {
  readonly files: Files;
  readonly place: Place;
  readonly references: readonly string[];
  readonly onAdd: (files: Files, namespace: string) => Promise<void>;
  readonly onClose: () => void;
}

const KINDS = [
  { kind: "code", title: "Code", about: "JavaScript or TypeScript of your own." },
  { kind: "action", title: "Action", about: "One of the catalogue, such as sending a message." },
  { kind: "if", title: "Branch", about: "Steps that run only when a condition is true." },
  { kind: "for_each", title: "Loop", about: "Steps that run for each item of a list." },
] as const;

export function AddStep({ files, place, references, onAdd, onClose }: AddStepProps) {
  const [isAction, setAction] = useState(false);
  const [key, setKey] = useState("");
  const { isUnderWay, error, attempt } = useAttempt();
  const text = files[WORKFLOW_FILE] ?? "";
  const add = (kind: "code" | "if" | "for_each"): Promise<void> =>
    attempt(async () => {
      const { step, code } = newStep(kind, namesTaken(files));
      await onAdd({ ...files, ...code, [WORKFLOW_FILE]: addStep(text, place, step) }, step.namespace);
    });
  const addAction = async (described: DescribedRecord, props: JsonObject): Promise<void> => {
    const namespace = freeName(key.replaceAll("-", "_"), namesTaken(files));
    const step: StepText = { namespace, uses: `${key}@${described.version}`, props };
    await onAdd({ ...files, [WORKFLOW_FILE]: addStep(text, place, step) }, namespace);
  };
  return (
    <Dialog title="Add a step" class="wide" onClose={onClose}>
      {!isAction && (
        <ul class="stack tight">
          {KINDS.map(({ kind, title, about }) => (
            <li key={kind}>
              <button type="button" class="button choice" disabled={isUnderWay} onClick={() => (kind === "action" ? setAction(true) : void add(kind))}>
                <span class="stack tight">
                  <strong>{title}</strong>
                  <span class="muted">{about}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {isAction && key === "" && <RegistrySearch type="action" placeholder="What should it do?" isInDialog onChoose={setKey} />}
      {key !== "" && (
        <Described code={{ key }} back="Choose another" onBack={() => setKey("")}>
          {(described) => <ActionForm code={{ key }} described={described} references={references} onAdd={(props) => addAction(described, props)} />}
        </Described>
      )}
      {error !== undefined && <Problem error={error} />}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface ActionFormProps {
  readonly code: CodeParams;
  readonly described: DescribedRecord;
  readonly references: readonly string[];
  readonly onAdd: (props: JsonObject) => Promise<void>;
}

function ActionForm({ code, described, references, onAdd }: ActionFormProps) {
  const [kept] = useState({});
  const form = usePropValues({ code, declared: described.configurable_props, kept });
  return (
    <ComponentForm form={form} references={references} act={() => onAdd(given(named(form.props, form.values)))} head={<DescribedHead described={described} />}>
      {(isAdding) => (
        <div>
          <button type="submit" class="button filled" disabled={isAdding}>
            {isAdding ? "Adding…" : "Add the step"}
          </button>
        </div>
      )}
    </ComponentForm>
  );
}

function newStep(kind: "code" | "if" | "for_each", taken: ReadonlySet<string>): { step: StepText; code: Files } {
  const namespace = freeName({ code: "code", if: "branch", for_each: "each" }[kind], taken);
  const inner = kind === "code" ? namespace : freeName("code", taken);
  const path = `${inner}/entry.mjs`;
  const own = { namespace: inner, uses: `./${path}` };
  const code = { [path]: kind === "for_each" ? loopCode(namespace) : STEP_CODE };
  if (kind === "code") return { step: own, code };
  const members: readonly [string, JsonValue][] =
    kind === "if"
      ? [
          ["if", "{{steps.trigger.event.body !== undefined}}"],
          ["then", [own]],
        ]
      : [
          ["for_each", "{{steps.trigger.event.body}}"],
          ["steps", [own]],
        ];
  return { step: { ...Object.fromEntries(members), namespace }, code };
}
