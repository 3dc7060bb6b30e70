import type { PropRecord } from "../../api/props.ts";
import { type JsonValue, textAsJson } from "../../domain/text/json.ts";
import { isOpenType } from "../../domain/props/user-prop.ts";
import { kindOfType } from "../../domain/props/kinds.ts";

export interface Question extends PropRecord {
  /** An empty answer keeps the current value. */
  readonly isKept?: boolean;
}

/** Checks only what needs no server. True when nothing is wrong. */
export function answerProblem(prop: Question, answer: string): string | true {
  if (answer.trim() === "") return prop.optional === true || prop.isKept === true || prop.default !== undefined || `${prop.name} is required`;
  return kindOfType(prop.type).asking?.problem?.(prop, answer) ?? true;
}

/** Undefined for an answer without a value. */
export function answeredValue({ type }: Question, answer: string): JsonValue | undefined {
  const { asking } = kindOfType(type);
  return asking?.read === undefined ? typedValue(type, answer) : asking.read(answer);
}

/** Parses JSON for types that accept any value. */
export function typedValue(type: string, text: string): JsonValue {
  return kindOfType(type).kind === "user" && isOpenType(type) ? textAsJson(text) : text;
}
