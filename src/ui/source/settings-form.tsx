import { useState } from "preact/hooks";
import { settingsIn } from "../../domain/source-settings/read-settings.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { SettingFields } from "../form/setting-fields.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { useAttempt } from "../use-attempt.ts";
import type { TabProps } from "./tab-props.ts";

export function SettingsForm({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [changed, setChanged] = useState<JsonObject>({});
  const { isUnderWay, error, attempt } = useAttempt();
  const values: JsonObject = { ...settingsIn(source), ...changed };
  const isChanged = Object.keys(changed).length > 0;
  useUnsaved(isChanged);
  const save = (): Promise<void> =>
    attempt(async () => {
      await client.sources.update(source.id, settingsIn(changed));
      setChanged({});
      reload();
      tell("Saved: the source uses the new settings");
    });
  return (
    <form
      class="panel padded stack loose form"
      aria-label="Settings"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>Settings</h2>
      <SettingFields values={values} onChange={(name, value) => setChanged((before) => ({ ...before, [name]: value }))} isDisabled={!mayChange} />
      {error !== undefined && <Problem error={error} />}
      {mayChange && (
        <div class="row">
          <button type="submit" class="button filled" disabled={!isChanged || isUnderWay}>
            Save settings
          </button>
        </div>
      )}
    </form>
  );
}
