import type { PropRecord } from "../../api/props.ts";
import { type JsonObject, type JsonValue, isJsonObject, isSameJson, ownMember } from "../../domain/text/json.ts";
import { readableProps } from "../../domain/props/check-props.ts";
import { type PropDeclaration, kindOfType } from "../../domain/props/kinds.ts";
import { readProps } from "../../domain/props/read-props.ts";

/** Compares values as stored: a schedule as text may equal an object. */
export class StoredValues {
  readonly #declared: readonly PropDeclaration[];
  readonly #records: readonly PropRecord[];
  readonly #usual: JsonObject;

  constructor(records: readonly PropRecord[]) {
    this.#records = records;
    this.#declared = readProps(Object.fromEntries(records.map(({ name, ...raw }) => [name, raw]))).props;
    this.#usual = readableProps(this.#declared, {});
  }

  /** Converts to the declared types, and omits null. */
  normal(given: JsonObject): JsonObject {
    const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
    const read = readableProps(this.#declared, filled);
    return Object.fromEntries(Object.entries(filled).map(([name, value]) => [name, withoutLabel(ownMember(read, name) ?? value)]));
  }

  /** Stored values that are neither wanted nor defaults. */
  dropped(kept: JsonObject, wanted: JsonObject): readonly string[] {
    const [there, usual] = [this.normal(kept), this.#usual];
    const isOwn = ({ type, static: fixed }: PropRecord): boolean => kindOfType(type).isGivenByServer === true || fixed !== undefined;
    const isDropped = (record: PropRecord): boolean => {
      const [known, given] = [ownMember(there, record.name), ownMember(wanted, record.name)];
      if (given !== undefined || known === undefined || isOwn(record)) return false;
      return !isSameJson(known, withoutLabel(ownMember(usual, record.name)));
    };
    return this.#records.filter(isDropped).map(({ name }) => name);
  }

  get secrets(): ReadonlySet<string> {
    return new Set(this.#records.flatMap(({ name, secret }) => (secret === true ? [name] : [])));
  }

  get apps(): ReadonlySet<string> {
    return new Set(this.#records.flatMap(({ name, type }) => (type === "app" ? [name] : [])));
  }
}

/** Only stored choices have labels. */
function withoutLabel(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((entry) => withoutLabel(entry) ?? null);
  if (!isJsonObject(value)) return value;
  const labelled = value["__lv"];
  if (isJsonObject(labelled)) return labelled["value"];
  if (Array.isArray(labelled)) return labelled.map((entry) => (isJsonObject(entry) ? (entry["value"] ?? null) : entry));
  return value;
}
