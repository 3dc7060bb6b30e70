import type { FiguresRecord, StatusRecord, UsageRecord } from "../../api/server.ts";

/** What the server knows of itself beyond its sources. */
export interface ServerFacts {
  /** What `pd status` shows. */
  status(): StatusRecord;
  figures(): Promise<FiguresRecord>;
  usage(): Promise<UsageRecord>;
  /** Of the disk that its home lies on. */
  disk(): Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
}
