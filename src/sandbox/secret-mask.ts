import type { Outcome } from "../domain/invocation.ts";

const STARS = "********";
/** Tokens are renewed; what was given long ago is worth nothing any more. */
const MOST_SECRETS = 200;

/** Puts stars in the place of secrets in what a process prints and throws: HTTP clients print whole requests. */
export class SecretMask {
  #secrets: string[] = [];

  add(secrets: readonly string[]): void {
    const fresh = secrets.filter((secret) => !this.#secrets.includes(secret));
    // A secret may be a part of another: the longer one goes first.
    if (fresh.length > 0) this.#secrets = [...fresh, ...this.#secrets].slice(0, MOST_SECRETS).toSorted((a, b) => b.length - a.length);
  }

  over(text: string): string {
    return this.#secrets.reduce((masked, secret) => masked.replaceAll(secret, STARS), text);
  }

  overOutcome(outcome: Outcome): Outcome {
    if (outcome.kind !== "threw" || this.#secrets.length === 0) return outcome;
    const { error } = outcome;
    return { ...outcome, error: { ...error, message: this.over(error.message), stack: this.over(error.stack) } };
  }
}
