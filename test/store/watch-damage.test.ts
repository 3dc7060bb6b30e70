import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { MaintenanceClient } from "../../src/store/sqlite/file/maintenance-client.ts";
import { watchDamage } from "../../src/store/sqlite/file/watch-damage.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { temporaryFolder } from "../support/home.ts";

const HOUR_MS = 3_600_000;

/** Large enough for checks in the background. `reply`: code of each check's reply. */
async function watch(reply: string) {
  const folder = await temporaryFolder();
  const [path, entry] = [join(folder, "headwater.db"), join(folder, "maintenance.cjs")];
  await writeFile(path, "");
  await truncate(path, 80_000_000);
  await writeFile(entry, `const { parentPort } = require("node:worker_threads"); parentPort.once("message", () => parentPort.postMessage(${reply}));`);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const [clock, damages, unchecked] = [new FakeClock(0), new Array<string>(), new Array<string>()];
  const maintenance = new MaintenanceClient({ entry, path });
  const started = watchDamage({
    path,
    maintenance,
    clock,
    signal: stop.signal,
    onDamage: (reason) => damages.push(reason),
    onUnchecked: (reason) => unchecked.push(reason),
  });
  return { started, clock, damages, unchecked };
}

it("a database that turns out to be damaged is not served", async () => {
  const { started } = await watch('{ damage: "page 7 is in no list" }');
  await expect(started).rejects.toThrow(/Cannot open the database .*headwater.db: it is damaged: page 7 is in no list/);
});

it("a look that fails for another reason is no damage: the server starts and goes on, is told each time, and looks again an hour later", async () => {
  const { started, clock, damages, unchecked } = await watch('{ error: "too many open files" }');
  await started;
  const told = "Cannot maintain the database: too many open files";
  expect([damages, unchecked]).toEqual([[], [told]]);
  await clock.setTo(HOUR_MS);
  await expect.poll(() => unchecked).toEqual([told, told]);
  expect(damages).toEqual([]);
});

it("a copy and what is stored fail with what is wrong, damage included", async () => {
  const entry = join(await temporaryFolder(), "maintenance.cjs");
  await writeFile(
    entry,
    'const { parentPort } = require("node:worker_threads"); parentPort.once("message", () => parentPort.postMessage({ damage: "malformed" }));',
  );
  const maintenance = new MaintenanceClient({ entry, path: "none" });
  await expect(maintenance.copy("a")).rejects.toThrow("Cannot copy the database to a: malformed");
  await expect(maintenance.usage()).rejects.toThrow("Cannot measure the database: malformed");
});
