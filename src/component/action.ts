import type { HttpResponse } from "./interfaces.ts";
import type { ValuesOf } from "./props.ts";
import type { DynamicValues, Identity } from "./source.ts";
import type { Unchecked } from "./unchecked.ts";

/** `this` in an action or a step of a workflow. */
export type ActionThis<Props, Methods, Dynamic = unknown> = ValuesOf<Props> & Methods & DynamicValues<Dynamic>;

/** What earlier steps have left. */
export interface Steps {
  readonly trigger: {
    /** What began the run. */
    readonly event: Unchecked;
    readonly context: Unchecked;
  };
  readonly [namespace: string]: Unchecked;
}

/** Where a run that waits is gone on with, or ended. */
export interface Waiting {
  readonly resume_url: string;
  readonly cancel_url: string;
}

export interface Flow {
  /** Ends the run; what comes after this step is not run. */
  exit(reason?: string): void;
  /** What comes after this step waits so many milliseconds. */
  delay(ms: number, context?: unknown): Waiting;
  /** What comes after this step waits until `resume_url` is called, at most so many milliseconds: a day, when left out. */
  suspend(ms?: number, context?: unknown): Waiting;
  /** This step runs again in so many milliseconds; `$.context.run` tells how often it did. */
  rerun(ms: number, context?: unknown, maxRetries?: number): Waiting;
  refreshTimeout(): void;
}

export interface Send {
  /** Sends a request when the step has ended. */
  http(request: {
    readonly url: string;
    readonly method?: string;
    readonly data?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly auth?: { readonly username: string; readonly password: string };
  }): void;
  /** The workflow emits this, to those who listen to it. */
  emit(event: unknown, channel?: string): void;
  sse(message: { readonly channel?: string; readonly payload: unknown }): void;
  email(message: object): void;
}

export interface StoredFile {
  readonly path: string;
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  toUrl(): Promise<string>;
  toFile(path: string): Promise<void>;
  toBuffer(): Promise<Uint8Array>;
  toEncodedString(encoding?: string, start?: number, end?: number): Promise<string>;
  fromFile(path: string): Promise<StoredFile>;
  fromUrl(url: string): Promise<StoredFile>;
  delete(): Promise<void>;
}

/** `$` of an action or a step. */
export interface ActionTools {
  /** Leaves a value for later steps: `steps.<namespace>.<name>`. */
  export(name: string, value: unknown): void;
  /** Answers the request that began the run. */
  respond(response: HttpResponse & { readonly immediate?: boolean }): Promise<void>;
  readonly flow: Flow;
  readonly send: Send;
  readonly context: Unchecked;
  /** Files of this run. */
  readonly files: {
    open(path: string): StoredFile;
    openDescriptor(file: object): StoredFile;
    dir(path?: string): AsyncIterable<StoredFile>;
  };
}

export interface ActionInput {
  readonly steps: Steps;
  readonly $: ActionTools;
}

export interface StepDefinition<Props, Methods, Dynamic = unknown> extends Partial<Identity> {
  readonly type?: "action";
  readonly props?: Props;
  readonly methods?: Methods;
  readonly annotations?: {
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
    readonly readOnlyHint?: boolean;
    readonly idempotentHint?: boolean;
  };
  readonly additionalProps?: Dynamic & ((previous: Record<string, Unchecked>) => unknown);
  /** What it returns is `steps.<namespace>.$return_value`. */
  run(input: ActionInput): unknown;
}

export interface ActionDefinition<Props, Methods, Dynamic = unknown> extends StepDefinition<Props, Methods, Dynamic>, Identity {
  readonly type: "action";
  readonly name: string;
  readonly version: string;
}
