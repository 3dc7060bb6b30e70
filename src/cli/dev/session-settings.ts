import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ProjectRoot } from "../../system/project-root.ts";
import type { CodeFlags } from "../code/prop-flags.ts";

export interface DevFlags extends CodeFlags {
  readonly dc?: string | undefined;
  /** Although the source is of another component. */
  readonly force?: boolean | undefined;
  /** Another source, although the file has one. */
  readonly new?: boolean | undefined;
  readonly name?: string | undefined;
  readonly promptAll?: boolean | undefined;
  /** `true`, or a port. */
  readonly inspect?: string | boolean | undefined;
}

export interface SessionSettings {
  readonly client: Client;
  readonly path: string;
  /** Where the component's files have to be. Omitted for the project that the path is in. */
  readonly root?: ProjectRoot;
  readonly flags: DevFlags;
  readonly props: JsonObject;
  readonly env: Record<string, string>;
  readonly home: string;
  /** Address of a server that is not this machine's; else empty. */
  readonly elsewhere: string;
  readonly stop: AbortController;
}
