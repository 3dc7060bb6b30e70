import { useEffect, useMemo, useState } from "preact/hooks";
import { WORKFLOW_FILE, changeProps, propsIn } from "../../domain/workflow/edit-steps.ts";
import { type JsonObject, isJsonObject, isSameJson, parseJson } from "../../domain/text/json.ts";
import { useMayChange } from "../app-context.ts";
import { keepText, keptText } from "../browser/kept-text.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { isSecretProp } from "../form/secret-props.ts";
import { usePropValues } from "../form/use-prop-values.ts";
import type { Prop } from "../types.ts";
import { useDraft } from "./draft.ts";
import type { StepPartProps } from "./step-part.ts";

interface StepPropsProps extends StepPartProps {
  readonly place: string;
  readonly declared: readonly Prop[];
}

/** The props of an action. */
export function StepProps({ step, folder, references, draft, place, declared }: StepPropsProps) {
  const mayChange = useMayChange();
  const { namespace, component_key: key = "", savedComponent: saved } = step;
  const text = folder.files[WORKFLOW_FILE] ?? "";
  // From the file: the server hides secrets in its answer.
  const kept = useMemo(() => propsIn(text, namespace), [text, namespace]);
  const [typed] = useState(() => parseJson(keptText(place)?.text ?? "null"));
  const code = saved === undefined ? { key } : { component_id: saved.id };
  const form = usePropValues({ code, declared, kept, ...(isJsonObject(typed) ? { typed } : {}) });
  const { changed } = form;
  const isChanged = Object.entries(changed).some(([name, value]) => !isSameJson(value ?? null, kept[name] ?? null));
  useUnsaved(isChanged);
  useEffect(() => keepText(place, isChanged ? { before: "", text: JSON.stringify(withoutSecrets(form.props, changed)) } : undefined), [changed, isChanged]);
  const files = useMemo(
    () => (isChanged ? { ...folder.files, [WORKFLOW_FILE]: changeProps(text, namespace, changed) } : undefined),
    [isChanged, changed, text],
  );
  useDraft(draft, files);
  const save = async (): Promise<void> => {
    if (files !== undefined) await folder.change(files);
    form.reset();
  };
  return (
    <ComponentForm form={form} act={save} references={references} isDisabled={!mayChange} head={<p class="mono muted">{`${key} ${saved?.version ?? ""}`}</p>}>
      {(isSaving) => (
        <div class="row">
          <button type="submit" class="button filled" disabled={!isChanged || isSaving}>
            {isSaving ? "Saving…" : "Save props"}
          </button>
          {isChanged && (
            <button type="button" class="button" onClick={form.reset}>
              Discard
            </button>
          )}
        </div>
      )}
    </ComponentForm>
  );
}

function withoutSecrets(props: readonly Prop[], values: JsonObject): JsonObject {
  const secrets = new Set(props.filter(isSecretProp).map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.has(name)));
}
