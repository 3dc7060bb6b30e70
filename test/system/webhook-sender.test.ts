import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/system/clock.ts";
import { OwnPorts } from "../../src/system/http/own-ports.ts";
import { isPrivateAddress } from "../../src/system/http/private-address.ts";
import { webhookSender } from "../../src/system/http/webhook-sender.ts";
import { Receiver } from "../support/receiver.ts";

const ownPorts = new OwnPorts();
const sender = webhookSender({ clock: systemClock, allowsPrivate: true, userAgent: "test", ownPorts, answerWithinMs: 300 });

async function sendTo(answer: Parameters<typeof Receiver.start>[0]) {
  const { url } = await Receiver.start(answer);
  return sender.send({ url, id: "m", payload: "1", secrets: ["whsec_eA=="], emitterId: "", eventName: "" }, new AbortController().signal);
}

describe("a message to a receiver", () => {
  it("that never answers has failed when its time is over", async () => {
    expect(await sendTo(() => {})).toEqual({ kind: "unreachable", reason: "no answer within 0.3 s" });
  });

  it.each<[string, Parameters<typeof Receiver.start>[0]]>([
    ["breaks off", (response) => response.writeHead(200, { "content-length": "100" }).write("thank", () => response.destroy())],
    ["never ends", (response) => void response.writeHead(200).write("thank")],
  ])("whose answer %s has arrived all the same: its status says so", async (_title, answer) => {
    expect(await sendTo(answer)).toMatchObject({ kind: "answered", status: 200, answer: expect.stringMatching(/^(thank)?$/) });
  });

  it("that is a port of this server's own is not sent, by whatever name and redirect it gets there", async () => {
    const { url, received } = await Receiver.start((response) => response.end("the list of what can be debugged"));
    const { port } = new URL(url);
    const open = ownPorts.add(Number(port));
    onTestFinished(open);
    for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "127.0.0.2", "[::ffff:127.0.0.1]"]) {
      const message = { url: `http://${host}:${port}/`, id: "m", payload: "1", secrets: ["whsec_eA=="], emitterId: "", eventName: "" };
      const result = await sender.send(message, new AbortController().signal);
      expect([host, result]).toEqual([host, { kind: "unreachable", reason: expect.stringMatching(/this server's API|ECONNREFUSED/) }]);
    }
    expect(received).toEqual([]);
    open();
    expect(
      await sender.send({ url, id: "m", payload: "1", secrets: ["whsec_eA=="], emitterId: "", eventName: "" }, new AbortController().signal),
    ).toMatchObject({
      kind: "answered",
    });
  });

  it("is given up with all others on their way when the server stops, also before it has left", async () => {
    const over = new AbortController();
    const { url } = await Receiver.start(() => {});
    const patient = webhookSender({ clock: systemClock, allowsPrivate: true, userAgent: "test", ownPorts });
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const send = () => patient.send({ url, id: "m", payload: "1", secrets: ["whsec_eA=="], emitterId: "", eventName: "" }, over.signal);
    const sent = Array.from({ length: 20 }, send);
    over.abort();
    const results = await Promise.all([...sent, send()]);
    expect(results).toEqual(Array(21).fill({ kind: "unreachable", reason: "the server is stopping" }));
    expect(warnings).toEqual([]);
  });

  it("has its whole time, also beside one that began before it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { url } = await Receiver.start(() => {});
    const ended: string[] = [];
    const { signal } = new AbortController();
    const send = (id: string) =>
      sender.send({ url, id, payload: "1", secrets: ["whsec_eA=="], emitterId: "", eventName: "" }, signal).then(() => ended.push(id));
    void send("first");
    await vi.advanceTimersByTimeAsync(200);
    void send("second");
    await vi.advanceTimersByTimeAsync(100);
    expect(ended).toEqual(["first"]);
    await vi.advanceTimersByTimeAsync(199);
    expect(ended).toEqual(["first"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(["first", "second"]);
  });

  it("whose answer is long is done with its first 2,048 bytes", async () => {
    const result = await sendTo((response) => void response.writeHead(200).write("x".repeat(100_000)));
    expect(result).toEqual({ kind: "answered", status: 200, answer: "x".repeat(2048) });
  });

  it("is told when it may come again, in seconds or as a date", async () => {
    expect(await sendTo((response) => response.writeHead(503, { "retry-after": "7" }).end())).toMatchObject({ retryAfterMs: 7000 });
    const at = new Date(Date.now() + 60_000).toUTCString();
    const dated = await sendTo((response) => response.writeHead(503, { "retry-after": at }).end());
    expect("retryAfterMs" in dated ? dated.retryAfterMs : 0).toBeGreaterThan(50_000);
  });
});

describe("an address", () => {
  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "::",
    "::127.0.0.1",
    "fe80::1",
    "fd00::1",
    "fec0::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
  ])("such as %s is inside a network", (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(["1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])("such as %s is outside", (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});
