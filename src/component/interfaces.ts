import type { Unchecked } from "./unchecked.ts";

/** A request to the endpoint of a source, as `run` receives it. */
export interface HttpEvent {
  readonly method: string;
  /** Path after the endpoint's address, starting with a slash. */
  readonly path: string;
  /** A repeated name has a list of values. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body before parsing. */
  readonly bodyRaw: string;
  /** JSON and forms are parsed by content type. Other text stays a string. */
  readonly body: Unchecked;
  readonly url: string;
  readonly client_ip: string;
}

/** A planned time of a timer, as `run` receives it. */
export interface TimerEvent {
  /** Planned time, in epoch seconds. */
  readonly timestamp: number;
  /** Omitted with a cron expression, and in a manual run. */
  readonly interval_seconds?: number;
  readonly cron?: string;
}

/** `this.<prop>` of `$.interface.http`. */
export interface HttpInterface {
  readonly endpoint: string;
}

/** `this.<prop>` of `{ type: "$.interface.http", customResponse: true }`. */
export interface RespondingHttpInterface extends HttpInterface {
  /** Answers the request. Works only during `run`, which may continue afterwards. The first answer counts. */
  respond(response: HttpResponse | WebResponse): void;
}

export interface WebResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body?: object | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface HttpResponse {
  /** 100 to 599. The default is 200. */
  readonly status?: number | string;
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>> | Iterable<readonly [string, string | readonly string[]]>;
  /** Objects are sent as JSON, `URLSearchParams` as a form, and streams part by part. */
  readonly body?: string | Uint8Array | object | number | boolean | null;
}

/** `this.<prop>` of a timer: its schedule. */
export interface TimerInterface {
  readonly type: "$.interface.timer";
  readonly intervalSeconds?: number;
  readonly cron?: string;
  readonly timezone?: string;
}

/** `this.<prop>` of `$.service.db`: values kept between runs. Changes are stored together with the run's events. */
export interface Db {
  /** Returns the value, or `undefined` when the key is not set. */
  get(key: string): Unchecked;
  /** Stores a JSON value. `undefined` and `null` clear the key. */
  set(key: string, value: unknown): void;
}

/** `this.<prop>` of a `data_store`, which components can share. */
export interface DataStore {
  get(key: string): Promise<Unchecked>;
  /** `ttl` is in seconds. Without it, the value does not expire. */
  set(key: string, value: unknown, options?: { readonly ttl?: number }): Promise<void>;
  has(key: string): Promise<boolean>;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
  entries(): Promise<[string, Unchecked][]>;
  [Symbol.asyncIterator](): AsyncIterator<[string, Unchecked]>;
}

/** `this.<prop>` of an `http_request`. `execute` sends the configured request. */
export interface HttpRequest {
  readonly url?: string;
  readonly method?: string;
  execute(): Promise<Unchecked>;
}

export interface SqlValue {
  readonly value: string;
  readonly query: string;
  readonly params: readonly Unchecked[];
  readonly usePreparedStatements: boolean;
}

/** Credentials of the connected account: the fields of its app. */
export type Auth = Readonly<Record<string, string>>;
