import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, createServer, request as send } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientAddressOf } from "../../src/server/forwarding/forwarded.ts";
import { Forwarder } from "../../src/server/forwarding/forwarder.ts";
import { systemClock } from "../../src/system/clock.ts";
import { clusterKeys } from "../../src/system/keys/cluster-keys.ts";
import { eventually } from "../support/eventually.ts";

const keys = clusterKeys({ PD_SECRET_KEY: "ab".repeat(32) });

async function listening(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener);
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address: AddressInfo | string | null = server.address();
  return { url: `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`, server };
}

class TestNode {
  url = "";
  leaderUrl: string | undefined;
  own: RequestListener | undefined;
  looked = 0;
  readonly forwarder: Forwarder;
  readonly #over = new AbortController();

  static async start(signer = keys): Promise<TestNode> {
    const node = new TestNode(signer);
    node.url = (await listening(node.forwarder.listener)).url;
    return node;
  }

  private constructor(signer: typeof keys) {
    onTestFinished(() => {
      this.#over.abort();
      this.forwarder.close();
    });
    this.forwarder = new Forwarder({
      signer,
      clock: systemClock,
      signal: this.#over.signal,
      leaderUrl: () => this.leaderUrl,
      look: async () => void this.looked++,
      own: () => this.own,
      answersHere: ({ url }, response) => url === "/healthz" && response.end("ok") !== undefined,
    });
  }
}

/** A standby in front of a leader, which answers with `listener`. */
async function pair(listener: RequestListener): Promise<{ standby: TestNode; leader: TestNode }> {
  const [standby, leader] = [await TestNode.start(), await TestNode.start()];
  leader.own = listener;
  standby.leaderUrl = leader.url;
  return { standby, leader };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

describe("a request to a node that does not lead", () => {
  it("reaches the leader with its method, address, headers and body, and the answer comes back", async () => {
    const { standby } = await pair(async (request, response) => {
      const body = await bodyOf(request);
      response.writeHead(
        201,
        "Made",
        [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
          ["x-of", String(request.headers["x-mine"])],
        ].flat(),
      );
      response.end(
        JSON.stringify({ method: request.method, url: request.url, host: request.headers.host, body: body.toString(), names: Object.keys(request.headers) }),
      );
    });
    const answer = await fetch(`${standby.url}/a/b?c=%20d`, { method: "PUT", headers: { "x-mine": "1" }, body: "hello" });
    expect([answer.status, answer.statusText, answer.headers.getSetCookie(), answer.headers.get("x-of")]).toEqual([201, "Made", ["a=1", "b=2"], "1"]);
    const told = { method: "PUT", url: "/a/b?c=%20d", host: new URL(standby.url).host, body: "hello" };
    expect(await answer.json()).toEqual({ ...told, names: expect.not.arrayContaining(["x-headwater-forwarded"]) });
  });

  it("may have a body of any size and no length, which is passed on as it arrives", async () => {
    let first: string | undefined;
    const { standby } = await pair(async (request, response) => {
      let size = 0;
      for await (const part of request) {
        first ??= String(part).slice(0, 5);
        size += part.length;
      }
      response.end(String(size));
    });
    const sent = send(standby.url, { method: "DELETE", headers: { "transfer-encoding": "chunked" } });
    const answered = new Promise<string>((resolve, reject) => {
      sent.on("error", reject);
      sent.on("response", async (answer) => resolve((await bodyOf(answer)).toString()));
    });
    sent.write("begin");
    await eventually(async () => first === "begin");
    sent.end(Buffer.alloc(5_000_000));
    expect(await answered).toBe("5000005");
  });

  it("gets a stream part by part, and a client that leaves ends it at the leader", async () => {
    let stream: ServerResponse | undefined;
    const { standby } = await pair((_request, response) => {
      stream = response;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
    });
    const stop = new AbortController();
    const answer = await fetch(standby.url, { signal: stop.signal });
    const reader = answer.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    stream?.write("data: 2\n\n");
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 2\n\n");
    stop.abort();
    await eventually(async () => stream?.destroyed === true);
  });

  it("gets the end of a stream when its node stops, while other answers still come", async () => {
    let slow: ServerResponse | undefined;
    const { standby } = await pair((request, response) => {
      response.writeHead(200, { "content-type": request.url === "/stream" ? "text/event-stream; charset=utf-8" : "text/plain" });
      response.write("begun ");
      if (request.url !== "/stream") slow = response;
    });
    const [stream, other] = await Promise.all([fetch(`${standby.url}/stream`), fetch(`${standby.url}/slow`)]);
    standby.forwarder.endStreams();
    expect(await stream.text()).toBe("begun ");
    slow?.end("ended");
    expect(await other.text()).toBe("begun ended");
  });

  it("waits while no node leads, and is served by the next leader, also when that is this node", async () => {
    const { standby, leader } = await pair((request, response) => void bodyOf(request).then((body) => response.end(`there ${body.toString()}`)));
    standby.leaderUrl = undefined;
    const answers = ["1", "2"].map(async (body) => (await fetch(standby.url, { method: "POST", body })).text());
    await eventually(async () => standby.looked >= 4);
    standby.leaderUrl = leader.url;
    expect(await Promise.all(answers)).toEqual(["there 1", "there 2"]);
    standby.leaderUrl = undefined;
    const own = fetch(standby.url, { method: "POST", body: "3" });
    const looked = standby.looked;
    await eventually(async () => standby.looked >= looked + 2);
    standby.own = (request, response) => void bodyOf(request).then((body) => response.end(`here ${body.toString()}`));
    standby.leaderUrl = standby.url;
    expect(await (await own).text()).toBe("here 3");
  });

  it("is sent again to the next leader when the first one was not reached or no longer leads", async () => {
    const { standby, leader } = await pair((request, response) => void bodyOf(request).then((body) => response.end(body)));
    const gone = await listening(() => {});
    gone.server.close();
    const former = await TestNode.start();
    for (const url of [gone.url, former.url]) {
      standby.leaderUrl = url;
      const looked = standby.looked;
      const answer = fetch(standby.url, { method: "POST", body: "again" });
      await eventually(async () => standby.looked > looked);
      standby.leaderUrl = leader.url;
      expect(await (await answer).text()).toBe("again");
    }
  });

  it("with a large body is sent to the next leader when the first one was not reached, and gets an answer that comes before its end", async () => {
    const { standby, leader } = await pair(async (request, response) => {
      if (request.url === "/refused") return response.writeHead(413, { connection: "close" }).end("too large");
      let size = 0;
      for await (const part of request) size += part.length;
      response.end(String(size));
    });
    const gone = await listening(() => {});
    gone.server.close();
    standby.leaderUrl = gone.url;
    const looked = standby.looked;
    const answer = fetch(standby.url, { method: "POST", body: Buffer.alloc(1_000_000) });
    await eventually(async () => standby.looked > looked + 1);
    standby.leaderUrl = leader.url;
    expect(await (await answer).text()).toBe("1000000");
    const refused = send(`${standby.url}/refused`, { method: "POST", headers: { "content-length": "100000000" } });
    refused.write(Buffer.alloc(100_000));
    const status = await new Promise((resolve, reject) => {
      refused.on("error", reject);
      refused.on("response", (given) => resolve(given.statusCode));
    });
    expect(status).toBe(413);
    refused.destroy();
  });

  it("with 2,000 headers keeps all of them, and the one that frames its body", async () => {
    const { standby } = await pair(async (request, response) => {
      const body = await bodyOf(request);
      response.end(`${request.rawHeaders.filter((name) => name === "a").length} ${body.length} ${clientAddressOf(request)}`);
    });
    const socket = connect(Number(new URL(standby.url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let told = "";
    socket.on("data", (data) => (told += data.toString()));
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${"a:\r\n".repeat(2000)}content-length: 5\r\n\r\n12345`);
    await eventually(async () => told.endsWith("2000 5 127.0.0.1"));
  });

  it("runs once, whatever headers the component answers with", async () => {
    let count = 0;
    const { standby } = await pair((_request, response) => {
      count++;
      response.writeHead(503, { "x-headwater-not-leading": "1" }).end("of the component");
    });
    const answer = await fetch(standby.url, { method: "POST", body: "x" });
    expect([answer.status, await answer.text(), count]).toEqual([503, "of the component", 1]);
  });

  it("is answered 503 and never sent twice when the leader ends during it, and a read is sent again", async () => {
    let count = 0;
    const { standby } = await pair((request, response) => {
      count++;
      if (count === 3) response.end("read");
      else request.socket.destroy();
    });
    const cut = await fetch(standby.url, { method: "POST", body: "x" });
    expect([cut.status, cut.headers.get("retry-after"), await cut.json()]).toEqual([503, "1", expect.objectContaining({ code: "PD_INTERRUPTED" })]);
    expect(count).toBe(1);
    expect(await (await fetch(standby.url)).text()).toBe("read");
    expect(count).toBe(3);
  });

  it("is cut off from a leader that hangs once another one leads", async () => {
    let isThere = false;
    const { standby, leader } = await pair(() => void (isThere = true));
    const hanging = fetch(standby.url, { method: "POST", body: "x" });
    await eventually(async () => isThere);
    standby.forwarder.keepOnly(leader.url);
    standby.forwarder.keepOnly("http://127.0.0.1:1");
    expect((await hanging).status).toBe(503);
  });

  it("is passed on once: a node that gets a forwarded one and does not lead says so", async () => {
    const [first, second] = [await TestNode.start(), await TestNode.start()];
    first.leaderUrl = second.url;
    second.leaderUrl = first.url;
    const isOver = fetch(first.url, { method: "POST", body: "x" });
    await eventually(async () => first.looked > 2);
    second.own = (_request, response) => response.end("now");
    expect(await (await isOver).text()).toBe("now");
    expect(second.looked).toBe(0);
  });

  it("tells the leader the address of its client, which a stranger cannot claim", async () => {
    const { standby, leader } = await pair((request, response) =>
      response.end(`${clientAddressOf(request)} ${String(request.headers["x-headwater-forwarded"])}`),
    );
    const claim = `${Date.now()} 6.6.6.6`;
    for (const signature of ["", keys.sign(claim), clusterKeys({ PD_SECRET_KEY: "cd".repeat(32) }).sign(`${claim}\nGET\n/`)]) {
      const headers = { "x-headwater-forwarded": `${claim} ${signature}` };
      expect(await (await fetch(leader.url, { headers })).text()).toBe("127.0.0.1 undefined");
      expect(await (await fetch(standby.url, { headers })).text()).toBe("127.0.0.1 undefined");
    }
    const signed = `${claim} ${keys.sign(`${claim}\nGET\n/`)}`;
    expect(await (await fetch(leader.url, { headers: { "x-headwater-forwarded": signed } })).text()).toBe("6.6.6.6 undefined");
    const late = `${Date.now() - 120_000} 6.6.6.6`;
    const lateHeader = `${late} ${keys.sign(`${late}\nGET\n/`)}`;
    expect(await (await fetch(leader.url, { headers: { "x-headwater-forwarded": lateHeader } })).text()).toBe("127.0.0.1 undefined");
  });

  it("for the node itself is answered by it", async () => {
    expect(await (await fetch(`${(await TestNode.start()).url}/healthz`)).text()).toBe("ok");
  });
});

describe("the keys of a cluster", () => {
  it("are the same on all nodes with the same secret key, and need one", () => {
    expect(clusterKeys({ PD_SECRET_KEY: Buffer.from("ab".repeat(32), "hex").toString("base64") }).apiKey).toBe(keys.apiKey);
    expect(keys.apiKey).toMatch(/^[a-z0-9]{32}$/);
    expect(() => clusterKeys({})).toThrow(expect.objectContaining({ code: "PD_SECRET_KEY_WRONG" }));
  });

  it("of a rotation are both accepted", () => {
    const next = clusterKeys({ PD_SECRET_KEY: "cd".repeat(32), PD_SECRET_KEY_OLD: "ab".repeat(32) });
    expect([next.isSigned("x", keys.sign("x")), next.isSigned("x", next.sign("x")), keys.isSigned("x", next.sign("x"))]).toEqual([true, true, false]);
  });
});
