import { PdError } from "../../domain/errors.ts";
import { SETTING_NAMES, SOURCE_SETTINGS, type SettingName, type SettingsChange, settingFlag } from "../../domain/source-settings/settings.ts";
import { settingProblem, settingsIn } from "../../domain/source-settings/read-settings.ts";

/** Values as given, by name. */
export function givenSettings(flags: object): Readonly<Partial<Record<SettingName, string>>> {
  return Object.fromEntries(
    SETTING_NAMES.flatMap((name): [string, string][] => {
      const text: unknown = Reflect.get(
        flags,
        name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      );
      return typeof text === "string" ? [[name, text]] : [];
    }),
  );
}

/** Throws PD_BAD_INPUT. */
export function settingsOf(flags: object): SettingsChange {
  const given = givenSettings(flags);
  return settingsIn(Object.fromEntries(SETTING_NAMES.flatMap((name) => (given[name] === undefined ? [] : [[name, valueOf(name, given[name])]]))));
}

function valueOf(name: SettingName, text: string): number | boolean | null {
  const isCount = SOURCE_SETTINGS[name].kind === "count";
  const value = !isCount && (text === "true" || text === "false") ? text === "true" : isCount && text === "none" ? null : isCount ? Number(text) : text;
  const problem = text.trim() === "" ? "expected a value" : settingProblem(name, value);
  if (problem === undefined && typeof value !== "string") return value;
  throw new PdError("PD_BAD_INPUT", `Cannot read ${settingFlag(name)} ${JSON.stringify(text)}: ${problem}${isCount ? ", or none" : ""}`);
}
