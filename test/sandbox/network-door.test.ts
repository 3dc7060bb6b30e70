import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NetworkDoor } from "../../src/sandbox/network-door.ts";
import { temporaryFolder } from "../support/home.ts";

async function openDoor(): Promise<string> {
  const path = join(await temporaryFolder(), "door");
  const door = await NetworkDoor.open(path, () => "http://127.0.0.1:1");
  onTestFinished(() => door.close());
  return path;
}

async function connected(path: string): Promise<Socket> {
  const socket = connect(path);
  // How it ends is what the tests look at.
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket.resume();
}

describe("the door to the network", () => {
  it.each([
    ["no JSON", "nonsense"],
    ["another kind", '{"number":1,"kind":"listen","host":"a","port":1}'],
    ["no port", '{"number":1,"kind":"connect","host":"a","port":70000}'],
    ["no host", '{"number":1,"kind":"connect","host":"","port":80}'],
    ["a host that is too long", `{"number":1,"kind":"connect","host":"${"a".repeat(300)}","port":80}`],
    ["records that there are not", '{"number":1,"kind":"resolve","host":"a","type":"AXFR"}'],
  ])("closes on %s", async (_title, line) => {
    const asking = await connected(await openDoor());
    asking.write(`${line}\n`);
    await once(asking, "close");
    expect(asking.destroyed).toBe(true);
  });

  it("closes on a question without an end", async () => {
    const asking = await connected(await openDoor());
    asking.write("a".repeat(100_000));
    await once(asking, "close");
    expect(asking.destroyed).toBe(true);
  });

  it("has nothing for a connection that was not granted", async () => {
    const path = await openDoor();
    const [, data] = [await connected(path), await connected(path)];
    await once(data, "close");
    expect(data.bytesRead).toBe(0);
  });

  it("answers no more than so many questions at once", async () => {
    const asking = await connected(await openDoor());
    let text = "";
    asking.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    asking.write(Array.from({ length: 300 }, (_, number) => `{"number":${number},"kind":"connect","host":"no-such-host.invalid","port":80}\n`).join(""));
    while (text.split("\n").length <= 300) await once(asking, "data");
    expect(text.split("\n").filter((line) => line.includes("EMFILE")).length).toBeGreaterThan(0);
  });

  it("wants a path that a socket may have", async () => {
    const path = join(await temporaryFolder(), "x".repeat(100));
    await expect(NetworkDoor.open(path, () => "")).rejects.toMatchObject({ code: "PD_HOME_UNUSABLE" });
  });
});
