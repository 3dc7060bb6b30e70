import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import type { ProjectRoot } from "../../system/home/project-root.ts";
import type { CodeFlags } from "../code/prop-flags.ts";

export interface DevFlags extends CodeFlags {
  readonly dc?: string | undefined;
  /** Attach to a source of another component. */
  readonly force?: boolean | undefined;
  /** Deploy another source even when the file has one. */
  readonly new?: boolean | undefined;
  readonly name?: string | undefined;
  readonly promptAll?: boolean | undefined;
  /** `true`, or a port. */
  readonly inspect?: string | boolean | undefined;
}

export interface SessionSettings {
  readonly client: Client;
  readonly path: string;
  /** Folder that must contain the files. Omitted to use the project of the path. */
  readonly root?: ProjectRoot;
  readonly flags: DevFlags;
  readonly props: JsonObject;
  readonly env: Record<string, string>;
  readonly home: string;
  /** Address of a remote server, or empty. */
  readonly elsewhere: string;
  readonly stop: AbortController;
}
