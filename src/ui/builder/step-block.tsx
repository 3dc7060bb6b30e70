import { useMemo } from "preact/hooks";
import { type Files, WORKFLOW_FILE, changeStep } from "../../domain/workflow/edit-steps.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import { useMayChange } from "../app-context.ts";
import { Problem } from "../parts/problem.tsx";
import { InsertReference } from "../form/insert-reference.tsx";
import type { WorkflowStep } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { useTypedText } from "../use-typed-text.ts";
import { useDraft } from "./draft.ts";
import { OlderText } from "../parts/editor/older-text.tsx";
import type { Adding, StepPartProps } from "./step-part.ts";

const EXPRESSIONS: Readonly<Record<string, string>> = { if: "Condition", switch: "Value that selects the branch", for_each: "List" };

type BlockProps = StepPartProps & { readonly place: string };

/** A branch, a loop, or parallel steps. */
export function StepBlock({ onAdd, ...props }: BlockProps & Adding) {
  const mayChange = useMayChange();
  const { step } = props;
  const { namespace, kind, value } = step;
  const label = EXPRESSIONS[kind];
  return (
    <div class="stack">
      {label !== undefined && <Expression key={namespace} {...props} label={label} value={value ?? ""} />}
      {kind === "for_each" && (
        <p class="muted">
          Steps inside read <code>{`steps.${namespace}.item`}</code> and <code>{`steps.${namespace}.index`}</code>.
        </p>
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

function Expression({ label, value, step, folder, references, draft, place }: BlockProps & { readonly label: string; readonly value: JsonValue }) {
  const mayChange = useMayChange();
  const typed = useTypedText(place, typeof value === "string" ? value : JSON.stringify(value));
  const { text, isChanged } = typed;
  const { isUnderWay, error, attempt } = useAttempt();
  const files = useMemo((): Files | undefined => {
    if (!isChanged) return undefined;
    return { ...folder.files, [WORKFLOW_FILE]: changeStep(folder.files[WORKFLOW_FILE] ?? "", step.namespace, { [step.kind]: text }) };
  }, [isChanged, text, folder.files]);
  useDraft(draft, files);
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        if (files !== undefined) void attempt(() => folder.change(files));
      }}
    >
      <div class="field">
        <label for="block-expression">{label}</label>
        <input id="block-expression" class="input mono" disabled={!mayChange} value={text} onInput={({ currentTarget }) => typed.type(currentTarget.value)} />
        {mayChange && <InsertReference name={label} references={references} onInsert={typed.type} />}
      </div>
      {typed.isOlder && <OlderText />}
      {error !== undefined && <Problem error={error} />}
      {mayChange && (
        <div class="row">
          <button type="submit" class="button filled" disabled={!isChanged || isUnderWay}>
            Save
          </button>
          {isChanged && (
            <button type="button" class="button" onClick={typed.discard}>
              Discard
            </button>
          )}
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
