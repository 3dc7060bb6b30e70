import { describe, expect, it } from "vitest";
import { isoInZone } from "../../src/domain/run/trigger.ts";

describe("an instant in a time zone", () => {
  it.each([
    ["2026-01-31T08:00:00Z", "Europe/Berlin", "2026-01-31T09:00:00+01:00"],
    ["2026-07-01T22:30:05Z", "Europe/Berlin", "2026-07-02T00:30:05+02:00"],
    ["2026-07-01T22:30:05Z", "UTC", "2026-07-01T22:30:05Z"],
    ["2026-07-01T22:30:05Z", "Asia/Kathmandu", "2026-07-02T04:15:05+05:45"],
    ["2026-01-01T02:00:00Z", "America/St_Johns", "2025-12-31T22:30:00-03:30"],
  ])("%s in %s is %s", (at, zone, written) => {
    const { date, time, timestamp } = isoInZone(Date.parse(at), zone);
    expect([timestamp, Date.parse(timestamp), `${date}T${time}`]).toEqual([written, Date.parse(at), written]);
  });
});
