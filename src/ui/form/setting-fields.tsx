import { SETTING_NAMES, SOURCE_SETTINGS } from "../../domain/source-settings/settings.ts";
import type { JsonObject, JsonValue } from "../../domain/text/json.ts";
import type { Prop } from "../types.ts";
import { PropForm } from "./prop-form.tsx";

/** Settings are shown as props are. */
const FIELDS: readonly Prop[] = SETTING_NAMES.map((name) => {
  const setting = SOURCE_SETTINGS[name];
  const { label, description } = setting;
  const shown = { name, label: label.charAt(0).toUpperCase() + label.slice(1), description, optional: true } as const;
  return setting.kind === "count" ? { ...shown, type: "integer", min: setting.least, max: setting.most } : { ...shown, type: "boolean" };
});

interface SettingFieldsProps {
  readonly values: JsonObject;
  readonly onChange: (name: string, value: JsonValue) => void;
  readonly isDisabled?: boolean;
}

export function SettingFields({ values, onChange, isDisabled = false }: SettingFieldsProps) {
  return (
    <PropForm
      props={FIELDS}
      values={values}
      onChange={(name, value) => onChange(name, value ?? null)}
      ask={() => Promise.resolve({ choices: [], context: {}, reads: [] })}
      problems={{}}
      isDisabled={isDisabled}
    />
  );
}
