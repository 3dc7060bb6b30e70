import type { PropRecord } from "../../api/props.ts";
import { type JsonValue, textAsJson } from "../../domain/json.ts";
import { isOpenType } from "../../domain/props/user-prop.ts";
import { kindOfType } from "../../domain/props/kinds.ts";

/** A prop whose value is asked for. */
export interface Question extends PropRecord {
  /** No answer means the value that it has. */
  readonly isKept?: boolean;
}

/** What is wrong with a typed answer, before the server is asked; `true`: nothing that can be told here. */
export function answerProblem(prop: Question, answer: string): string | true {
  if (answer.trim() === "") return prop.optional === true || prop.isKept === true || prop.default !== undefined || `${prop.name} is required`;
  return kindOfType(prop.type).asking?.problem?.(prop, answer) ?? true;
}

/** The value that a typed answer stands for; `undefined`: none. */
export function answeredValue({ type }: Question, answer: string): JsonValue | undefined {
  const { asking } = kindOfType(type);
  return asking?.read === undefined ? typedValue(type, answer) : asking.read(answer);
}

/** A text that a person has typed, as a prop of this type wants it: JSON where any value is taken. */
export function typedValue(type: string, text: string): JsonValue {
  return kindOfType(type).kind === "user" && isOpenType(type) ? textAsJson(text) : text;
}
