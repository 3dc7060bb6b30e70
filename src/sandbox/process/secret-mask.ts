import type { Outcome } from "../../domain/run/invocation.ts";
import { SHORTEST_SECRET, type SecretForms, byBeginning, formsOfOne, starsOver } from "../../domain/account/secrets.ts";

/** Tokens are renewed, so older secrets are dropped. */
const MOST_SECRETS = 200;

/** Masks what a process prints and throws: HTTP clients print whole requests. */
export class SecretMask {
  #own: readonly string[] = [];
  #secrets: readonly string[] = [];
  #known: ReadonlyMap<string, readonly string[]> = new Map();
  #forms: SecretForms = new Map();

  keep(secrets: readonly string[]): void {
    this.#own = longEnough(secrets);
    this.#learn();
  }

  /** All secrets of one call are kept, even beyond the limit. */
  add(given: readonly string[]): void {
    const secrets = longEnough(given);
    if (secrets.every((secret) => this.#known.has(secret))) return;
    this.#secrets = [...new Set([...secrets, ...this.#secrets])].slice(0, Math.max(MOST_SECRETS, secrets.length));
    this.#learn();
  }

  #learn(): void {
    this.#known = new Map([...this.#own, ...this.#secrets].map((secret) => [secret, this.#known.get(secret) ?? formsOfOne(secret)]));
    this.#forms = byBeginning([...this.#known.values()].flat());
  }

  over(text: string): string {
    return starsOver(text, this.#forms);
  }

  overOutcome(outcome: Outcome): Outcome {
    if (outcome.kind !== "threw" || this.#forms.size === 0) return outcome;
    const { error } = outcome;
    const causes = error.causes === undefined ? {} : { causes: error.causes.map((cause) => this.over(cause)) };
    return { ...outcome, error: { ...error, name: this.over(error.name), message: this.over(error.message), stack: this.over(error.stack), ...causes } };
  }
}

function longEnough(secrets: readonly string[]): readonly string[] {
  return secrets.filter(({ length }) => length >= SHORTEST_SECRET);
}
