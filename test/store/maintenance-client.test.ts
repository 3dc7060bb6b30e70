import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { driverName } from "../../src/database/database.ts";
import { MaintenanceClient } from "../../src/store/sqlite/file/maintenance-client.ts";
import { temporaryFolder } from "../support/home.ts";

const PROGRAM = `const { parentPort, threadId } = require("node:worker_threads");
parentPort.once("message", ({ target }) => {
  if (target === "die") process.exit(1);
  if (target === "wait") return void setInterval(() => {}, 1e6);
  parentPort.postMessage({ error: \`thread \${threadId}\` });
});`;

async function client(program = PROGRAM): Promise<MaintenanceClient> {
  const entry = join(await temporaryFolder(), "maintenance.cjs");
  await writeFile(entry, program);
  return new MaintenanceClient({ entry, path: "none" });
}

it("does each task in a thread of its own, which has ended when the task is done", async () => {
  const maintenance = await client();
  const threads = await Promise.all(["a", "b"].map((target) => maintenance.copy(target).catch(String)));
  expect(threads).toEqual([expect.stringMatching(/thread \d+$/), expect.stringMatching(/thread \d+$/)]);
  expect(new Set(threads.map((text) => String(text).replace(/^.*thread/, ""))).size).toBe(2);
});

it("tells of a thread that ends in the middle, and does what comes after", async () => {
  const maintenance = await client();
  const [dead, next] = [maintenance.copy("die"), maintenance.copy("a")].map((copy) => copy.catch(String));
  expect(await dead).toContain("Cannot maintain the database: its thread has ended");
  expect(await next).toMatch(/thread \d+$/);
});

it("ends what goes on when it is closed, and begins nothing that waits", async () => {
  const maintenance = await client();
  const [running, waiting] = [maintenance.copy("wait"), maintenance.copy("a")].map((copy) => copy.catch(String));
  await Promise.resolve();
  await maintenance.close();
  expect(await running).toContain("its thread has ended");
  expect(await waiting).toContain("the server is stopping");
});

it("has the thread take the driver of the server, whichever it would find by itself", async () => {
  const maintenance = await client(
    `const { getEnvironmentData, parentPort } = require("node:worker_threads");
parentPort.once("message", () => parentPort.postMessage({ error: getEnvironmentData("headwater: driver of the database") }));`,
  );
  const driver = driverName();
  await expect(maintenance.copy("a")).rejects.toThrow(`Cannot copy the database to a: ${driver}`);
});

it("takes a thread that cannot begin for no damage of the database", async () => {
  const failing = await client('throw Object.assign(new Error("no driver"), { fix: "Restart the program" });');
  await expect(failing.check()).rejects.toMatchObject({ message: "Cannot maintain the database: no driver", fix: "Restart the program" });
});
