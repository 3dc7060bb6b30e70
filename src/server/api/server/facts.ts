import type { FiguresRecord, StatusRecord, UsageRecord } from "../../../api/server.ts";

export interface ServerFacts {
  status(): StatusRecord;
  figures(): Promise<FiguresRecord>;
  usage(): Promise<UsageRecord>;
  disk(): Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
}
