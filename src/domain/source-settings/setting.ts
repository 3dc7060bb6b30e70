import type { RightKind } from "../account/rights.ts";

interface Common {
  /** A few words, for the page and `pd describe`. */
  readonly label: string;
  /** For the help of the command, the description of the API and the page. */
  readonly description: string;
  /** Workflows have it too. */
  readonly isOfWorkflows: boolean;
}

/** A whole number. Omitted when the server's limit applies. */
export interface CountSetting extends Common {
  readonly kind: "count";
  readonly least: number;
  readonly most: number;
}

/** `true`, or omitted. Granting it asks the person who applies a plan. */
export interface RightSetting extends Common {
  readonly kind: "right";
  readonly right: RightKind;
}

export type Setting = CountSetting | RightSetting;
