import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, it } from "vitest";
import { RequestBodies } from "../../src/server/request-bodies.ts";

describe("the body of a request", () => {
  it("is gone when its sender hangs up before its end, which is no fault of the server", async () => {
    const bodies = new RequestBodies();
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address() as AddressInfo;
    const socket = connect(address.port, "127.0.0.1", () => socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf"));
    const [request] = await once(server, "request");
    const read = bodies.read(request, 100);
    await once(request, "data");
    socket.resetAndDestroy();
    expect(await read).toBe("gone");
    server.close();
  });
});
