import type { PropRecord } from "../../api/props.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/json.ts";

/** A prop whose value is asked for. */
export interface Question extends PropRecord {
  /** No answer means the value that it has. */
  readonly isKept?: boolean;
}

/** What is wrong with a typed answer, before the server is asked; `true`: nothing that can be told here. */
export function answerProblem(prop: Question, answer: string): string | true {
  const { type } = prop;
  if (answer.trim() === "") return prop.optional === true || prop.isKept === true || prop.default !== undefined || `${prop.name} is required`;
  if (type === "integer") return numberProblem(prop, answer);
  if (type === "app") return answer.startsWith("@") || isJsonObject(parseJson(answer)) || 'A JSON object is wanted, such as {"api_key":"…"}, or @file.json';
  if (type === "object" || type === "http_request") return isJsonObject(parseJson(answer)) || type === "http_request" || "A JSON object is wanted";
  return true;
}

function numberProblem({ min, max }: PropRecord, answer: string): string | true {
  const value = Number(answer);
  if (!Number.isInteger(value)) return "A whole number is wanted";
  if (min !== undefined && value < min) return `At least ${min}`;
  if (max !== undefined && value > max) return `At most ${max}`;
  return true;
}

/** `900` is every 900 s; what is no number and no JSON is a cron expression. */
export function timerAnswer(answer: string): JsonObject | undefined {
  if (answer.trim() === "") return undefined;
  const given = parseJson(answer);
  if (isJsonObject(given)) return given;
  return typeof given === "number" ? { intervalSeconds: given } : { cron: answer.trim() };
}
