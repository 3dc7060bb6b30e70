import type { Right } from "../account/rights.ts";
import { PdError } from "../errors.ts";
import { type JsonValue, isRecord } from "../text/json.ts";
import type { Setting } from "./setting.ts";
import { SETTING_NAMES, SOURCE_SETTINGS, type SettingName, type SettingsChange, type SourceSettings, isSettingName } from "./settings.ts";

/** What is wrong with a value, or undefined. */
export function settingProblem(name: SettingName, value: unknown): string | undefined {
  const setting: Setting = SOURCE_SETTINGS[name];
  if (setting.kind === "right") return typeof value === "boolean" ? undefined : "expected true or false";
  const fits = value === null || (Number.isInteger(value) && Number(value) >= setting.least && Number(value) <= setting.most);
  return fits ? undefined : `expected a whole number from ${setting.least} to ${setting.most}`;
}

function isChange(values: Readonly<Record<string, unknown>>): values is SettingsChange {
  return SETTING_NAMES.every((name) => values[name] === undefined || settingProblem(name, values[name]) === undefined);
}

function areStored(values: Readonly<Record<string, unknown>>): values is SourceSettings {
  const hasDefault = Object.values(values).some((value) => value === null || value === false);
  return !hasDefault && isChange(values);
}

/** Takes the settings out of an object that has other members too. Throws PD_BAD_INPUT. */
export function settingsIn(values: object): SettingsChange {
  const found = Object.fromEntries(
    SETTING_NAMES.flatMap((name): [string, unknown][] => {
      const value: unknown = Reflect.get(values, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  if (isChange(found)) return found;
  const wrong = SETTING_NAMES.find((name) => found[name] !== undefined && settingProblem(name, found[name]) !== undefined) ?? "";
  throw new PdError("PD_BAD_INPUT", `Cannot use ${wrong} ${JSON.stringify(found[wrong])}: ${isSettingName(wrong) ? settingProblem(wrong, found[wrong]) : ""}`);
}

export function changedSettings(before: SourceSettings, change: SettingsChange = {}): SourceSettings {
  const given: Readonly<Record<string, unknown>> = { ...before, ...settingsIn(change) };
  const after = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== false));
  if (!areStored(after)) throw new TypeError(`not settings of a source: ${JSON.stringify(after)}`);
  return after;
}

/** Reads what was stored. Throws an Error for anything else. */
export function storedSettings(value: unknown): SourceSettings {
  if (isRecord(value) && areStored(value) && Object.keys(value).every(isSettingName)) return value;
  throw new Error(`expected the settings of a source, got ${JSON.stringify(value)}`);
}

/** All settings, those that are omitted with their default: `null`, or `false` for a right. */
export function completeSettings(given: SettingsChange): SettingsChange {
  const defaults = Object.fromEntries(SETTING_NAMES.map((name) => [name, SOURCE_SETTINGS[name].kind === "right" ? false : null]));
  return settingsIn({ ...defaults, ...settingsIn(given) });
}

/** The settings whose value differs, with both values. */
export function settingsDifference(before: SettingsChange, after: SettingsChange): readonly { name: SettingName; before: JsonValue; after: JsonValue }[] {
  const [then, now] = [completeSettings(before), completeSettings(after)];
  return SETTING_NAMES.flatMap((name) => (then[name] === now[name] ? [] : [{ name, before: then[name] ?? null, after: now[name] ?? null }]));
}

export function rightsIn(given: SettingsChange): readonly Right[] {
  return SETTING_NAMES.flatMap((name): Right[] => {
    const setting: Setting = SOURCE_SETTINGS[name];
    return setting.kind === "right" && given[name] === true ? [{ kind: setting.right, what: "" }] : [];
  });
}

/** Label and value of each setting that is not omitted. */
export function settingRows(given: SettingsChange): readonly (readonly [string, string])[] {
  return SETTING_NAMES.flatMap((name): (readonly [string, string])[] => {
    const value = given[name];
    if (value === undefined || value === null || value === false) return [];
    return [[SOURCE_SETTINGS[name].label, value === true ? "yes" : String(value)]];
  });
}
