export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** `at` is in epoch ms and may be far away. Resolves early when `signal` aborts. */
  sleepUntil(at: number, signal: AbortSignal): Promise<void>;
  /** From 0 to 1. Predictable. */
  random(): number;
  /** Unpredictable letters and digits. */
  randomText(length: number): string;
}
