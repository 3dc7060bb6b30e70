import type { Outcome } from "../domain/invocation.ts";
import { SHORTEST_SECRET, type SecretForms, byBeginning, formsOfOne, starsOver } from "../domain/secrets.ts";

/** Of those that calls have brought: tokens are renewed, and what was given long ago is worth nothing any more. */
const MOST_SECRETS = 200;

/** Puts stars in the place of secrets in what a process prints and throws: HTTP clients print whole requests. */
export class SecretMask {
  /** Those of the process itself, as long as it lives. */
  #own: readonly string[] = [];
  /** Those of calls, the newest first. */
  #secrets: readonly string[] = [];
  #known: ReadonlyMap<string, readonly string[]> = new Map();
  /** In all their forms. */
  #forms: SecretForms = new Map();

  /** Of the process. */
  keep(secrets: readonly string[]): void {
    this.#own = longEnough(secrets);
    this.#learn();
  }

  /** Of a call. All of one call count, however many others there were. */
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

/** Shorter ones are not looked for. */
function longEnough(secrets: readonly string[]): readonly string[] {
  return secrets.filter(({ length }) => length >= SHORTEST_SECRET);
}
