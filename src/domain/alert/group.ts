import { pathOf, pathOfRun } from "../page-path.ts";
import type { JsonObject } from "../text/json.ts";
import type { Trouble } from "./alert.ts";

/** Failures often come in crowds. The first message waits this long for the others. */
const COLLECT_MS = 10_000;
/** Between two messages of one alert. */
const PAUSE_MS = 10 * 60_000;
/** Different texts in one message. */
const MOST_TEXTS = 20;
const MOST_TEXT = 1000;

interface Told extends Pick<Trouble, "kind" | "scope" | "text"> {
  readonly count: number;
  readonly firstRun?: string;
  readonly lastRun?: string;
}

/** What one message will tell. */
export interface Group {
  /** Epoch ms. */
  readonly since: number;
  readonly until: number;
  readonly count: number;
  /** In the order in which they first came. */
  readonly told: readonly Told[];
}

export function withTrouble(group: Group | undefined, trouble: Trouble, now: number): Group {
  const { since = now, count = 0, told = [] } = group ?? {};
  const text = trouble.text.slice(0, MOST_TEXT);
  const isSame = (one: Told): boolean => one.text === text && one.scope === trouble.scope && one.kind === trouble.kind;
  const known = told.find(isSame);
  const last = trouble.run === undefined ? {} : { lastRun: trouble.run };
  if (known !== undefined)
    return { since, until: now, count: count + 1, told: told.map((one) => (one === known ? { ...one, count: one.count + 1, ...last } : one)) };
  const { kind, scope, run } = trouble;
  const first: Told = { kind, text, count: 1, ...(scope === undefined ? {} : { scope }), ...(run === undefined ? {} : { firstRun: run, lastRun: run }) };
  return { since, until: now, count: count + 1, told: told.length < MOST_TEXTS ? [...told, first] : told };
}

/** `later` came while `earlier` could not be sent. */
export function mergedGroups(earlier: Group, later: Group | undefined): Group {
  if (later === undefined) return earlier;
  const told = [...earlier.told];
  for (const one of later.told) {
    const place = told.findIndex((known) => known.text === one.text && known.scope === one.scope && known.kind === one.kind);
    const known = told[place];
    if (known !== undefined) told[place] = { ...known, count: known.count + one.count, ...(one.lastRun === undefined ? {} : { lastRun: one.lastRun }) };
    else if (told.length < MOST_TEXTS) told.push(one);
  }
  return { since: earlier.since, until: later.until, count: earlier.count + later.count, told };
}

/** When the group is sent. */
export function dueAt({ since }: Pick<Group, "since">, lastSentAt: number | undefined): number {
  return Math.max(since + COLLECT_MS, lastSentAt === undefined ? 0 : lastSentAt + PAUSE_MS);
}

interface Surroundings {
  readonly nameOf: (id: string) => string;
  /** Address of the page, without a slash at the end. */
  readonly pageUrl: string;
}

export interface AlertMessage {
  readonly subject: string;
  readonly text: string;
  readonly payload: JsonObject;
}

function runsOf({ scope, firstRun: first, lastRun: last }: Told, pageUrl: string): string {
  if (first === undefined || last === undefined) return "";
  const shown = (label: string, run: string): string => `\n  ${label}pd runs ${run}${scope === undefined ? "" : `\n  ${pageUrl}${pathOfRun(scope, run)}`}`;
  return first === last ? shown("", first) : `${shown("first: ", first)}${shown("last: ", last)}`;
}

function urlOf({ scope, lastRun }: Told, pageUrl: string): string | null {
  if (scope === undefined) return null;
  return `${pageUrl}${lastRun === undefined ? pathOf(scope) : pathOfRun(scope, lastRun)}`;
}

export function messageOfGroup(group: Group, { nameOf, pageUrl }: Surroundings): AlertMessage {
  const { told, count, since, until } = group;
  const scopes = [...new Set(told.flatMap(({ scope }) => (scope === undefined ? [] : [nameOf(scope)])))];
  const kinds = [...new Set(told.map(({ kind }) => kind))];
  const where = scopes.length === 0 ? "Headwater" : scopes.length > 3 ? `${scopes.slice(0, 3).join(", ")} and ${scopes.length - 3} more` : scopes.join(", ");
  const what = count === 1 ? kinds.join(", ") : `${count.toLocaleString("en")} × ${kinds.join(", ")}`;
  const lines = told.map(
    (one) => `${one.count.toLocaleString("en")} × ${one.scope === undefined ? "" : `${nameOf(one.scope)}: `}${one.kind}: ${one.text}${runsOf(one, pageUrl)}`,
  );
  const hidden = count - told.reduce((sum, one) => sum + one.count, 0);
  if (hidden > 0) lines.push(`and ${hidden.toLocaleString("en")} with other texts`);
  return {
    subject: `${where}: ${what}`,
    text: `${lines.join("\n\n")}\n\nBetween ${new Date(since).toISOString()} and ${new Date(until).toISOString()}. The next message of this alert comes in ten minutes at the earliest.`,
    payload: {
      type: "alert",
      subject: `${where}: ${what}`,
      text: lines.join("\n\n"),
      count,
      since_ms: since,
      until_ms: until,
      problems: told.map((one) => ({
        kind: one.kind,
        id: one.scope ?? null,
        name: one.scope === undefined ? null : nameOf(one.scope),
        text: one.text,
        count: one.count,
        first_run: one.firstRun ?? null,
        last_run: one.lastRun ?? null,
        url: urlOf(one, pageUrl),
      })),
    },
  };
}
