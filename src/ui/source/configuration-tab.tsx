import { useEffect, useMemo, useState } from "preact/hooks";
import { isJsonObject } from "../../domain/json.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { PropForm } from "../form/prop-form.tsx";
import { usePropValues } from "../form/use-prop-values.ts";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/toast.tsx";
import type { Source } from "../types.ts";
import type { TabProps } from "./tab-props.ts";

/** Values of the props: what is changed here is saved as an update, hooks and all. */
export function ConfigurationTab({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const kept = useMemo(() => shownValues(source), [JSON.stringify(source.configured_props)]);
  const { props, values, changed, set, reset, ask, problems, takeRefusal, error } = usePropValues({
    code: { component_id: source.component_id },
    declared: source.configurable_props,
    kept,
    sourceId: source.id,
  });
  const [refusal, setRefusal] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const isChanged = Object.keys(changed).length > 0;
  useGuard(isChanged);
  const save = async (): Promise<void> => {
    setSaving(true);
    setRefusal(undefined);
    try {
      await client.sources.update(source.id, { configured_props: changed });
      reset();
      reload();
      tell("Saved: the source runs with the new values");
    } catch (thrown) {
      if (!takeRefusal(thrown)) setRefusal(thrown);
    }
    setSaving(false);
  };
  return (
    <form
      class="panel padded stack loose"
      style={{ maxWidth: "760px" }}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <PropForm props={props} values={values} onChange={set} ask={ask} problems={problems} isDisabled={!mayChange} />
      {error !== undefined && <Problem error={error} />}
      {refusal !== undefined && <Problem error={refusal} />}
      {source.env.length > 0 && (
        <p class="muted">
          Variables: <code>{source.env.join(", ")}</code>. Their values are not shown; <code>pd update {source.name_slug} --env NAME=value</code> changes one.
        </p>
      )}
      {mayChange && (
        <div class="row">
          <button type="submit" class="button filled" disabled={!isChanged || isSaving}>
            {isSaving ? "Saving…" : "Save"}
          </button>
          {isChanged && (
            <button type="button" class="button" onClick={reset}>
              Leave it as it was
            </button>
          )}
          {isChanged && <span class="muted">Not saved yet</span>}
        </div>
      )}
    </form>
  );
}

/** A timer is shown with more than it is given by; a secret is shown as being there. */
function shownValues({ configured_props: values, timers = [] }: Source) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const timer = timers.find(({ prop }) => prop === name);
      if (timer === undefined || !isJsonObject(value)) return [name, value];
      return [name, timer.cron === undefined ? { intervalSeconds: timer.intervalSeconds ?? null } : { cron: timer.cron, timezone: timer.timezone ?? "UTC" }];
    }),
  );
}

/** Asks before what was typed is lost. */
function useGuard(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const stop = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", stop);
    return () => removeEventListener("beforeunload", stop);
  }, [isChanged]);
}
