import { useEffect, useMemo, useState } from "preact/hooks";
import { WORKFLOW_FILE, changeProps, propsIn } from "../../domain/workflow/edit-steps.ts";
import { type JsonObject, isJsonObject, isSameJson, parseJson } from "../../domain/text/json.ts";
import { useMayChange } from "../app-context.ts";
import { keepText, keptText } from "../browser/kept-text.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { isSecretProp } from "../form/secret-props.ts";
import { usePropValues } from "../form/use-prop-values.ts";
import { OlderText } from "../parts/editor/older-text.tsx";
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
  const [typed] = useState(() => typedProps(place));
  const [isOlder, setOlder] = useState(typed !== undefined && typed.before !== storedOf(kept, typed.values));
  const code = saved === undefined ? { key } : { component_id: saved.id };
  const form = usePropValues({ code, declared, kept, ...(typed === undefined ? {} : { typed: typed.values }) });
  const { changed } = form;
  const isChanged = Object.entries(changed).some(([name, value]) => !isSameJson(value ?? null, kept[name] ?? null));
  useEffect(() => {
    const told = (values: JsonObject) => ({ before: isOlder && typed !== undefined ? typed.before : storedOf(kept, values), text: JSON.stringify(values) });
    if (isChanged) keepText(place, told(changed), told(withoutSecrets(form.props, changed)));
    else keepText(place, undefined);
    if (!isChanged) setOlder(false);
  }, [changed, isChanged]);
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
        <>
          {isOlder && <OlderText />}
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
        </>
      )}
    </ComponentForm>
  );
}

function typedProps(place: string): { readonly before: string; readonly values: JsonObject } | undefined {
  const kept = keptText(place);
  const values = parseJson(kept?.text ?? "null");
  return kept !== undefined && isJsonObject(values) ? { before: kept.before, values } : undefined;
}

/** What the file has for the props that were typed. */
function storedOf(kept: JsonObject, typed: JsonObject): string {
  return JSON.stringify(Object.keys(typed).map((name) => kept[name] ?? null));
}

/** Those that are declared. A value without a prop could be a secret. */
function withoutSecrets(props: readonly Prop[], values: JsonObject): JsonObject {
  const names = new Set(props.flatMap((prop) => (isSecretProp(prop) ? [] : [prop.name])));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
