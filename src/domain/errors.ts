interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
  readonly fix: string;
}

export type ErrorCode =
  | "PD_BAD_INPUT"
  | "PD_BAD_JSON"
  | "PD_BAD_CONTENT_TYPE"
  | "PD_UNAUTHORIZED"
  | "PD_READ_ONLY"
  | "PD_NOT_OWNER"
  | "PD_FOREIGN_ORIGIN"
  | "PD_NOT_FOUND"
  | "PD_SOURCE_NOT_FOUND"
  | "PD_COMPONENT_NOT_FOUND"
  | "PD_INVOCATION_NOT_FOUND"
  | "PD_WORKFLOW_NOT_FOUND"
  | "PD_RUN_NOT_FOUND"
  | "PD_FILE_NOT_FOUND"
  | "PD_BUILD_FAILED"
  | "PD_NOT_A_COMPONENT"
  | "PD_LOAD_FAILED"
  | "PD_BAD_PROPS"
  | "PD_ADDITIONAL_PROPS_FAILED"
  | "PD_OPTIONS_FAILED"
  | "PD_HOOK_FAILED"
  | "PD_PACKAGE_NOT_FOUND"
  | "PD_PACKAGES_UNREACHABLE"
  | "PD_INSTALL_FAILED"
  | "PD_NPM_MISSING"
  | "PD_PYTHON_MISSING"
  | "PD_COMMAND_FAILED"
  | "PD_CODE_UNREACHABLE"
  | "PD_REGISTRY_UNREACHABLE"
  | "PD_SOURCE_INACTIVE"
  | "PD_CONFLICT"
  | "PD_AMBIGUOUS"
  | "PD_WEBHOOK_NOT_FOUND"
  | "PD_ACCOUNT_NOT_FOUND"
  | "PD_ACCOUNT_UNHEALTHY"
  | "PD_OAUTH_FAILED"
  | "PD_DELIVERY_NOT_FOUND"
  | "PD_BODY_TOO_LARGE"
  | "PD_TOO_BUSY"
  | "PD_NOT_STORED"
  | "PD_IN_DOUBT"
  | "PD_INTERRUPTED"
  | "PD_STARTING"
  | "PD_STOPPING"
  | "PD_DATABASE_UNUSABLE"
  | "PD_DATABASE_DAMAGED"
  | "PD_SECRET_KEY_WRONG"
  | "PD_KEYRING_UNUSABLE"
  | "PD_DATABASE_NEWER"
  | "PD_DATABASE_UNREACHABLE"
  | "PD_DATABASE_IN_USE"
  | "PD_NO_KEYS"
  | "PD_NO_PROFILE"
  | "PD_HOME_UNUSABLE"
  | "PD_HOME_IN_USE"
  | "PD_PORT_TAKEN"
  | "PD_SANDBOX_UNAVAILABLE"
  | "PD_SERVER_UNREACHABLE"
  | "PD_FAILED";

const CATALOGUE: Readonly<Record<ErrorCode, CatalogueEntry>> = {
  PD_BAD_INPUT: { status: 400, title: "A given value is not valid", fix: "Correct the value and retry" },
  PD_BAD_JSON: { status: 400, title: "The request body is not JSON", fix: "Send a JSON object" },
  PD_BAD_CONTENT_TYPE: { status: 415, title: "The request body has an unsupported type", fix: "Send application/json" },
  PD_UNAUTHORIZED: {
    status: 401,
    title: "The API key is missing or wrong",
    fix: "Send `Authorization: Bearer <key>`; the local key is in the file api-key of PD_HOME",
  },
  PD_NOT_OWNER: { status: 403, title: "Only the owner of the server may do this", fix: "Do this on the server's machine, as the user who runs the server" },
  PD_READ_ONLY: { status: 403, title: "The API key may only read", fix: "Use a key with write access: pd keys create <name>" },
  PD_FOREIGN_ORIGIN: {
    status: 403,
    title: "The request comes from a page of another site",
    fix: "Use this server's page, or call the API from a program",
  },
  PD_NOT_FOUND: { status: 404, title: "Not found", fix: "Check the id or the path" },
  PD_SOURCE_NOT_FOUND: { status: 404, title: "No source has this id, slug or name", fix: "pd list sources" },
  PD_COMPONENT_NOT_FOUND: { status: 404, title: "No saved component has this id or key", fix: "pd list components" },
  PD_INVOCATION_NOT_FOUND: { status: 404, title: "No invocation has this id", fix: "pd logs <source>" },
  PD_WORKFLOW_NOT_FOUND: { status: 404, title: "No workflow has this id, slug or name", fix: "pd list workflows" },
  PD_RUN_NOT_FOUND: { status: 404, title: "No run of a workflow has this id", fix: "pd runs <workflow>" },
  PD_FILE_NOT_FOUND: { status: 400, title: "A file cannot be read", fix: "Check the path" },
  PD_BUILD_FAILED: { status: 422, title: "The component does not compile", fix: "Correct the code; a running version keeps serving" },
  PD_NOT_A_COMPONENT: {
    status: 422,
    title: "The file does not export a component",
    fix: "Export an object with name, version and run: `export default { name, version, run() {} }`",
  },
  PD_LOAD_FAILED: { status: 422, title: "The component throws while it loads", fix: "Correct the code at the position shown" },
  PD_BAD_PROPS: { status: 422, title: "The given props do not fit the component", fix: "Set them with --prop name=value" },
  PD_ADDITIONAL_PROPS_FAILED: {
    status: 422,
    title: "The component could not compute its additional props",
    fix: "Correct the values that it depends on, such as the account",
  },
  PD_OPTIONS_FAILED: {
    status: 422,
    title: "The component could not list the options of a prop",
    fix: "Correct the values that it depends on, such as the account, or set the value directly",
  },
  PD_HOOK_FAILED: {
    status: 422,
    title: "A hook threw, so nothing was changed",
    fix: "Check the account and the values that the hook uses, or correct the hook, and retry. When it prevents a deletion: pd delete --force",
  },
  PD_PACKAGE_NOT_FOUND: { status: 422, title: "A package that the component imports cannot be found", fix: "Check the spelling and the version in the import" },
  PD_PACKAGES_UNREACHABLE: { status: 503, title: "Packages cannot be installed now", fix: "Check the connection to the package registry and retry" },
  PD_INSTALL_FAILED: { status: 500, title: "npm could not install the packages", fix: "Read npm's output above" },
  PD_NPM_MISSING: { status: 500, title: "npm is not on the PATH", fix: "Install npm, or add it to PATH" },
  PD_PYTHON_MISSING: {
    status: 422,
    title: "Steps in Python cannot run on this machine",
    fix: "Install Python 3.9 or newer (on Debian: apt install python3 python3-pip), or set another with --python or PD_PYTHON, then restart the server",
  },
  PD_COMMAND_FAILED: { status: 500, title: "A required program cannot be run", fix: "Check that it is installed, and retry" },
  PD_CODE_UNREACHABLE: { status: 422, title: "The code cannot be fetched", fix: "Check the URL: it must return the raw code" },
  PD_REGISTRY_UNREACHABLE: { status: 503, title: "A registry cannot be fetched", fix: "Check its location and the connection, and retry" },
  PD_SOURCE_INACTIVE: { status: 409, title: "The source is not active", fix: "pd update <source> --activate" },
  PD_CONFLICT: { status: 409, title: "It already exists", fix: "Choose another name" },
  PD_AMBIGUOUS: { status: 409, title: "Several items have this name", fix: "Use the id or the slug" },
  PD_ACCOUNT_UNHEALTHY: { status: 409, title: "The provider no longer accepts the account", fix: "pd accounts reconnect <account>" },
  PD_OAUTH_FAILED: { status: 502, title: "The provider returned no tokens", fix: "Retry; if it fails again, check client id, secret and URLs" },
  PD_ACCOUNT_NOT_FOUND: { status: 404, title: "No account has this id or name", fix: "pd accounts list" },
  PD_WEBHOOK_NOT_FOUND: { status: 404, title: "No webhook has this id", fix: "pd webhooks list" },
  PD_DELIVERY_NOT_FOUND: { status: 404, title: "No delivery has this id", fix: "pd deliveries <webhook>" },
  PD_BODY_TOO_LARGE: { status: 413, title: "The request body is too large", fix: "Send less, or start the server with a larger --body-limit" },
  PD_TOO_BUSY: { status: 429, title: "Too many requests of this source are waiting", fix: "Retry later" },
  PD_NOT_STORED: {
    status: 503,
    title: "The change could not be written to the database",
    fix: "Free disk space under PD_HOME, or where the command writes, then retry; nothing was acknowledged",
  },
  PD_IN_DOUBT: {
    status: 503,
    title: "The database did not confirm a write: the change may or may not be stored",
    fix: "Check whether it is stored before you retry",
  },
  PD_INTERRUPTED: { status: 503, title: "A run was interrupted for a reason outside of it", fix: "Send the request again" },
  PD_STARTING: { status: 503, title: "The server is starting", fix: "Retry in a second" },
  PD_STOPPING: { status: 503, title: "The server is stopping", fix: "Retry when it is running again" },
  PD_SECRET_KEY_WRONG: {
    status: 500,
    title: "Secrets cannot be opened",
    fix: "Give the key that they were sealed with: PD_SECRET_KEY, or the file secret-key in PD_HOME",
  },
  PD_KEYRING_UNUSABLE: {
    status: 500,
    title: "The keyring of this machine cannot be used",
    fix: "Unlock it, and start pd in its session",
  },
  PD_DATABASE_UNUSABLE: {
    status: 500,
    title: "The database cannot be opened",
    fix: "Restore the file from a backup, or move it away to start empty; it was not touched",
  },
  PD_DATABASE_DAMAGED: {
    status: 503,
    title: "The database is damaged: it can be read, but is no longer written",
    fix: "Save what can be read (pd backup, pd push), then restore a backup: pd restore <file>",
  },
  PD_DATABASE_NEWER: { status: 500, title: "The database was written by a newer version", fix: "Install that version of headwater" },
  PD_DATABASE_UNREACHABLE: { status: 503, title: "The database does not answer", fix: "Check that PostgreSQL runs and --database-url is right, then retry" },
  PD_DATABASE_IN_USE: { status: 409, title: "Another server uses this database", fix: "Stop it, or give another --database-url" },
  PD_NO_KEYS: { status: 409, title: "A shared server needs keys", fix: "pd keys create <name>" },
  PD_NO_PROFILE: { status: 400, title: "This profile is not logged in", fix: "pd login -p <name>" },
  PD_HOME_UNUSABLE: { status: 500, title: "PD_HOME cannot be used", fix: "Choose another folder with --home or PD_HOME" },
  PD_HOME_IN_USE: { status: 409, title: "Another server uses this PD_HOME", fix: "pd down, or choose another folder with --home" },
  PD_PORT_TAKEN: { status: 409, title: "A port is in use", fix: "Choose another with --port and --endpoint-port (0 = any free one)" },
  PD_SANDBOX_UNAVAILABLE: {
    status: 500,
    title: "The requested sandbox is not available",
    fix: "Install bubblewrap and allow user namespaces, or use the weaker --sandbox belt (see SECURITY.md)",
  },
  PD_SERVER_UNREACHABLE: { status: 503, title: "No server answers", fix: "pd up" },
  PD_FAILED: { status: 500, title: "Something failed", fix: "See pd logs and the server's log" },
};

export interface ErrorExtras {
  /** Replaces the catalogue's. */
  fix?: string;
  /** Data for programs. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

export class PdError extends Error {
  readonly code: ErrorCode;
  readonly fix: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = "PdError";
    this.code = code;
    this.fix = extras.fix ?? CATALOGUE[code].fix;
    this.details = extras.details;
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }
}

/** The database could not be asked, or gave no answer. What asked it is not at fault, and goes on later. */
export function isOfDatabase(thrown: unknown): boolean {
  return thrown instanceof PdError && (thrown.code === "PD_NOT_STORED" || thrown.code === "PD_IN_DOUBT" || thrown.code === "PD_DATABASE_UNREACHABLE");
}

export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === "string" && Object.hasOwn(CATALOGUE, text);
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A code such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && thrown.code !== undefined ? String(thrown.code) : undefined;
}

export function isDiskProblem(thrown: unknown): boolean {
  return /^(ENOSPC|EDQUOT|EROFS|SQLITE_(FULL|IOERR|READONLY).*)$/.test(codeOf(thrown) ?? "");
}

export function toPdError(thrown: unknown): PdError {
  if (thrown instanceof PdError) return thrown;
  const fix = codeOf(thrown) === "EROFS" ? { fix: "The file system is read-only: mount it for writing, or use another place" } : {};
  return new PdError(isDiskProblem(thrown) ? "PD_NOT_STORED" : "PD_FAILED", messageOf(thrown), { cause: thrown, ...fix });
}
