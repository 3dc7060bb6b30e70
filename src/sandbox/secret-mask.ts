import type { Outcome } from "../domain/invocation.ts";

const STARS = "********";
/** Tokens are renewed; what was given long ago is worth nothing any more. */
const MOST_SECRETS = 200;
const SHORTEST_LINE = 16;

/** Puts stars in the place of secrets in what a process prints and throws: HTTP clients print whole requests. */
export class SecretMask {
  /** The newest first. */
  #secrets: readonly string[] = [];
  /** In all their forms, the longest first: one may be a part of another. */
  #forms: readonly string[] = [];

  add(secrets: readonly string[]): void {
    if (secrets.every((secret) => this.#secrets.includes(secret))) return;
    this.#secrets = [...new Set([...secrets, ...this.#secrets])].slice(0, MOST_SECRETS);
    this.#forms = [...new Set(this.#secrets.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
  }

  over(text: string): string {
    return this.#forms.reduce((masked, form) => masked.replaceAll(form, STARS), text);
  }

  overOutcome(outcome: Outcome): Outcome {
    if (outcome.kind !== "threw" || this.#forms.length === 0) return outcome;
    const { error } = outcome;
    return { ...outcome, error: { ...error, message: this.over(error.message), stack: this.over(error.stack) } };
  }
}

/** As it is, as URLs and JSON have it, as a name or password of Basic, and line by line. */
function formsOf(secret: string): string[] {
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE) : [];
  const basic = [`${secret}:`, `:${secret}`].map((pair) => Buffer.from(pair).toString("base64"));
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...basic, ...lines];
}
