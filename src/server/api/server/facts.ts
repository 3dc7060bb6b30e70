import type { Finding } from "../../../domain/health/checkup.ts";
import type { FiguresRecord, StatusRecord, UsageRecord } from "../../../api/server.ts";

export interface ServerFacts {
  status(): StatusRecord;
  figures(): Promise<FiguresRecord>;
  usage(): Promise<UsageRecord>;
  database(): Promise<readonly Finding[]>;
  disk(): Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
}
