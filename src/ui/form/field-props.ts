import type { JsonValue } from "../../domain/json.ts";
import type { Prop } from "../types.ts";

/** What a field of any kind is given. */
export interface FieldProps {
  readonly id: string;
  readonly prop: Prop;
  readonly value: JsonValue | undefined;
  readonly set: (value: JsonValue | undefined) => void;
  readonly isDisabled: boolean;
  readonly describedBy: string;
  readonly isWrong: boolean;
  /** A secret that has a value: an empty field leaves it as it is. */
  readonly isKept: boolean;
}
