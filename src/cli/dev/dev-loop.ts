import { PdError } from "../../domain/errors.ts";
import { isTakenBack } from "../ask/can-ask.ts";
import type { CliContext } from "../context.ts";
import { printError, printNote } from "../reporter.ts";
import { FileWatcher } from "./file-watcher.ts";
import { type Doubt, HalfSaves } from "./half-saves.ts";
import { listenToKeys } from "./key-commands.ts";
import { SaveLock } from "./save-lock.ts";

/** What one look at the disk found. */
export interface Look<Files> {
  readonly files: Files;
  /** Equal texts are the same save. */
  readonly text: string;
  readonly doubt: Doubt;
  readonly watched: readonly string[];
  /** Folders in which a new file is a save too. */
  readonly folders?: readonly string[];
}

/** What a session of `pd dev` makes of saves. */
export interface Developed<Files> {
  /** Undefined when nothing can be compared now. */
  read(): Promise<Look<Files> | undefined>;
  /** Sends a save. May stay open while it asks a question. */
  save(files: Files): Promise<void>;
  /** Called when another session, which saved until now, has ended. */
  tookOver?(): Promise<void>;
}

interface LoopSettings {
  readonly home: string;
  /** Address of a remote server, or empty. */
  readonly elsewhere: string;
  readonly stop: AbortController;
}

/** Between two attempts to send a save. */
export const RETRY_MS = 1000;

/** No server answers, or it is stopping. The save must be sent to the next one. */
function isServerGone(error: unknown): error is PdError {
  return error instanceof PdError && (error.code === "PD_SERVER_UNREACHABLE" || error.code === "PD_STOPPING");
}

/** Watches the files of a session, and hands each whole save to it, one after another. */
export class DevLoop<Files> {
  readonly #cli: CliContext;
  readonly #stop: AbortController;
  readonly #developed: Developed<Files>;
  readonly #watcher = new FileWatcher(() => this.#look());
  readonly #halfSaves = new HalfSaves();
  readonly #lock: SaveLock;
  /** `Look.text` of the last save. */
  #seen = "";
  /** Set while the first deploy waits for a save that may repair it. */
  #firstSave: (() => void) | undefined;
  /** The id that is saved to. */
  #target: string | undefined;
  #saving: Promise<void> = Promise.resolve();
  #endLook: () => void = () => {};
  /** Aborts the question that is open or may follow. */
  #question: AbortController | undefined;
  /** The last save still has to be sent. */
  #isLost = false;
  #takesKeys = false;

  constructor(cli: CliContext, { home, elsewhere, stop }: LoopSettings, developed: Developed<Files>) {
    this.#cli = cli;
    this.#stop = stop;
    this.#developed = developed;
    this.#lock = new SaveLock(home, elsewhere);
  }

  /** False while another session saves. */
  get isSaving(): boolean {
    return this.#lock.isHeld;
  }

  /** Text of the last save. Empty when the files must be sent again. */
  get seen(): string {
    return this.#seen;
  }

  /** True until the first deploy has succeeded. */
  get isFirst(): boolean {
    return this.#firstSave !== undefined;
  }

  /** Returns false when another session saves to this id. Until that one ends, this session only watches. */
  saveTo(id: string): boolean {
    this.#target = id;
    return this.#lock.hold(id);
  }

  watch(watched: readonly string[], folders: readonly string[] = []): void {
    this.#watcher.watch(watched, folders);
  }

  /** The files are those of the last save from now on. */
  take({ text, watched, folders }: Look<Files>): void {
    this.#seen = text;
    this.watch(watched, folders);
  }

  lookAgain(afterMs: number): void {
    this.#watcher.lookAgain(afterMs);
  }

  /** Sends the files again, although they have not changed. */
  sendAgain(afterMs: number): void {
    this.#seen = "";
    this.lookAgain(afterMs);
  }

  /** Repeats `attach` after each save until it succeeds. Undefined when the session ends. Throws errors that no save can repair. */
  async untilAttached<Value>(attach: () => Promise<Value>, isHopeless: (error: unknown) => boolean): Promise<Value | undefined> {
    while (!this.#stop.signal.aborted) {
      const saved = new Promise<void>((resolve) => {
        this.#firstSave = resolve;
        this.#stop.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      try {
        const attached = await attach();
        this.#firstSave = undefined;
        return attached;
      } catch (error) {
        if (isTakenBack(error)) continue;
        if (isHopeless(error)) throw error;
        printError(this.#cli, error);
        printNote(this.#cli, "Waiting for file change (or ^C to quit)...");
      }
      await saved;
    }
    return undefined;
  }

  async #look(): Promise<void> {
    const look = await this.#developed.read();
    if (look === undefined || this.#stop.signal.aborted) return;
    if (look.text === this.#seen || !(await this.#mayTakeOver())) return;
    const lookAgainAfter = this.#halfSaves.lookAgainAfter(look.doubt, look.text);
    if (lookAgainAfter !== undefined) return this.lookAgain(lookAgainAfter);
    this.#question?.abort();
    if (this.#firstSave !== undefined) return this.#firstSave();
    await this.#saving;
    await this.save(look);
  }

  /** Resolves when the save has been sent, or asks a question: it may stay open for long, and a new save takes precedence. */
  async save(look: Look<Files>): Promise<void> {
    this.take(look);
    this.#saving = this.#developed.save(look.files);
    const asked = new Promise<void>((resolve) => (this.#endLook = resolve));
    await Promise.race([this.#saving, asked]);
  }

  async #mayTakeOver(): Promise<boolean> {
    if (this.#target === undefined || this.#lock.isHeld) return true;
    if (!this.#lock.hold(this.#target)) return false;
    printNote(this.#cli, "The other pd dev has ended: this one saves from now on");
    await this.#developed.tookOver?.();
    return true;
  }

  /** Returns whether `send` succeeded. Otherwise the previous version keeps running. A save that found no server is sent again later. */
  async send(send: () => Promise<void>): Promise<boolean> {
    try {
      await send();
      this.#isLost = false;
      return true;
    } catch (error) {
      if (isTakenBack(error) || this.#stop.signal.aborted) return false;
      if (isServerGone(error)) this.#retryLater(error);
      else {
        printError(this.#cli, error);
        printNote(this.#cli, "Still running the previous version");
      }
      return false;
    }
  }

  #retryLater(error: PdError): void {
    if (!this.#isLost) printError(this.#cli, error);
    if (!this.#isLost) printNote(this.#cli, "This save will be sent when the server answers again");
    this.#isLost = true;
    this.sendAgain(RETRY_MS);
  }

  /** Runs `ask` with a signal that the next save aborts. `ask` calls `asks` before its first question. */
  async whileAsking<Value>(ask: (signal: AbortSignal, asks: () => void) => Promise<Value>): Promise<Value> {
    const question = new AbortController();
    this.#question = question;
    try {
      return await ask(AbortSignal.any([question.signal, this.#stop.signal]), () => this.#endLook());
    } finally {
      if (this.#question === question) this.#question = undefined;
      // Questions change the terminal's mode. After quitting it belongs to the user again.
      if (this.#takesKeys && !this.#stop.signal.aborted) this.#cli.stdin.setRawMode(true).resume();
    }
  }

  takeKeys(press: (key: string) => Promise<void>): void {
    const { stdin } = this.#cli;
    if (stdin.isTTY !== true) return;
    this.#takesKeys = true;
    const pressed = (key: string): void => void press(key).catch((error: unknown) => this.#stop.signal.aborted || printError(this.#cli, error));
    listenToKeys(stdin, { press: pressed, ended: () => this.#stop.abort() });
  }

  close(): void {
    this.#lock.release();
    this.#watcher.close();
    if (this.#cli.stdin.isTTY === true) this.#cli.stdin.setRawMode(false);
    this.#cli.stdin.pause();
  }
}
