/** Time and randomness. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Resolves at `at` (epoch ms), however far away, or as soon as `signal` aborts. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
  /** From 0 to 1, for what has to be spread; anyone may guess it. */
  random(): number;
  /** Letters and digits that nobody can guess. */
  randomText(length: number): string;
}
