import type { AlertId, DeployedId, WebhookId } from "../ids.ts";

/** Who is told when something is wrong. */
export interface Alert {
  readonly id: AlertId;
  /** Omitted for everything on the server. */
  readonly scope?: DeployedId;
  /** `mail` goes to the address of the SMTP settings. */
  readonly via: "mail" | WebhookId;
  /** Also a summary of each day. */
  readonly isDaily: boolean;
  readonly createdAt: number;
}

/** Something that a person should know. */
export interface Trouble {
  readonly kind: "failed" | "timer skipped" | "webhook deactivated" | "account not working" | "disk nearly full" | "deactivated";
  /** Omitted for the server. */
  readonly scope?: DeployedId;
  /** The same text is told once, with a count. */
  readonly text: string;
  /** The run or call in question. */
  readonly run?: string;
}

export function concerns({ scope }: Alert, trouble: Trouble): boolean {
  return scope === undefined || scope === trouble.scope;
}
