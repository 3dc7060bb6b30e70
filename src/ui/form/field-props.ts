import type { JsonValue } from "../../domain/text/json.ts";
import type { Prop } from "../types.ts";

export interface FieldProps {
  readonly id: string;
  readonly prop: Prop;
  readonly value: JsonValue | undefined;
  readonly set: (value: JsonValue | undefined) => void;
  readonly isDisabled: boolean;
  readonly describedBy: string;
  readonly isWrong: boolean;
  /** The server's secret stays while the field is empty. */
  readonly isKept: boolean;
}
