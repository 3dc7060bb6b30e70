import { useMemo } from "preact/hooks";
import { type JsonObject, isJsonObject } from "../../domain/text/json.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { isSecretProp } from "../form/secret-props.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { named, usePropValues } from "../form/use-prop-values.ts";
import { tell } from "../parts/dialogs/toast.tsx";
import type { Prop, Source } from "../types.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { AboutForm } from "./about-form.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { VariablesForm } from "./variables-form.tsx";
import type { TabProps } from "./tab-props.ts";

export function ConfigurationTab({ source, reload }: TabProps) {
  return (
    <div class="stack loose">
      <AboutForm key={`${source.name} ${source.name_slug}`} source={source} reload={reload} />
      <PropsForm source={source} reload={reload} />
      <VariablesForm source={source} reload={reload} />
      <SettingsForm source={source} reload={reload} />
    </div>
  );
}

function PropsForm({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const kept = useMemo(() => shownValues(source), [JSON.stringify(source.configured_props)]);
  const form = usePropValues({
    code: { component_id: source.component_id },
    declared: source.configurable_props,
    kept,
    sourceId: source.id,
  });
  const { props, changed, reset } = form;
  const isChanged = Object.keys(changed).length > 0;
  useUnsaved(isChanged);
  const save = async (): Promise<void> => {
    await client.sources.update(source.id, { configured_props: named(props, changed) });
    reset();
    reload();
    tell("Saved: the source uses the new values");
  };
  return (
    <ComponentForm form={form} act={save} head={<h2>Props</h2>} keptSecrets={secretsOf(source)} isDisabled={!mayChange}>
      {(isSaving) => (
        <>
          {mayChange && (
            <div class="row">
              <button type="submit" class="button filled" disabled={!isChanged || isSaving}>
                {isSaving ? "Saving…" : "Save"}
              </button>
              {isChanged && (
                <button type="button" class="button" onClick={reset}>
                  Discard changes
                </button>
              )}
              {isChanged && <span class="muted">Unsaved changes</span>}
            </div>
          )}
        </>
      )}
    </ComponentForm>
  );
}

function secretsOf({ configured_props: values, configurable_props: props }: Source): ReadonlySet<string> {
  return new Set(props.filter((prop) => isSecretProp(prop) && values[prop.name] !== undefined).map(({ name }) => name));
}

function shownValues({ configured_props: values, configurable_props: props }: Source): JsonObject {
  const kindOf = (name: string): Prop | undefined => props.find((prop) => prop.name === name);
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const prop = kindOf(name);
      if (prop !== undefined && isSecretProp(prop)) return [];
      return [[name, prop?.type === "$.interface.timer" && isJsonObject(value) ? timerInput(value) : value]];
    }),
  );
}

function timerInput({ cron, timezone, interval_seconds: seconds, catch_up: catchUp }: JsonObject): JsonObject {
  const policy = typeof catchUp === "string" ? { catchUp } : {};
  return typeof cron === "string" ? { cron, timezone: timezone ?? "UTC", ...policy } : { intervalSeconds: seconds ?? null, ...policy };
}
