import type { HttpResponse } from "./interfaces.ts";
import type { ValuesOf } from "./props.ts";
import type { DynamicValues, Identity } from "./source.ts";
import type { Unchecked } from "./unchecked.ts";

/** `this` in an action or workflow step. */
export type ActionThis<Props, Methods, Dynamic = unknown> = ValuesOf<Props> & Methods & DynamicValues<Dynamic>;

export interface Steps {
  readonly trigger: {
    /** The event that started the run. */
    readonly event: Unchecked;
    readonly context: Unchecked;
  };
  readonly [namespace: string]: Unchecked;
}

/** Addresses that resume or cancel a waiting run. */
export interface Waiting {
  readonly resume_url: string;
  readonly cancel_url: string;
}

export interface Flow {
  /** Ends the run. Later steps do not run. */
  exit(reason?: string): void;
  /** Waits `ms` milliseconds before the next step. */
  delay(ms: number, context?: unknown): Waiting;
  /** Waits before the next step until `resume_url` is called, or until `ms` milliseconds have passed. The default is one day. */
  suspend(ms?: number, context?: unknown): Waiting;
  /** Runs this step again in `ms` milliseconds. `$.context.run` counts the runs so far. */
  rerun(ms: number, context?: unknown, maxRetries?: number): Waiting;
  refreshTimeout(): void;
}

export interface Send {
  /** Sends an HTTP request after the step. */
  http(request: {
    readonly url: string;
    readonly method?: string;
    readonly data?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly auth?: { readonly username: string; readonly password: string };
  }): void;
  /** Emits an event to the workflow's listeners. */
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

/** `$` in an action or workflow step. */
export interface ActionTools {
  /** Stores a value for later steps as `steps.<namespace>.<name>`. */
  export(name: string, value: unknown): void;
  /** Answers the HTTP request that started the run. */
  respond(response: HttpResponse & { readonly immediate?: boolean }): Promise<void>;
  readonly flow: Flow;
  readonly send: Send;
  readonly context: Unchecked;
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
  /** The returned value becomes `steps.<namespace>.$return_value`. */
  run(input: ActionInput): unknown;
}

export interface ActionDefinition<Props, Methods, Dynamic = unknown> extends StepDefinition<Props, Methods, Dynamic>, Identity {
  readonly type: "action";
  readonly name: string;
  readonly version: string;
}
