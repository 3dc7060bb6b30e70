import type { ErrorCode, PdError } from "../../domain/errors.ts";

/** What to click, in place of commands. */
const ON_PAGE: Partial<Readonly<Record<ErrorCode, string>>> = {
  PD_ACCOUNT_NOT_FOUND: "Connect an account on the page Accounts, or choose another one in the form",
  PD_ACCOUNT_UNHEALTHY: "Reconnect the account on the page Accounts",
  PD_BAD_PROPS: "Correct the fields that are marked",
  PD_CONFLICT: "Reload the page to see what has changed, and repeat your change",
  PD_HOOK_FAILED: "Check the account and the values that the hook uses, or correct the hook in the code, and retry",
  PD_SOURCE_INACTIVE: "Activate the source: More, then Activate",
  PD_SOURCE_NOT_FOUND: "Choose it from the page Sources: it may have been deleted",
  PD_WORKFLOW_NOT_FOUND: "Choose it from the page Workflows: it may have been deleted",
  PD_WEBHOOK_NOT_FOUND: "Choose it from the page Webhooks: it may have been deleted",
  PD_COMPONENT_NOT_FOUND: "Search for it on the page New source or Actions",
  PD_DATABASE_DAMAGED: "Ask who runs the server to restore a backup",
  PD_READ_ONLY: "Open the page with a key that may change things",
};
const NAMES_COMMAND = /\bpd [a-z]|(^|\s)--[a-z]/;

/** Undefined when all that is known is a command. */
export function pageFix({ code, fix }: Pick<PdError, "code" | "fix">): string | undefined {
  return NAMES_COMMAND.test(fix) ? ON_PAGE[code] : fix;
}
