/** What triggers a component, and what it is given to work with (contract: interfaces and services). */
import type { Unchecked } from "./unchecked.ts";

/** A request to the endpoint of a source, as `run` gets it. */
export interface HttpEvent {
  readonly method: string;
  /** Behind the endpoint's address, with its slash. */
  readonly path: string;
  /** A name that comes several times has a list. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came. */
  readonly bodyRaw: string;
  /** Read by its content type: JSON and forms as objects, other texts as they are. */
  readonly body: Unchecked;
  readonly url: string;
  readonly client_ip: string;
}

/** A planned time of a timer, as `run` gets it. */
export interface TimerEvent {
  /** Epoch seconds of the planned time. */
  readonly timestamp: number;
  /** Absent with a cron expression, and in a run by hand. */
  readonly interval_seconds?: number;
  readonly cron?: string;
}

/** `this.<prop>` of `$.interface.http`. */
export interface HttpInterface {
  /** Address that triggers this source. */
  readonly endpoint: string;
}

/** `this.<prop>` of `{ type: "$.interface.http", customResponse: true }`. */
export interface RespondingHttpInterface extends HttpInterface {
  /** Answers the client, in `run` alone; the first answer counts. `run` may go on afterwards. */
  respond(response: HttpResponse | WebResponse): void;
}

/** A `Response` of the web, or of a package. */
export interface WebResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body?: object | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface HttpResponse {
  /** 100 to 599; 200 when it is left out. */
  readonly status?: number | string;
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>> | Iterable<readonly [string, string | readonly string[]]>;
  /** An object is sent as JSON, `URLSearchParams` as a form, a stream once it has ended. */
  readonly body?: string | Uint8Array | object | number | boolean | null;
}

/** `this.<prop>` of a timer: its schedule. */
export interface TimerInterface {
  readonly type: "$.interface.timer";
  readonly intervalSeconds?: number;
  readonly cron?: string;
  readonly timezone?: string;
}

/** `this.<prop>` of `$.service.db`: keeps values between runs; what a run sets is stored with its events, in one step. */
export interface Db {
  /** The value, or `undefined` when there is none. */
  get(key: string): Unchecked;
  /** The value has to be JSON; `undefined` and `null` clear the key. */
  set(key: string, value: unknown): void;
}

/** `this.<prop>` of a `data_store`, which several components share. */
export interface DataStore {
  get(key: string): Promise<Unchecked>;
  /** `ttl`: seconds until the value is gone. */
  set(key: string, value: unknown, options?: { readonly ttl?: number }): Promise<void>;
  has(key: string): Promise<boolean>;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
  entries(): Promise<[string, Unchecked][]>;
  [Symbol.asyncIterator](): AsyncIterator<[string, Unchecked]>;
}

/** `this.<prop>` of an `http_request`: what the user has described, and how to send it. */
export interface HttpRequest {
  readonly url?: string;
  readonly method?: string;
  execute(): Promise<Unchecked>;
}

/** `this.<prop>` of `sql`. */
export interface SqlValue {
  readonly value: string;
  readonly query: string;
  readonly params: readonly Unchecked[];
  readonly usePreparedStatements: boolean;
}

/** Credentials of the account that the user has connected: the fields of its app. */
export type Auth = Readonly<Record<string, string>>;
