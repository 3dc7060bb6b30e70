import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { build } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { FlowLimit } from "../../src/sandbox/channel/flow-limit.ts";
import { MessagePipe } from "../../src/sandbox/channel/message-pipe.ts";
import { FakeClock } from "../support/fake-clock.ts";

class Slow extends Duplex {
  readonly written: string[] = [];
  #goOn: (() => void) | undefined;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk.toString());
    this.#goOn = done;
  }

  goOn(): void {
    this.#goOn?.();
  }
}

const deaf = { read: (line: string): unknown => JSON.parse(line), message: () => {}, broken: () => {} };

describe("what is sent now", () => {
  it("leaves past the stream, and by the stream from where the other side stopped reading", () => {
    const [stream, through] = [new Slow(), [] as string[]];
    let room = 9;
    const writeThrough = (bytes: Uint8Array): number => {
      const part = bytes.subarray(0, room);
      through.push(Buffer.from(part).toString());
      room -= part.length;
      return part.length;
    };
    const pipe = new MessagePipe<unknown, string>(stream, deaf, { writeThrough });
    pipe.sendNow("één");
    pipe.sendNow("two");
    expect([through.join(""), stream.written.join("")]).toEqual(['"één"\n"', 'two"\n']);
  });

  it("overtakes nothing that waits, in the pipe or in the stream", () => {
    const [stream, through] = [new Slow(), [] as string[]];
    const writeThrough = (bytes: Uint8Array): number => through.push(Buffer.from(bytes).toString()) && bytes.length;
    const pipe = new MessagePipe<unknown, string>(stream, deaf, { writeThrough, later: () => {} });
    pipe.send("waits");
    pipe.sendNow("one");
    expect(through).toEqual(['"waits"\n"one"\n']);
    stream.write("the stream has it");
    pipe.sendNow("two");
    stream.goOn();
    expect([through.length, stream.written]).toEqual([1, ["the stream has it", '"two"\n']]);
  });
});

describe("what is left at the end of a process", () => {
  it("leaves past the stream, unless the stream holds a part of a message", () => {
    const [stream, through] = [new Slow(), [] as string[]];
    const writeThrough = (bytes: Uint8Array): number => through.push(Buffer.from(bytes).toString()) && bytes.length;
    const pipe = new MessagePipe<unknown, string>(stream, deaf, { writeThrough, later: () => {} });
    pipe.send("last");
    pipe.sendTheRest();
    expect(through).toEqual(['"last"\n']);
    stream.write("half of it has left");
    pipe.send("more");
    pipe.sendTheRest();
    expect(through).toHaveLength(1);
  });
});

describe("what has cost too much", () => {
  it("is all paid for before more is read", async () => {
    const [stream, clock] = [new Slow(), new FakeClock(0)];
    const limit = new FlowLimit(clock);
    const pipe: MessagePipe<unknown, string> = new MessagePipe(stream, { ...deaf, message: () => pipe.charge(50_000_000) }, { limit });
    // 64 MB at once, then 32 MB per second.
    stream.emit("data", "1\n2\n3\n");
    for (const [at, isPaused] of [
      [1000, true],
      [2000, true],
      [2600, true],
      [2700, false],
    ] as const) {
      await clock.setTo(at);
      expect([at, stream.isPaused()]).toEqual([at, isPaused]);
    }
  });
});

describe("a write past the stream", () => {
  const SIZE = 80_000_000;

  async function writing(): Promise<ReturnType<typeof spawn>> {
    const entry = join(import.meta.dirname, "..", "..", "src", "sandbox", "child", "node", "write-through.ts");
    const { outputFiles } = await build({ entryPoints: [entry], bundle: true, platform: "node", format: "cjs", write: false });
    // Non-blocking, as in a component's process.
    const code = `${outputFiles[0]?.text ?? ""}; new (require("node:net").Socket)({ fd: 3 }); console.log(module.exports.writeThrough(3, Buffer.alloc(${SIZE}, "x"))); process.exit();`;
    const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  }

  it("goes on while the other side reads, which may be busy for a while", async () => {
    const child = await writing();
    let read = 0;
    child.stdio[3]?.once("data", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300));
    child.stdio[3]?.on("data", (chunk: Buffer) => (read += chunk.length));
    const [told] = await Promise.all([text(child.stdout ?? new Slow()), once(child, "close")]);
    expect([Number(told), read]).toEqual([SIZE, SIZE]);
  });

  it("ends when it does not, and tells what has left", async () => {
    const child = await writing();
    const told = Number(await text(child.stdout ?? new Slow()));
    expect([told > 0, told < SIZE]).toEqual([true, true]);
    let read = 0;
    child.stdio[3]?.on("data", (chunk: Buffer) => (read += chunk.length));
    await once(child, "close");
    expect(read).toBe(told);
  });

  it("ends when there is no other side any more", async () => {
    const child = await writing();
    child.stdio[3]?.destroy();
    const told = await text(child.stdout ?? new Slow());
    expect(told).toMatch(/^\d+\n$/);
    expect(Number(told)).toBeLessThan(SIZE);
  });
});
