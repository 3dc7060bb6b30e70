import { openCron } from "./cron.ts";
import { didYouMean } from "../text/did-you-mean.ts";

interface Part {
  readonly name: string;
  readonly wants: string;
  readonly words?: readonly string[];
}

const SECOND: Part = { name: "second", wants: "0 to 59" };
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIVE: readonly Part[] = [
  { name: "minute", wants: "0 to 59" },
  { name: "hour", wants: "0 to 23" },
  { name: "day of the month", wants: "1 to 31, or L" },
  { name: "month", wants: "1 to 12, or JAN to DEC", words: MONTHS },
  { name: "weekday", wants: "0 to 7, or SUN to SAT", words: DAYS },
];
const YEAR: Part = { name: "year", wants: "1 to 9999" };
const NICKNAMES = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly"];

export function cronProblem(expression: string): string | undefined {
  if (isCron(expression)) return undefined;
  const quoted = `cron ${JSON.stringify(expression)}`;
  if (expression.startsWith("@"))
    return `${quoted} is not a known schedule${didYouMean(expression, NICKNAMES)}; expected ${NICKNAMES.join(", ")}, or five parts such as "0 9 * * 1-5"`;
  const given = expression.trim().split(/\s+/).filter(Boolean);
  const parts = partsOf(given.length);
  if (parts === undefined) return `${quoted} has ${given.length} parts${meantParts(given)}; expected five: minute, hour, day of the month, month, weekday`;
  const wrong = parts.findIndex((_part, index) => !isCron(parts.map((_other, at) => (at === index ? given[at] : "*")).join(" ")));
  const part = parts[wrong];
  if (part === undefined) return `${quoted} is not a cron expression`;
  const found = given[wrong] ?? "";
  // Only a word can be misspelt.
  const near = part.words === undefined || !/^[a-z]+$/i.test(found) ? "" : didYouMean(found, part.words);
  return `${quoted}: ${JSON.stringify(found)} is not a valid ${part.name}${near}; expected ${part.wants}, *, a list with commas, a range such as 1-5, or steps such as */2`;
}

function partsOf(count: number): readonly Part[] | undefined {
  if (count === 5) return FIVE;
  if (count === 6) return [SECOND, ...FIVE];
  return count === 7 ? [SECOND, ...FIVE, YEAR] : undefined;
}

/** The last part is the most easily forgotten. */
function meantParts(given: readonly string[]): string {
  const meant = [...given, "*"].join(" ");
  return given.length === 4 && isCron(meant) ? ` (did you mean ${JSON.stringify(meant)}?)` : "";
}

function isCron(expression: string): boolean {
  try {
    openCron(expression);
    return true;
  } catch {
    return false;
  }
}
