import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { type Socket, connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NetworkDoor } from "../../src/sandbox/network/network-door.ts";
import { isInside } from "../../src/sandbox/network/public-names.ts";
import { systemClock } from "../../src/system/clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { temporaryFolder } from "../support/home.ts";

async function openDoor(): Promise<string> {
  const path = join(await temporaryFolder(), "door");
  const door = await NetworkDoor.open({ path, apiUrl: () => "http://127.0.0.1:1", clock: systemClock });
  onTestFinished(() => door.close());
  return path;
}

async function connected(path: string): Promise<Socket> {
  const socket = connect(path);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket.resume();
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once("close", () => resolve()));
}

describe("the door to the network", () => {
  it.each([
    ["no JSON", "nonsense"],
    ["another kind", '{"number":1,"kind":"listen","host":"a","port":1}'],
    ["no port", '{"number":1,"kind":"connect","host":"a","port":70000,"family":0}'],
    ["no host", '{"number":1,"kind":"connect","host":"","port":80,"family":0}'],
    ["a host that is too long", `{"number":1,"kind":"connect","host":"${"a".repeat(300)}","port":80,"family":0}`],
    ["records that there are not", '{"number":1,"kind":"resolve","host":"a","type":"AXFR"}'],
  ])("closes on %s", async (_title, line) => {
    const asking = await connected(await openDoor());
    asking.write(`${line}\n`);
    await closed(asking);
    expect(asking.destroyed).toBe(true);
  });

  it("closes on a question without an end", async () => {
    const asking = await connected(await openDoor());
    asking.write("a".repeat(100_000));
    await closed(asking);
    expect(asking.destroyed).toBe(true);
  });

  it("lets in nobody but who asks", async () => {
    const path = await openDoor();
    const [, second] = [await connected(path), await connected(path)];
    await closed(second);
    expect(second.bytesRead).toBe(0);
  });

  it("forgets a connection that nobody fetches", async () => {
    const target = createServer((socket) => socket.on("error", () => {}));
    await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void target.close());
    const address = target.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const clock = new FakeClock(0);
    const folder = await temporaryFolder();
    const door = await NetworkDoor.open({ path: join(folder, "door"), apiUrl: () => `http://127.0.0.1:${port}`, clock });
    onTestFinished(() => door.close());
    const asking = await connected(join(folder, "door"));
    asking.write(`{"number":1,"kind":"connect","host":"127.0.0.1","port":${port},"family":0}\n`);
    const [[taken], [answer]]: [Socket[], unknown[]] = await Promise.all([once(target, "connection"), once(asking, "data")]);
    const granted: unknown = JSON.parse(String(answer));
    expect(granted).toEqual({ number: 1, value: { id: expect.stringMatching(/^[0-9a-z]{12}$/), address: "127.0.0.1", family: "IPv4" } });
    const over = closed(taken ?? asking);
    await clock.setTo(11_000);
    await over;
    expect((await readdir(folder)).filter((name) => name !== "door")).toEqual([]);
  });

  it("answers no more than so many questions at once", async () => {
    const asking = await connected(await openDoor());
    let text = "";
    asking.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    asking.write(
      Array.from({ length: 300 }, (_, number) => `{"number":${number},"kind":"connect","host":"no-such-host.invalid","port":80,"family":0}\n`).join(""),
    );
    while (text.split("\n").length <= 300) await once(asking, "data");
    expect(text.split("\n").filter((line) => line.includes("EMFILE")).length).toBeGreaterThan(0);
  });

  it("hears no more questions in a second than it should", async () => {
    const clock = new FakeClock(0);
    const path = join(await temporaryFolder(), "door");
    const door = await NetworkDoor.open({ path, apiUrl: () => "", clock });
    onTestFinished(() => door.close());
    const asking = await connected(path);
    let count = 0;
    asking.setEncoding("utf8").on("data", (chunk: string) => (count += chunk.split("\n").length - 1));
    asking.write(Array.from({ length: 20_000 }, (_, number) => `{"number":${number},"kind":"lookup","host":"localhost","family":0}\n`).join(""));
    while (count < 4000) await once(asking, "data");
    expect(count).toBeLessThan(20_000);
    await clock.setTo(60_000);
    while (count < 20_000) await once(asking, "data");
    expect(count).toBe(20_000);
  });

  it("wants a path that a socket may have", async () => {
    const path = join(await temporaryFolder(), "x".repeat(100));
    await expect(NetworkDoor.open({ path, apiUrl: () => "", clock: systemClock })).rejects.toMatchObject({ code: "PD_HOME_UNUSABLE" });
  });
});

describe("an address inside", () => {
  const [own] = Object.values(networkInterfaces()).flatMap((list) => list?.filter(({ family, internal }) => family === "IPv4" && !internal) ?? []);

  it.each([
    "127.0.0.1",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "fe80::1%eth0",
    "10.1.2.3",
    "::ffff:a01:203",
    own?.address ?? "10.0.0.1",
    `::ffff:${own?.address ?? "10.0.0.1"}`,
    "64:ff9b::7f00:1",
    "2606:4700::1%v0",
  ])("is known as one by whatever spelling: %s", (address) => expect(isInside(address)).toBe(true));

  it.each(["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"])("is not %s", (address) => expect(isInside(address)).toBe(false));
});
