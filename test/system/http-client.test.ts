import { getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { textOf } from "../../src/system/http/answer-text.ts";
import { sendRequest } from "../../src/system/http/http-client.ts";
import { eventually } from "../support/eventually.ts";
import { startHttpServer } from "../support/http-server.ts";

const KEY = { authorization: "Bearer key" };

describe("a request of the client", () => {
  it("hands over method, headers and body, and what comes back", async () => {
    const url = await startHttpServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      response.writeHead(201, { "x-told": "yes" }).end(`${request.method} ${request.headers["content-type"]} ${request.headers["content-length"]} ${body}`);
    });
    const answer = await sendRequest(url, { method: "POST", headers: { "content-type": "text/plain" }, body: "ü" });
    expect([answer.ok, answer.status, answer.headers.get("X-Told"), answer.headers.get("x-none")]).toEqual([true, 201, "yes", null]);
    expect(await textOf(answer, 100)).toBe("POST text/plain 2 ü");
  });

  it("is followed to where its server says, and the key goes to no other", async () => {
    const keys: unknown[] = [];
    const other = await startHttpServer((request, response) => {
      keys.push(request.headers.authorization);
      response.end("there");
    });
    const url = await startHttpServer((request, response) => {
      keys.push(request.headers.authorization);
      const location = request.url === "/" ? "/next" : other;
      response.writeHead(302, { location }).end();
    });
    expect(await textOf(await sendRequest(url, { headers: KEY }), 100)).toBe("there");
    expect(keys).toEqual(["Bearer key", "Bearer key", undefined]);
    expect((await sendRequest(url, { method: "POST", headers: KEY, body: "{}" })).status).toBe(302);
  });

  it("is given up when its answer does not begin, or does not end, in time", async () => {
    const silent = await startHttpServer(() => {});
    await expect(sendRequest(silent, { headTimeoutMs: 50 })).rejects.toThrow("no answer within 0.05 s");
    const dripping = await startHttpServer((_request, response) => {
      const timer = setInterval(() => response.write(" "), 5);
      response.once("close", () => clearInterval(timer));
    });
    // headTimeoutMs does not limit the body.
    const answer = await sendRequest(dripping, { headTimeoutMs: 5000 });
    await expect(textOf(answer, 1000, 50)).rejects.toThrow("did not end within 0.05 s");
  });

  it.each([
    ["announcements of an answer", "HTTP/1.1 102 Processing\r\n\r\n"],
    ["lines behind its body", "x: y\r\n"],
  ])("is given up when its %s never end", async (_what, line) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      if (line.startsWith("x")) socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write(line.repeat(100)));
        socket.once("drain", more);
      };
      more();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
    await expect(sendRequest(url, { headTimeoutMs: 200 }).then((answer) => textOf(answer, 1000))).rejects.toThrow(/no answer within 0.2 s|terminated/);
  });

  it("is not followed for ever", async () => {
    const url = await startHttpServer((_request, response) => void response.writeHead(302, { location: "/" }).end());
    await expect(sendRequest(url)).rejects.toThrow("redirect count exceeded");
  });

  it("is given up when its time is over or its signal says so, before the answer and within it", async () => {
    const url = await startHttpServer((request, response) => {
      if (request.url === "/begun") response.writeHead(200).write("begun");
    });
    await expect(sendRequest(url, { timeoutMs: 50 })).rejects.toThrow("no answer within 0.05 s");
    const begun = await sendRequest(new URL("begun", url).href, { timeoutMs: 200 });
    await expect(textOf(begun, 100)).rejects.toThrow();
    const over = new AbortController();
    const sent = sendRequest(url, { signal: over.signal });
    over.abort(new Error("nobody waits"));
    await expect(sent).rejects.toThrow("nobody waits");
    await expect(sendRequest(url, { signal: over.signal })).rejects.toThrow("nobody waits");
  });

  it("tells the network's reason, and that an answer was cut off", async () => {
    await expect(sendRequest("http://127.0.0.1:10/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const url = await startHttpServer((_request, response) => response.writeHead(200, { "content-length": "100" }).write("cut", () => response.destroy()));
    const cut = await sendRequest(url);
    await expect(textOf(cut, 1000)).rejects.toThrow();
    // An unread failure must not crash the process.
    await sendRequest(url);
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("is sent once more when it only reads, and its connection was closed by the other side just then", async () => {
    const asked: string[] = [];
    const served = new WeakSet<object>();
    const url = await startHttpServer((request, response) => {
      asked.push(`${request.method}`);
      if (served.has(request.socket)) return void request.socket.resetAndDestroy();
      served.add(request.socket);
      response.end("answered");
    });
    const ask = async (method: string): Promise<string> => {
      const text = await textOf(await sendRequest(url, { method }), 100);
      // The connection is free a turn after the body's end.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return text;
    };
    expect([await ask("GET"), await ask("GET")]).toEqual(["answered", "answered"]);
    await expect(ask("POST")).rejects.toMatchObject({ message: expect.stringMatching(/ECONNRESET|hang up|other side closed/) });
    expect(asked).toEqual(["GET", "GET", "GET", "POST"]);
  });

  it("uses a connection again, keeps no program from ending by it, and uses none that something was said on", async () => {
    const sockets: unknown[] = [];
    const url = await startHttpServer((request, response) => {
      sockets.push(request.socket);
      response.end("x".repeat(100_000));
      // Nobody requested this response.
      if (sockets.length === 2) response.once("finish", () => request.socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil"));
    });
    const ask = async (): Promise<string> => {
      const text = await textOf(await sendRequest(url), 100_000);
      // The connection is free a turn after the body's end.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return text;
    };
    await ask();
    await ask();
    await eventually(async () => Object(sockets[1]).destroyed === true || undefined);
    expect(await ask()).toBe("x".repeat(100_000));
    expect([sockets[0] === sockets[1], sockets[1] === sockets[2]]).toEqual([true, false]);
  });

  it("leaves no listener at a signal that outlives it", async () => {
    const url = await startHttpServer((_request, response) => response.end("told"));
    const { signal } = new AbortController();
    expect(await textOf(await sendRequest(url, { signal, timeoutMs: 100 }), 100)).toBe("told");
    await eventually(async () => getEventListeners(signal, "abort").length === 0);
  });

  it("waits with the answer for whoever reads it slowly", async () => {
    let sent = 0;
    const url = await startHttpServer((_request, response) => {
      const more = (): void => {
        while (sent < 2000) {
          sent++;
          if (!response.write("x".repeat(65_536))) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    });
    const { body } = await sendRequest(url);
    let bytes = 0;
    for await (const chunk of body ?? []) {
      // Of 131 MB, only a few fit in the buffers.
      if (bytes === 0) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(sent).toBeLessThan(400);
      }
      bytes += chunk.length;
    }
    expect(bytes).toBe(2000 * 65_536);
  });

  it("reaches a server by a name and by an address of IPv6, and is no two requests by what a header holds", async () => {
    const { port } = new URL(await startHttpServer((request, response) => void response.end(request.headers.host)));
    expect(await textOf(await sendRequest(`http://localhost:${port}/`), 100)).toBe(`localhost:${port}`);
    const six = createServer((request, response) => void response.end(request.headers.host)).listen(0, "::1");
    onTestFinished(() => void six.close());
    await once(six, "listening");
    const address = six.address();
    const host = `[::1]:${typeof address === "object" ? address?.port : ""}`;
    expect(await textOf(await sendRequest(`http://${host}/`), 100)).toBe(host);
    for (const value of ["a\r\nb: c", "ü€", "a\0"])
      await expect(sendRequest(`http://${host}/`, { headers: { authorization: value } })).rejects.toThrow(/invalid header value|ByteString/);
  });

  it("is refused when its answer is longer than what was asked for", async () => {
    const url = await startHttpServer((_request, response) => void response.end("x".repeat(1000)));
    await expect(sendRequest(url).then((answer) => textOf(answer, 999))).rejects.toThrow("more than 999 bytes");
    expect(await sendRequest(url).then((answer) => textOf(answer, 1000))).toHaveLength(1000);
  });
});
