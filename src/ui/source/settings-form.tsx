import { useState } from "preact/hooks";
import { settingsIn } from "../../domain/source-settings/read-settings.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { SettingFields } from "../form/setting-fields.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import type { TabProps } from "./tab-props.ts";

export function SettingsForm({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [changed, setChanged] = useState<JsonObject>({});
  const [error, setError] = useState<unknown>();
  const values: JsonObject = { ...settingsIn(source), ...changed };
  const isChanged = Object.keys(changed).length > 0;
  useUnsaved(isChanged);
  const save = async (): Promise<void> => {
    try {
      await client.sources.update(source.id, settingsIn(changed));
      setChanged({});
      setError(undefined);
      reload();
      tell("Saved: the source uses the new settings");
    } catch (thrown) {
      setError(thrown);
    }
  };
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
          <button type="submit" class="button filled" disabled={!isChanged}>
            Save settings
          </button>
        </div>
      )}
    </form>
  );
}
