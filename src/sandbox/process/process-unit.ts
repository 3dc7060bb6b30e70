import type { InvocationId } from "../../domain/ids.ts";
import { messageOf } from "../../domain/errors.ts";
import { LIMITS } from "../../domain/limits.ts";
import { type LogLine, type Outcome, type RunResult, type StateChanges } from "../../domain/run/invocation.ts";
import { propFacts } from "../../domain/props/declared-props.ts";
import { secretVariables } from "../../domain/account/secrets.ts";
import type { CallReport, CallRequest, Unit, UnitCode, UnitEvents } from "../../ports/runner.ts";
import { type PrintedAmount, keepLine } from "./call-log.ts";
import { Answers, type CallAccess } from "./answers.ts";
import type { ChildExit, ChildProcess, ChildSettings } from "./child-process.ts";
import { GivenCalls } from "./given-calls.ts";
import { EmitBuffer } from "./emit-buffer.ts";
import { LateLines } from "./late-lines.ts";
import { Pulse } from "./pulse.ts";
import { SecretMask } from "./secret-mask.ts";
import { type HostCall, HOSTED_API, type RawLogLine, runText, type ToHost } from "../channel/protocol.ts";
import { SentBody } from "./sent-body.ts";
import { CallDeadlines } from "./call-deadlines.ts";
import { StandingClock } from "./standing-clock.ts";
import { StackMapper } from "./stack-mapper.ts";
import type { Bundle } from "../../domain/component/saved-component.ts";

export type UnitProcess = Pick<ChildProcess, "exited" | "listen" | "charge" | "send" | "kill" | "writeModule"> & Partial<Pick<ChildProcess, "inspector">>;

interface Settings extends Pick<ChildSettings, "clock" | "memoryMb" | "apiUrl"> {
  readonly loadDeadlineMs: number;
}

interface CallEnd {
  readonly report: CallReport;
  readonly settle: (result: RunResult) => void;
}

interface CallInFlight extends CallAccess {
  readonly logs: LogLine[];
  readonly printed: PrintedAmount;
  readonly deadlineAt: number;
  readonly deadlineMs: number;
  /** Undefined once the call is settled, because V8 keeps entries of an outgrown map for a while. */
  end: CallEnd | undefined;
  sentBody: SentBody | undefined;
}

export interface FailedLoad {
  readonly outcome: Outcome;
}

/** Lets a retired process finish background work. */
const RETIRE_GRACE_MS = 2000;
/** Ending a process takes processor time that the next version's first call needs. */
const UNHURRIED_MS = 100;
/** A late part needs its own commit, so it costs more than its length. */
const LATE_CHARGE = 16_000;

/**
 * States: loading → usable → retired (no new calls, calls in flight finish) → gone. A call that passes its deadline
 * settles at once and retires the process, whose code cannot be stopped.
 */
export class ProcessUnit implements Unit {
  definition: unknown;
  readonly #child: UnitProcess;
  readonly #events: UnitEvents;
  readonly #settings: Settings;
  readonly #mapper: StackMapper;
  readonly #inFlight = new Map<InvocationId, CallInFlight>();
  readonly #stop = new AbortController();
  readonly #mask = new SecretMask();
  readonly #answers: Answers;
  #isRetired = false;
  readonly #deadlines: CallDeadlines;
  #isStopping = false;
  #isDying = false;
  #killReason: string | undefined;
  #lastCall: InvocationId | undefined;
  #exiting: InvocationId | undefined;
  readonly #held = new EmitBuffer();
  readonly #given = new GivenCalls();
  readonly #late: LateLines;
  readonly #pulse: Pulse;
  /** Stops while a debugger pauses the process. */
  readonly #time: StandingClock;

  /** Kills the process when loading fails. */
  static async load(child: UnitProcess, code: UnitCode, { events, settings }: { events: UnitEvents; settings: Settings }): Promise<ProcessUnit | FailedLoad> {
    const { bundle } = code;
    const written = [
      child.writeModule("component.mjs", code.debug?.textOf(bundle) ?? bundle.code),
      ...(bundle.preloads ?? []).map((part, index) => child.writeModule(`import-${index}.mjs`, part.code)),
    ];
    const [url = "", ...preloads] = await Promise.all(written).catch((error: unknown) => {
      child.kill();
      throw error;
    });
    const unit = new ProcessUnit(child, { events, settings, mapper: new StackMapper(code.debug?.url ?? url, bundle.map) });
    const outcome = await unit.#load(code, { url, preloads });
    return outcome === undefined ? unit : { outcome };
  }

  private constructor(child: UnitProcess, { events, settings, mapper }: { events: UnitEvents; settings: Settings; mapper: StackMapper }) {
    this.#child = child;
    this.#events = events;
    this.#settings = settings;
    this.#mapper = mapper;
    this.#time = new StandingClock(settings.clock);
    child.inspector?.watchPauses((isPaused) => (isPaused ? this.#time.stand() : this.#time.goOn()));
    this.#answers = new Answers(events, (answer) => child.send(answer));
    this.#deadlines = new CallDeadlines({
      time: this.#time,
      inFlight: this.#inFlight,
      over: this.#stop.signal,
      isKilled: () => this.#killReason !== undefined,
      expire: () => this.#expire(),
    });
    this.#pulse = new Pulse({ clock: settings.clock, ask: () => child.send({ type: "host:ping" }), over: this.#stop.signal });
    this.#late = new LateLines(settings.clock, this.#stop.signal, (id, logs) => events.late({ id, result: { emits: [], stateChanges: {}, logs } }));
  }

  get isUsable(): boolean {
    return !this.#isRetired;
  }

  call(request: CallRequest, report: CallReport): Promise<RunResult> {
    const { id, method, triggerText, configured, dynamicProps = [], secrets, dataStores, endpoint, deadlineMs, asksHost, nowMs, files } = request;
    this.#mask.add(secrets);
    if (this.#isRetired) return Promise.resolve(endedWithout({ kind: "interrupted", reason: "its process has ended" }, []));
    return new Promise((settle) => {
      const deadlineAt = this.#time.now() + deadlineMs;
      this.#inFlight.set(id, {
        deadlineAt,
        deadlineMs,
        dataStores,
        files,
        logs: [],
        printed: { lines: 0, size: 0 },
        end: { report, settle },
        sentBody: undefined,
      });
      this.#lastCall = id;
      this.#given.add(id);
      const shared = files === undefined ? {} : { files: { isEmpty: files.isEmpty } };
      const call: HostCall = { type: "host:call", id, method, configured, endpoint, dynamicProps: dynamicProps.map(propFacts), asksHost, nowMs, ...shared };
      this.#child.send(call, triggerText === undefined ? undefined : runText(call, triggerText));
      this.#deadlines.watch(deadlineAt);
    });
  }

  memoryBytes(): Promise<number | undefined> {
    return this.#pulse.feel();
  }

  patchState(changes: StateChanges, epoch: number): void {
    this.#child.send({ type: "host:state", changes, epoch });
  }

  async retire({ isUnhurried = false } = {}): Promise<void> {
    this.#isRetired = true;
    const { clock } = this.#settings;
    // Two debugged processes would both stop at a breakpoint.
    if (isUnhurried && this.#child.inspector === undefined) await clock.sleepUntil(clock.now() + UNHURRIED_MS, this.#stop.signal);
    this.#endWhenIdle();
    await this.#child.exited;
  }

  kill(reason: string): void {
    this.#isRetired = true;
    this.#killReason ??= reason;
    this.#child.kill();
  }

  async #load(
    { bundle, env, state, epoch = 0, isCutOff, debug }: UnitCode,
    modules: { url: string; preloads: readonly string[] },
  ): Promise<Outcome | undefined> {
    this.#mask.keep(secretVariables(env));
    if (this.#child.inspector !== undefined) await debug?.join(this.#child.inspector, bundle);
    const timer = new AbortController();
    const loaded = new Promise<Outcome | undefined>((resolve) => {
      this.#child.listen(
        (message) => {
          if (message.type === "child:loaded") this.definition = message.definition;
          if (message.type === "child:loaded") resolve(undefined);
          if (message.type === "child:load-failed") resolve(this.#mask.overOutcome(this.#mapper.mapOutcome(message.outcome)));
        },
        () => {},
      );
      void this.#child.exited.then((exit) => resolve(this.#outcomeOfExit(exit)));
      const deadline = this.#settings.loadDeadlineMs;
      void this.#time.sleepUntil(this.#time.now() + deadline, timer.signal).then(() => resolve({ kind: "timed-out", afterMs: deadline }));
    });
    const platform = callsPlatform(bundle) ? { platformApi: env["PD_API_URL"] ?? this.#settings.apiUrl() } : {};
    this.#child.send({ type: "host:load", ...modules, ...platform, ...(isCutOff === undefined ? {} : { isCutOff }), env, state, epoch });
    const failure = await loaded;
    timer.abort();
    if (failure === undefined) this.#begin();
    else this.#child.kill();
    // The next call may use the previous code, and its debugger must be back by then.
    if (failure !== undefined) await this.#child.inspector?.ended.then(() => debug?.settled());
    return failure;
  }

  #begin(): void {
    this.#child.listen(
      (message) => this.#receive(message),
      (stream, text) => this.#receiveOutput(stream, text),
    );
    void this.#child.exited.then((exit) => this.#end(exit));
  }

  #receive(message: ToHost): void {
    switch (message.type) {
      case "child:log":
        return this.#log(message.id, message.line);
      case "child:ask":
        return void this.#answers.answer(message, this.#inFlight.get(message.id));
      case "child:respond":
        return this.#respond(message, this.#inFlight.get(message.id));
      case "child:emitted":
        return this.#inFlight.has(message.id) ? this.#held.add(message.id, message.emits) : undefined;
      case "child:done": {
        const { id, part, outcome, returned, report } = message;
        const { stateChanges, touched } = part;
        // Earlier emits of a discarded call do not count.
        const emits = outcome.kind === "interrupted" ? part.emits : this.#held.with(id, part.emits);
        return this.#settle(id, { outcome: this.#mask.overOutcome(this.#mapper.mapOutcome(outcome)), emits, stateChanges, touched, returned, report });
      }
      case "child:late": {
        const { id, part, outcome } = message;
        this.#child.charge(LATE_CHARGE);
        if (!this.#given.has(id)) return;
        return this.#events.late({
          id,
          result: { ...part, logs: [], ...(outcome === undefined ? {} : { outcome: this.#mask.overOutcome(this.#mapper.mapOutcome(outcome)) }) },
        });
      }
      case "child:exiting":
        this.#exiting = message.id;
        return this.#child.inspector?.close();
      case "child:pong":
        return this.#pulse.heard(message.memoryBytes);
      case "child:ready":
      case "child:preloaded":
      case "child:loaded":
      case "child:load-failed":
        return;
    }
  }

  /** Other callers get the complete body. */
  #respond({ response, isUnsettled, isStreamed }: Extract<ToHost, { type: "child:respond" }>, call: CallInFlight | undefined): void {
    const report = call?.end?.report;
    if (call === undefined || report === undefined) return;
    if (isStreamed === undefined || "problem" in response || call.sentBody !== undefined) return report.respond(response, isUnsettled);
    const rest = new SentBody();
    call.sentBody = rest;
    if (report.takesStreams === true) report.respond({ ...response, rest }, isUnsettled);
    else
      void readWhole(rest).then(
        (bytes) => report.respond({ ...response, body: bytes.toString("base64"), encoding: "base64" }, isUnsettled),
        (error: unknown) => report.respond({ problem: messageOf(error) }, isUnsettled),
      );
  }

  /** Output of native code, and direct writes to the file descriptor. */
  #receiveOutput(stream: "stdout" | "stderr", text: string): void {
    // The outcome already reports that V8 is out of memory.
    this.#isDying ||= stream === "stderr" && (text.includes("<--- Last few GCs") || (text.includes("FATAL ERROR: ") && text.includes("heap out of memory")));
    if (this.#isDying || (this.#child.inspector !== undefined && text.includes("debugger to disconnect..."))) return;
    const line = text.endsWith("\n") ? text.slice(0, -1) : text;
    this.#log(this.#inFlight.keys().next().value ?? null, { at: this.#settings.clock.now(), level: stream, text: line });
  }

  #log(id: InvocationId | null, raw: RawLogLine): void {
    const from = raw.rawFrom === undefined ? undefined : this.#mapper.firstPosition(raw.rawFrom)?.replace(/:\d+$/, "");
    const line: LogLine = { at: raw.at, level: raw.level, text: this.#mask.over(this.#mapper.mapText(raw.text)), ...(from === undefined ? {} : { from }) };
    const target = id !== null && this.#given.has(id) ? id : this.#lastCall;
    const call = target === undefined ? undefined : this.#inFlight.get(target);
    if (call !== undefined) {
      const kept = keepLine(call.printed, line);
      if (kept === undefined) return;
      call.logs.push(kept);
      call.end?.report.log(kept);
      return;
    }
    if (target !== undefined) this.#late.add(target, line);
  }

  #settle(id: InvocationId, { outcome, emits, stateChanges, touched, hasExited, returned, report }: Omit<RunResult, "logs">): void {
    const call = this.#inFlight.get(id);
    if (call === undefined) return;
    this.#inFlight.delete(id);
    const { end } = call;
    call.end = undefined;
    call.sentBody?.breakOff("the run has ended");
    this.#held.forget(id);
    end?.settle({ outcome, emits, stateChanges, touched, logs: call.logs, hasExited, returned, report });
    if (this.#isRetired) this.#endWhenIdle();
  }

  /** One of several calls in flight may have blocked the others. Then all are interrupted and none is blamed. */
  async #expire(): Promise<void> {
    this.#isRetired = true;
    if (this.#inFlight.size > 1 && (await this.#pulse.feel()) === undefined) return this.kill("another call of the source blocked its process");
    const now = this.#time.now();
    for (const [id, call] of this.#inFlight) {
      if (call.deadlineAt > now) continue;
      this.#settle(id, { outcome: { kind: "timed-out", afterMs: call.deadlineMs }, emits: [], stateChanges: {} });
      this.#child.send({ type: "host:abandon", id });
    }
    if (this.#inFlight.size === 0) this.kill("a call timed out");
  }

  #endWhenIdle(): void {
    if (this.#inFlight.size > 0 || this.#isStopping) return;
    this.#isStopping = true;
    this.#child.inspector?.close();
    this.#child.send({ type: "host:stop" });
    const { clock } = this.#settings;
    void clock.sleepUntil(clock.now() + RETIRE_GRACE_MS, this.#stop.signal).then(() => this.#child.kill());
  }

  #end(exit: ChildExit): void {
    this.#isRetired = true;
    this.#stop.abort();
    this.#late.flush();
    if (exit.misuse !== undefined) this.#tellMisuse(exit.misuse);
    const outcome = this.#outcomeOfExit(exit);
    const [first] = this.#inFlight.keys();
    const isShared = this.#inFlight.size > 1;
    // One of several calls in flight may have claimed the exit for another.
    const culprit = isShared || (this.#exiting === undefined && exit.misuse === undefined) ? undefined : first;
    // It is unknown which of several calls ended the process.
    const reason = this.#killReason ?? "its process ended while other calls of the source were in flight";
    for (const id of this.#inFlight.keys()) {
      const isInnocent = isShared;
      const end: Pick<RunResult, "outcome" | "hasExited"> = isInnocent
        ? { outcome: { kind: "interrupted", reason } }
        : { outcome, ...(id === culprit ? { hasExited: true } : {}) };
      this.#settle(id, { ...end, emits: [], stateChanges: {} });
    }
    this.#events.ended();
  }

  #tellMisuse(misuse: string): void {
    const at = this.#settings.clock.now();
    for (const { logs, end } of this.#inFlight.values()) {
      const line: LogLine = {
        at,
        level: "system",
        text: `Its process was killed because it sent the server an invalid message: ${this.#mask.over(misuse)}`,
      };
      logs.push(line);
      end?.report.log(line);
    }
  }

  #outcomeOfExit({ code, signal, lastWords, misuse }: ChildExit): Outcome {
    if (this.#killReason !== undefined) return { kind: "interrupted", reason: this.#killReason };
    if (misuse !== undefined) return threwMisuse(this.#mask.over(misuse));
    if (lastWords.includes("heap out of memory")) return { kind: "out-of-memory", limitMb: this.#settings.memoryMb };
    return { kind: "exited", code, signal };
  }
}

function threwMisuse(misuse: string): Outcome {
  const message = `its process sent the server an invalid message: ${misuse}`;
  return { kind: "threw", error: { name: "Error", message, stack: message } };
}

/** Rejects beyond `LIMITS.call` bytes, and when the rest is missing. */
async function readWhole(body: SentBody): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) {
    if (body.bytes > LIMITS.call) throw new RangeError(`the body has more than ${LIMITS.call} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function endedWithout(outcome: Outcome, logs: readonly LogLine[]): RunResult {
  return { outcome, emits: [], stateChanges: {}, logs };
}

/** Also true for a package that calls the hosted platform's API. */
function callsPlatform({ code, packages }: Bundle): boolean {
  return code.includes(HOSTED_API) || packages.some(({ name }) => name === "@pipedream/sdk");
}
