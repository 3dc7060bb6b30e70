import type { Finding } from "../domain/health/checkup.ts";

/** What people and other programs learn of the store itself. */
export interface StoreFacts {
  /** A SQLite driver, or PostgreSQL with its version. */
  readonly name: string;
  /** Bytes of its tables, indexes and logs. */
  size(): Promise<number>;
  /** Why it is no longer written. */
  damage(): string | undefined;
  /** It answers soon enough to store requests. */
  isReady(): Promise<boolean>;
  findings(): Promise<readonly Finding[]>;
}
