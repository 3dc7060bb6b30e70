import type { ApiClient } from "../cli/api-client.ts";
import type { JsonObject } from "../domain/json.ts";

export interface DevFlags {
  readonly dc?: string;
  readonly name?: string;
  readonly prompt?: boolean;
  readonly promptAll?: boolean;
  readonly import?: readonly string[];
  readonly prop?: readonly string[];
  readonly props?: string;
  readonly env?: readonly string[];
  readonly envFile?: string;
}

export interface SessionSettings {
  readonly client: ApiClient;
  readonly path: string;
  readonly flags: DevFlags;
  readonly props: JsonObject;
  readonly env: Record<string, string>;
  readonly home: string;
  /** Address of a server that is not this machine's; else empty. */
  readonly elsewhere: string;
  readonly stop: AbortController;
}
