import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findServer } from "../../src/cli/context.ts";
import { temporaryFolder } from "../support/home.ts";

/** A home whose server, by its record this process or another, leaves so many questions without an answer first. */
async function homeOfBusy({ unanswered, pid = process.pid }: { unanswered: number; pid?: number }): Promise<{ home: string; asked: () => number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    if (++count > unanswered) response.end('{"data":{}}');
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  const home = await temporaryFolder();
  await writeFile(join(home, "server.json"), JSON.stringify({ pid, api_url: `http://127.0.0.1:${address.port}` }));
  return { home, asked: () => count };
}

it("a server that has much to do is asked until it answers, not taken for gone", async () => {
  const { home, asked } = await homeOfBusy({ unanswered: 1 });
  expect(await findServer({ home })).toBeDefined();
  expect(asked()).toBe(2);
});

it("one whose process lives and never answers is told of by its process, and none is started beside it", async () => {
  const { home } = await homeOfBusy({ unanswered: 9 });
  await expect(findServer({ home }, undefined, { busyMs: 0 })).rejects.toMatchObject({
    code: "PD_SERVER_UNREACHABLE",
    message: expect.stringMatching(`^Process ${process.pid} has ${home}, and does not answer at http://127`),
    fix: expect.stringMatching(`kill -9 ${process.pid}`),
  });
});

it("what does not answer in the place of a server whose process has ended is no server", async () => {
  const ended = spawn(process.execPath, ["-e", "0"]);
  await once(ended, "close");
  const { home } = await homeOfBusy({ unanswered: 9, ...(ended.pid === undefined ? {} : { pid: ended.pid }) });
  expect(await findServer({ home })).toBeUndefined();
});
