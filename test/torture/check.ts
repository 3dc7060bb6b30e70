/** Compares clients' observations with the final state, independent of the implementation. */
import { recordOf } from "./api.ts";
import { FLOW_STEPS, LARGE_COUNT, SCHEDULED_TIMEOUT } from "./components.ts";
import type { Change, Final, History, Request, StoredEvent } from "./history.ts";

export interface Violation {
  readonly rule: string;
  readonly text: string;
}

type Rule = (history: History, final: Final) => readonly string[];

const RULES: Readonly<Record<string, Rule>> = {
  "an acknowledged request has run once": acknowledgedRunOnce,
  "a request that nobody has acknowledged has run once at most": nobodyRunsTwice,
  "a request that was not stored has not run": notStoredNeverRuns,
  "a request is refused only with 429, 503 or, before it has run, 500": refusals,
  "answered counts are never given twice": countsAreUnique,
  "answered counts never go back": countsGrow,
  "state and events are one step": stateIsWhatEventsSay,
  "a run that emits very often is stored as a whole, once": largeRunsAreWhole,
  "events are numbered without a gap": numbersHaveNoGap,
  "an id that is remembered is stored once": dedupeHolds,
  "a reader sees each event once, in order": streamsAreWhole,
  "each event is delivered to each webhook": deliveriesAreWhole,
  "a source that listens hears each event once": listenersHearOnce,
  "a workflow commits each step of a run once, in order": stepsAreOnce,
  "a workflow is heard by the triggers of its version": triggersAreOfTheVersion,
  "each instant has one fate": instantsHaveOneFate,
  "an answer is that of the newest code": answersAreNew,
  "what was created is there, what was deleted is gone": comingAndGoing,
  "the last change that was told as done lasts": lastChangeLasts,
  "all that was accepted is finished": (_history, { unfinished }) => unfinished,
};

export function check(history: History, final: Final): readonly Violation[] {
  return Object.entries(RULES).flatMap(([rule, judge]) => {
    const texts = judge(history, final);
    const more = texts.length > 5 ? [`… and ${texts.length - 5} more`] : [];
    return [...texts.slice(0, 5), ...more].map((text) => ({ rule, text }));
  });
}

const COUNTED = ["counter", "plain", "slow"];

function isAcknowledged({ status }: Request): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** Request id → number of events. */
function runsOf(events: readonly StoredEvent[] = []): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event } of events) {
    const request = String(recordOf(event)["request"]);
    counts.set(request, (counts.get(request) ?? 0) + 1);
  }
  return counts;
}

function acknowledgedRunOnce({ requests }: History, { events }: Final): string[] {
  return COUNTED.flatMap((source) => {
    const runs = runsOf(events[source]);
    return requests
      .filter((request) => request.source === source && isAcknowledged(request) && runs.get(request.id) !== 1)
      .map(({ id, status }) => `${id}, answered ${status}, has run ${runs.get(id) ?? 0} times`);
  });
}

function nobodyRunsTwice({ requests }: History, { events }: Final): string[] {
  const known = new Set(requests.map(({ id }) => id));
  return COUNTED.flatMap((source) =>
    [...runsOf(events[source])].filter(([id, count]) => count > 1 || !known.has(id)).map(([id, count]) => `${id} has run ${count} times`),
  );
}

function notStoredNeverRuns({ requests }: History, { events }: Final): string[] {
  return [...COUNTED, "large"].flatMap((source) => {
    const runs = runsOf(events[source]);
    return requests
      .filter((request) => request.source === source && request.code === "PD_NOT_STORED" && runs.has(request.id))
      .map(({ id }) => `${id} was answered PD_NOT_STORED, and has run`);
  });
}

function largeRunsAreWhole({ requests }: History, { events }: Final): string[] {
  const runs = runsOf(events["large"]);
  return requests.flatMap((request) => {
    const count = runs.get(request.id) ?? 0;
    if (request.source !== "large" || count === LARGE_COUNT || (count === 0 && !isAcknowledged(request))) return [];
    return [`${request.id}, answered ${request.status}, has ${count} events of ${LARGE_COUNT}`];
  });
}

function refusals({ requests }: History): string[] {
  return requests
    .filter(({ status }) => status !== undefined && status >= 300 && status !== 503 && status !== 429)
    .map(({ id, status }) => `${id} was answered ${status}`);
}

function countsAreUnique({ requests }: History): string[] {
  const seen = new Map<number, string>();
  return requests.flatMap(({ id, n, source }) => {
    if (n === undefined || source !== "counter") return [];
    const other = seen.get(n);
    seen.set(n, id);
    return other === undefined ? [] : [`${id} and ${other} were both told ${n}`];
  });
}

/** A request after another one's answer must get a higher count. */
function countsGrow({ requests }: History): string[] {
  const told = requests.filter(({ source, n, endedAt }) => source === "counter" && n !== undefined && endedAt !== undefined);
  const byEnd = told.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  const bySend = told.toSorted((a, b) => a.sentAt - b.sentAt);
  const found: string[] = [];
  let [highest, at]: [Request | undefined, number] = [undefined, 0];
  for (const request of bySend) {
    for (let ended = byEnd[at]; ended !== undefined && (ended.endedAt ?? 0) < request.sentAt; ended = byEnd[++at])
      if ((ended.n ?? 0) > (highest?.n ?? 0)) highest = ended;
    if (highest !== undefined && (request.n ?? 0) <= (highest.n ?? 0))
      found.push(`${request.id} was told ${request.n} after ${highest.id} had been told ${highest.n}`);
  }
  return found;
}

/** Runs increment and emit the count in one transaction, so the counts are 1, 2, 3 and so on. */
function stateIsWhatEventsSay(_history: History, { events, state }: Final): string[] {
  return ["counter", "plain"].flatMap((source) => {
    const counts = (events[source] ?? []).map(({ event }) => Number(recordOf(event)["n"]));
    const missing = counts.toSorted((a, b) => a - b).findIndex((n, index) => n !== index + 1);
    const stored = Number(state[source]?.["n"] ?? 0);
    return [
      ...(missing < 0 ? [] : [`${source}: of ${counts.length} events none has the count ${missing + 1}, or two have the one before`]),
      ...(stored === counts.length ? [] : [`${source}: ${counts.length} runs are stored, and its count is ${stored}`]),
    ];
  });
}

function numberOf(id: string): number {
  return Number(/-(\d+)$/.exec(id)?.[1]);
}

function numbersHaveNoGap(_history: History, { events }: Final): string[] {
  return Object.entries(events).flatMap(([source, list]) => {
    const at = list.findIndex(({ id }, index) => numberOf(id) !== index + 1);
    return at < 0 ? [] : [`${source}: event ${at + 1} has the number ${numberOf(list[at]?.id ?? "")}`];
  });
}

function dedupeHolds({ requests }: History, { events }: Final): string[] {
  const stored = (events["deduped"] ?? []).map(({ event }) => String(recordOf(event)["id"]));
  const twice = stored.filter((id, index) => stored.indexOf(id) !== index);
  const hasAny = requests.some((request) => request.source === "deduped" && isAcknowledged(request));
  return [...twice.map((id) => `the id ${id} is stored twice`), ...(hasAny && stored.length === 0 ? ["nothing is stored"] : [])];
}

function streamsAreWhole({ streams }: History, { events }: Final): string[] {
  return Object.entries(streams).flatMap(([source, seen]) => {
    const at = seen.findIndex((number, index) => number !== index + 1);
    const count = events[source]?.length ?? 0;
    if (at >= 0) return [`the reader of ${source} has seen ${seen[at]} in the place of ${at + 1}`];
    return seen.length < count ? [`the reader of ${source} has seen ${seen.length} of ${count}`] : [];
  });
}

function deliveriesAreWhole({ received }: History, { events, deliveries }: Final): string[] {
  const told = (events["large"] ?? []).filter(({ event }) => Number(recordOf(event)["n"]) % 100 === 0);
  const count = told.length + (events["counter"]?.length ?? 0) + (events["plain"]?.length ?? 0);
  return Object.entries(deliveries).flatMap(([webhook, states]) => {
    const taken = new Set((received[webhook] ?? []).map(({ id }) => id));
    const lost = Object.entries(states).filter(([id, state]) => state === "delivered" && !taken.has(id));
    const waiting = Object.values(states).filter((state) => webhook === "good" && state !== "delivered");
    const total = Object.keys(states).length;
    return [
      ...(total === count ? [] : [`${webhook}: ${count} events, and ${total} deliveries`]),
      ...lost.map(([id]) => `${webhook}: ${id} is delivered, and its receiver has not seen it`),
      ...(waiting.length === 0 ? [] : [`${webhook}: ${waiting.length} of ${total} are not delivered`]),
    ];
  });
}

function listenersHearOnce(_history: History, { events, state }: Final): string[] {
  const heard = runsOf(events["listener"]);
  const emitted = events["counter"] ?? [];
  const wrong = emitted.map(({ event }) => String(recordOf(event)["request"])).filter((request) => heard.get(request) !== 1);
  const counted = Number(state["listener"]?.["heard"] ?? 0);
  const stored = events["listener"]?.length ?? 0;
  return [
    ...wrong.map((request) => `the event of ${request} was heard ${heard.get(request) ?? 0} times`),
    ...(counted === stored ? [] : [`${stored} runs are stored, and the count is ${counted}`]),
  ];
}

/** All steps, from one version, or none for an unacknowledged request. */
function stepsAreOnce({ requests }: History, { events, flow }: Final): string[] {
  const runs = new Map<string, string[]>();
  const versions = new Map<string, Set<unknown>>();
  for (const { event } of events["flow"] ?? []) {
    const { request, step, version } = recordOf(event);
    runs.set(String(request), [...(runs.get(String(request)) ?? []), String(step)]);
    versions.set(String(request), (versions.get(String(request)) ?? new Set()).add(version));
  }
  const whole = FLOW_STEPS.join(", ");
  const wrong = requests
    .filter(({ source }) => source === "flow")
    .flatMap((request) => {
      const steps = (runs.get(request.id) ?? []).join(", ");
      const isMixed = (versions.get(request.id)?.size ?? 0) > 1;
      if (isMixed) return [`${request.id} has run steps of more than one version`];
      return steps === whole || (steps === "" && !isAcknowledged(request)) ? [] : [`${request.id}, answered ${request.status}, has left the steps: ${steps}`];
    });
  return wrong.length === 0 ? [] : [...flow.failures.map((error) => `a run failed with ${error}`), ...wrong];
}

function triggersAreOfTheVersion(_history: History, { flow }: Final): string[] {
  const wanted = flow.timeout === SCHEDULED_TIMEOUT ? "http, schedule" : "http";
  const found = flow.triggers.toSorted().join(", ");
  return found === wanted ? [] : [`its triggers are ${found}, and its file says ${wanted}`];
}

function instantsHaveOneFate(_history: History, { events, instants, state }: Final): string[] {
  const list = (instants["ticker"] ?? []).toSorted((a, b) => a.planned - b.planned);
  const planned = (events["ticker"] ?? []).map(({ event }) => Number(recordOf(event)["planned"]));
  const twice = planned.filter((at, index) => planned.indexOf(at) !== index);
  const fired = list.filter((instant) => instant.state === "fired").length;
  // Reads only the newest 1,000 instants.
  const isWhole = list.length < 1000;
  const gaps = list.flatMap((instant, index) => {
    const next = list[index + 1];
    return next === undefined || next.planned - instant.last === 1000 ? [] : [`between the instants ${instant.last} and ${next.planned} is not one second`];
  });
  return [
    ...twice.map((at) => `the instant ${at} has emitted twice`),
    ...gaps,
    ...(isWhole && planned.length > fired ? [`${planned.length} runs have emitted, and ${fired} instants have fired`] : []),
    ...(Number(state["ticker"]?.["n"] ?? 0) === planned.length
      ? []
      : [`${planned.length} runs are stored, and the count is ${String(state["ticker"]?.["n"])}`]),
  ];
}

/** After a confirmed update, that version or a newer one must answer. */
function answersAreNew({ requests, changes }: History): string[] {
  const done = changes.filter(({ kind, source, isDone }) => kind === "update" && source === "counter" && isDone === true);
  return requests.flatMap(({ id, source, version, sentAt }) => {
    if (source !== "counter" || version === undefined) return [];
    const newest = done.filter(({ endedAt }) => (endedAt ?? Number.POSITIVE_INFINITY) < sentAt).at(-1);
    return newest === undefined || version >= newest.value ? [] : [`${id} was answered by version ${version} after ${newest.value} had been told as done`];
  });
}

function comingAndGoing({ changes }: History, { sources }: Final): string[] {
  const there = new Set(sources.map(({ slug }) => slug));
  return changes
    .filter(({ kind }) => kind === "create")
    .flatMap(({ source, isDone }) => {
      const gone = changes.find((change) => change.kind === "delete" && change.source === source);
      if (gone?.isDone === true && there.has(source)) return [`${source} was deleted, and is there`];
      if (isDone === true && gone === undefined && !there.has(source)) return [`${source} was created, and is not there`];
      return [];
    });
}

/** The last confirmed value, and all that may be current. */
function lasting(changes: readonly Change[]): { wanted: number; possible: ReadonlySet<number> } | undefined {
  const index = changes.findLastIndex(({ isDone }) => isDone === true);
  const last = changes[index];
  if (last === undefined) return undefined;
  // An unanswered change may take effect later.
  const open = changes.filter(({ isDone }, at) => isDone === undefined && at > index - 3);
  return { wanted: last.value, possible: new Set([last.value, ...open.map(({ value }) => value)]) };
}

function lastChangeLasts({ changes }: History, { sources, state }: Final): string[] {
  const of = (kinds: readonly string[], source: string): Change[] => changes.filter((change) => kinds.includes(change.kind) && change.source === source);
  const found: string[] = [];
  for (const source of ["counter", "hooked"]) {
    const version = Number(sources.find(({ slug }) => slug === source)?.version);
    const expected = lasting(of(["update"], source));
    if (expected !== undefined && !expected.possible.has(version)) found.push(`${source} is of version ${version}, and ${expected.wanted} was told as done`);
  }
  const written = lasting(of(["write"], "plain"));
  const value = Number(state["plain"]?.["outside"]);
  if (written !== undefined && !written.possible.has(value)) found.push(`the value outside is ${value}, and ${written.wanted} was told as written`);
  const hooked = state["hooked"] ?? {};
  const [on, off] = [Number(hooked["on"] ?? 0), Number(hooked["off"] ?? 0)];
  const isActive = sources.find(({ slug }) => slug === "hooked")?.active === true;
  // Interrupted changes activate again, so the counts may differ by more than one.
  if (isActive && on < 1) found.push(`hooked is active, and was activated ${on} times and deactivated ${off} times`);
  return found;
}
