import type { Outcome } from "../domain/invocation.ts";
import { formsOfOne, longestFirst, starsOver } from "../domain/secrets.ts";

/** Tokens are renewed; what was given long ago is worth nothing any more. */
const MOST_SECRETS = 200;

/** Puts stars in the place of secrets in what a process prints and throws: HTTP clients print whole requests. */
export class SecretMask {
  /** The newest first. */
  #secrets: readonly string[] = [];
  #known: ReadonlyMap<string, readonly string[]> = new Map();
  /** In all their forms, the longest first: one may be a part of another. */
  #forms: readonly string[] = [];

  add(secrets: readonly string[]): void {
    if (secrets.every((secret) => this.#secrets.includes(secret))) return;
    this.#secrets = [...new Set([...secrets, ...this.#secrets])].slice(0, MOST_SECRETS);
    this.#known = new Map(this.#secrets.map((secret) => [secret, this.#known.get(secret) ?? formsOfOne(secret)]));
    this.#forms = longestFirst([...this.#known.values()].flat());
  }

  over(text: string): string {
    return starsOver(text, this.#forms);
  }

  overOutcome(outcome: Outcome): Outcome {
    if (outcome.kind !== "threw" || this.#forms.length === 0) return outcome;
    const { error } = outcome;
    return { ...outcome, error: { ...error, message: this.over(error.message), stack: this.over(error.stack) } };
  }
}
