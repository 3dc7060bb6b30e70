import { describe, expect, it } from "vitest";
import { type SnapshotBytes, compiledModules } from "../../src/sandbox/snapshot-code.ts";

const CODE_BEGINS = Buffer.from([0x0b, 0xc2, 0xde, 0xc0]);

function number(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value);
  return bytes;
}

const code = (bytes: number): Buffer => Buffer.concat([CODE_BEGINS, Buffer.alloc(bytes - CODE_BEGINS.length, 1)]);

/** The end of a snapshot, in Node's format. */
function snapshot({ before = Buffer.from("memory"), count, modules }: { before?: Buffer; count?: number; modules: Record<string, Buffer> }): SnapshotBytes {
  const entries = Object.entries(modules).flatMap(([name, bytes]) => [number(name.length), Buffer.from(name), number(bytes.length), bytes]);
  const all = Buffer.concat([before, number(count ?? Object.keys(modules).length), ...entries]);
  return { length: all.length, read: (place, into) => into.subarray(0, all.copy(into, 0, place)) };
}

describe("the modules of Node that a snapshot has compiled", () => {
  it("are found at its end, with where each begins and how long it is", () => {
    const modules = { fs: code(100), "internal/http2/core": code(40) };
    expect(compiledModules(snapshot({ modules }))).toEqual({
      place: 6,
      modules: [
        { name: "fs", place: 14, bytes: 8 + 2 + 8 + 100 },
        { name: "internal/http2/core", place: 132, bytes: 8 + 19 + 8 + 40 },
      ],
    });
  });

  it.each([64 * 1024 - 10, 64 * 1024, 64 * 1024 + 10, 300_000])("are found behind %d bytes of memory, in which there are such marks too", (bytes) => {
    const before = Buffer.alloc(bytes, 7);
    for (const place of [10, 40_000, bytes - 4]) CODE_BEGINS.copy(before, place);
    expect(compiledModules(snapshot({ before, modules: { zlib: code(70_000), vm: code(9) } }))).toMatchObject({
      place: bytes,
      modules: [{ name: "zlib" }, { name: "vm" }],
    });
  });

  it("are not taken for some when the end is something else", () => {
    const modules = { fs: code(100) };
    expect(compiledModules(snapshot({ modules: {} }))).toBeUndefined();
    expect(compiledModules(snapshot({ count: 2, modules }))).toBeUndefined();
    expect(compiledModules(snapshot({ count: 5000, modules }))).toBeUndefined();
    const { length, read } = snapshot({ modules });
    expect(compiledModules({ length: length - 1, read })).toBeUndefined();
    expect(compiledModules({ length: 0, read: (_place, into) => into.subarray(0, 0) })).toBeUndefined();
  });
});
