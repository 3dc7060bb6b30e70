import { expect, it } from "vitest";
import { scheduleWords } from "../../src/domain/timer/schedule-words.ts";

it.each([
  ["0 9 * * 1", "Mondays at 09:00"],
  ["0 9 * * 1-5", "Mondays to Fridays at 09:00"],
  ["30 8 * * Mon,thu", "Mondays, Thursdays at 08:30"],
  ["15 7 * * *", "every day at 07:15"],
  ["0 6,18 * * *", "every day at 06:00, 18:00"],
  ["0 0 1 * *", "on day 1 of every month at 00:00"],
  ["*/5 * * * *", "every 5 minutes"],
  ["* * * * *", "every minute"],
  ["0 * * * *", "every hour"],
  ["5 * * * *", "every hour at :05"],
  ["0 */2 * * *", "every 2 hours"],
  // Irregular ones stay as they are written.
  ["*/7 * * * *", "*/7 * * * *"],
  ["0 */5 * * *", "0 */5 * * *"],
  ["0 9 1 1 *", "0 9 1 1 *"],
  ["0 9 13 * 5", "0 9 13 * 5"],
  ["0 0 9 * * *", "0 0 9 * * *"],
  ["61 9 * * *", "61 9 * * *"],
  ["0 9 L * *", "0 9 L * *"],
])("says %j as %j", (cron, words) => {
  expect(scheduleWords({ cron, timezone: "Europe/Berlin" })).toBe(`${words}, Europe/Berlin`);
});

it("says intervals in their largest unit", () => {
  expect([30, 60, 90, 3600, 86_400, 172_800].map((intervalSeconds) => scheduleWords({ intervalSeconds }))).toEqual([
    "every 30 seconds",
    "every minute",
    "every 90 seconds",
    "every hour",
    "every day",
    "every 2 days",
  ]);
});
