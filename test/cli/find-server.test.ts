import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findServer } from "../../src/cli/context.ts";
import { holdLock } from "../../src/system/home/file-lock.ts";
import { temporaryFolder } from "../support/home.ts";

/** The first `unanswered` requests stay open. `isHeld: false`: the server has exited, and another program uses its port. */
async function homeOfBusy({ unanswered = 0, isHeld = true, hangsUp = false }): Promise<{ home: string; asked: () => number }> {
  let count = 0;
  const server = createServer((request, response) => {
    if (hangsUp) request.socket.destroy();
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
  await writeFile(join(home, "server.json"), JSON.stringify({ pid: process.pid, api_url: `http://127.0.0.1:${address.port}` }));
  const lock = isHeld ? holdLock(join(home, "server.lock")) : undefined;
  onTestFinished(() => lock?.release());
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
    message: expect.stringMatching(`process ${process.pid} has ${home}, but does not answer at http://127`),
    fix: expect.stringMatching(`kill -9 ${process.pid}`),
  });
});

it("what does not answer in the place of a server that has ended is no server, whoever has its number by now", async () => {
  const { home } = await homeOfBusy({ unanswered: 9, isHeld: false });
  expect(await findServer({ home })).toBeUndefined();
});

it("what hangs up in the place of a server is none, at once", async () => {
  const { home, asked } = await homeOfBusy({ hangsUp: true });
  expect(await findServer({ home })).toBeUndefined();
  // A GET is retried: a server may close a connection just when it is used again.
  expect(asked()).toBe(2);
});
