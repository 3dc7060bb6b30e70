/** Time and randomness. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Resolves at `at` (epoch ms), however far away, or as soon as `signal` aborts. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
  /** Letters and digits that nobody can guess. */
  randomText(length: number): string;
}
