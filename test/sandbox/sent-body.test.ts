import { describe, expect, it } from "vitest";
import { SentBody } from "../../src/sandbox/process/sent-body.ts";

async function read(body: SentBody): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

const A = Buffer.alloc(200_000, "a");

describe("a body that is sent in parts", () => {
  it("comes whole, in order, and ends when it was read", async () => {
    const body = new SentBody();
    const reading = read(body);
    expect([await body.add(A), await body.add(Buffer.from("")), await body.add(Buffer.from("b"))]).toEqual([true, true, true]);
    await body.end();
    expect(await reading).toBe(`${A.toString()}b`);
    expect(body.bytes).toBe(200_001);
  });

  it("lets its maker wait until somebody reads it", async () => {
    const body = new SentBody();
    expect(await body.add(Buffer.from("a"))).toBe(true);
    const next = body.add(A);
    expect(await Promise.race([next, new Promise((done) => setImmediate(() => done("waits")))])).toBe("waits");
    const reading = read(body);
    expect(await next).toBe(true);
    await body.end();
    expect((await reading).length).toBe(200_001);
  });

  it("is broken off when a part does not wait for the one before: nothing piles up", async () => {
    const body = new SentBody();
    const taken = await Promise.all(Array.from({ length: 100 }, () => body.add(A)));
    expect(taken.every((isTaken) => !isTaken)).toBe(true);
    await expect(read(body)).rejects.toThrow("a part was sent before the previous one was read");
  });

  it("that is given up, or breaks off, is made no further", async () => {
    const [left, broken] = [new SentBody(), new SentBody()];
    left.giveUp();
    broken.breakOff("the run has ended");
    expect([await left.add(A), await broken.add(A)]).toEqual([false, false]);
    await Promise.all([left.end(), broken.end()]);
    await expect(read(broken)).rejects.toThrow("the run has ended");
  });

  it("stays whole when the run ends after the last part", async () => {
    const body = new SentBody();
    await body.add(Buffer.from("all"));
    const ended = body.end();
    body.breakOff("the run has ended");
    expect(await read(body)).toBe("all");
    await ended;
  });
});
