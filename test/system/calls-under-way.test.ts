import { expect, it } from "vitest";
import { CallsUnderWay } from "../../src/system/process/calls-under-way.ts";

const URL = "http://127.0.0.1/v1/sources";

it("a call that goes on is waited for when the server stops, and no other begins", async () => {
  let answer = (_response: Response): void => {};
  const calls = new CallsUnderWay(() => new Promise((resolve) => (answer = resolve)));
  const done: string[] = [];
  const call = calls.ask(URL, {}).then(() => done.push("answered"));
  const closed = calls.close(60_000).then(() => done.push("closed"));
  await expect(calls.ask(URL, { method: "PUT" })).rejects.toMatchObject({ code: "PD_STOPPING", message: expect.stringContaining("PUT") });
  expect(done).toEqual([]);
  answer(new Response(""));
  await Promise.all([call, closed]);
  expect(done).toEqual(["answered", "closed"]);
});

it("one that takes too long is not waited for", async () => {
  const calls = new CallsUnderWay(() => new Promise(() => {}));
  void calls.ask(URL, {});
  await calls.close(1);
});
