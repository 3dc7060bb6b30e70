import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, type Server, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { UnitEvents } from "../../src/ports/runner.ts";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { openEnclosure } from "../../src/sandbox/wall/wall.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { dataOf } from "../support/api.ts";
import { programFile } from "../../src/system/program-files.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";

const NO_EVENTS: UnitEvents = { late: () => {}, ended: () => {} };

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function returnedOf(body: string, { apiUrl, imports = "" }: { apiUrl: string | (() => string); imports?: string }): Promise<unknown> {
  const folder = await temporaryFolder();
  const places = { entry: programFile("child.cjs"), runFolder: join(folder, "run"), packagesFolder: join(folder, "packages"), memoryMb: 256 };
  const enclosure = await openEnclosure("wall", { ...places, network: "public" });
  const runner = await ProcessRunner.start({
    ...places,
    enclosure,
    apiUrl: typeof apiUrl === "string" ? () => apiUrl : apiUrl,
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const code = `${imports}\nexport default { name: "t", version: "1", async run() { ${body} } };`;
  const bundle = { code, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
  const unit = await runner.start({ bundle, env: {}, state: {} }, NO_EVENTS);
  const method = { kind: "run", trigger: { kind: "manual", event: {} } } as const;
  const request = { id: "inv_1", method, configured: {}, dataStores: [], secrets: [], endpoint: "", deadlineMs: 20_000 } as const;
  const { returned, outcome } = await unit.call(request, { log: () => {}, respond: () => {} });
  expect(outcome).toEqual({ kind: "returned" });
  return JSON.parse(returned ?? "null");
}

const saying = (text: string): Server => createServer((socket) => socket.on("error", () => {}).end(text));
const echo = (): Server => createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).pipe(socket));

describe("--component-network public", () => {
  const ofThisMachine = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outward = ofThisMachine.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "10.0.0.1";

  it.each(["127.0.0.1", "localhost", "::1", "::ffff:127.0.0.1", "0.0.0.0", "2130706433", "0x7f.1", "169.254.169.254", "10.0.0.1", "192.168.1.1", outward])(
    "keeps a component from %s",
    async (host) => {
      const port = await listening(echo());
      const body = `return new Promise((resolve) => net.connect({ host: ${JSON.stringify(host)}, port: ${port} }, () => resolve("connected")).on("error", ({ code, message }) => resolve({ code, message })));`;
      const found = await returnedOf(body, { apiUrl: "http://127.0.0.1:1", imports: 'import net from "node:net";' });
      expect(found).toEqual({ code: expect.stringMatching(/EACCES|ENOTFOUND/), message: expect.stringContaining(" ") });
    },
  );

  it("leaves no network to what goes past the door", async () => {
    const body = `
      const others = Object.values(os.networkInterfaces()).flat().filter(({ internal }) => !internal);
      const sent = await new Promise((resolve) => dgram.createSocket("udp4").send("x", 9, "192.0.2.77", (error) => resolve(error?.code)));
      const asked = await new Promise((resolve) => { const resolver = new dns.Resolver({ timeout: 500, tries: 1 }); resolver.setServers(["192.0.2.77"]); resolver.resolve4("a.example", (error) => resolve(error.code)); });
      return { others, sent, asked };`;
    const imports = 'import dgram from "node:dgram"; import dns from "node:dns"; import os from "node:os";';
    const found = await returnedOf(body, { apiUrl: "http://127.0.0.1:1", imports });
    expect(found).toEqual({ others: [], sent: "ENETUNREACH", asked: "ECONNREFUSED" });
  });

  it("lets a component reach the API of this server, and nothing else at its address", async () => {
    const [server, other] = [await TestServer.start({ sandboxUse: "wall", componentNetwork: "public" }), await listening(echo())];
    const code = `export default { name: "t", version: "1", async run() {
      const status = await fetch("${server.apiUrl}/healthz").then(({ status }) => status);
      const elsewhere = await fetch("http://127.0.0.1:${other}").catch((error) => error.cause.code);
      return [status, elsewhere];
    } };`;
    const source = await server.deploy(code);
    expect((await source.run())["returned"]).toEqual([200, "EACCES"]);
    expect(dataOf(await server.api.get("/v1/status"))["component_network"]).toBe("public");
  });

  it("carries bytes both ways, many connections at once, whole and in order", async () => {
    const port = await listening(echo());
    const body = `
      const one = (index) => new Promise((resolve, reject) => {
        const sent = Buffer.alloc(300_000 + index, String.fromCharCode(97 + index % 26)), got = [];
        const socket = net.connect(${port}, "127.0.0.1");
        socket.write(sent.subarray(0, 10));
        socket.on("connect", () => socket.end(sent.subarray(10)));
        socket.on("data", (chunk) => got.push(chunk)).on("end", () => resolve(Buffer.concat(got).equals(sent))).on("error", reject);
      });
      return Promise.all(Array.from({ length: 60 }, (_, index) => one(index)));`;
    const found = await returnedOf(body, { apiUrl: `http://127.0.0.1:${port}`, imports: 'import net from "node:net";' });
    expect(found).toEqual(Array.from({ length: 60 }, () => true));
  });

  it("tells when nobody listens, and a socket that was closed may connect again", async () => {
    const closed = createServer();
    const free = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    const connect = (port: number): string =>
      `await new Promise((resolve) => socket.connect(${port}, "127.0.0.1", () => resolve("connected")).once("error", ({ code, syscall }) => resolve([code, syscall])))`;
    const body = `const socket = new net.Socket(); socket.on("error", () => {}); const first = ${connect(free)}; await new Promise((resolve) => setImmediate(resolve)); return [first, ${connect(free)}];`;
    const found = await returnedOf(body, { apiUrl: `http://127.0.0.1:${free}`, imports: 'import net from "node:net";' });
    expect(found).toEqual([
      ["ECONNREFUSED", "connect"],
      ["ECONNREFUSED", "connect"],
    ]);
  });

  it("never mixes connections up, also when a socket is used again before the first is there", async () => {
    const ports = [await listening(saying("A")), await listening(saying("B"))];
    let asked = 0;
    // Connections go to the API's address at that moment.
    const order = [0, 1, 0, 1, 0];
    const apiUrl = (): string => `http://127.0.0.1:${ports[order[asked++] ?? 0]}`;
    const body = `
      const read = (socket) => new Promise((resolve, reject) => { let text = ""; socket.on("data", (chunk) => (text += chunk)).once("end", () => resolve(text)).once("error", reject); });
      const socket = new net.Socket();
      socket.connect(${ports[0]}, "127.0.0.1"); socket.destroy(); socket.connect(${ports[1]}, "127.0.0.1");
      const found = [await read(socket)];
      for (const port of [${ports[0]}, ${ports[1]}, ${ports[0]}]) found.push(await read(net.connect(port, "127.0.0.1")));
      return found;`;
    expect(await returnedOf(body, { apiUrl, imports: 'import net from "node:net";' })).toEqual(["B", "A", "B", "A"]);
  });

  it("sends what was said and the end although both came before it was connected", async () => {
    const port = await listening(echo());
    const body = `return new Promise((resolve, reject) => {
      const socket = new net.Socket(); let text = "";
      socket.on("data", (chunk) => (text += chunk)).on("end", () => resolve([text, socket.remoteAddress, socket.remotePort])).on("error", reject);
      socket.connect(${port}, "127.0.0.1"); socket.write("one "); socket.end("two");
    });`;
    expect(await returnedOf(body, { apiUrl: `http://127.0.0.1:${port}`, imports: 'import net from "node:net";' })).toEqual(["one two", "127.0.0.1", port]);
  });

  it("tells of a connection that was broken off that it was", async () => {
    const port = await listening(createServer((socket) => socket.on("error", () => {}).once("data", () => socket.resetAndDestroy())));
    const body = `return new Promise((resolve) => net.connect(${port}, "127.0.0.1", function () { this.write("x"); }).once("error", ({ code }) => resolve(code)).once("end", () => resolve("end")).resume());`;
    expect(await returnedOf(body, { apiUrl: `http://127.0.0.1:${port}`, imports: 'import net from "node:net";' })).toBe("ECONNRESET");
  });

  it("leaves a component its own loopback", async () => {
    const body = `
      const server = http.createServer((request, response) => response.end("own"));
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const text = await (await fetch("http://127.0.0.1:" + server.address().port)).text();
      server.close(); server.closeAllConnections();
      return text;`;
    expect(await returnedOf(body, { apiUrl: "http://127.0.0.1:1", imports: 'import http from "node:http";' })).toBe("own");
  });

  it("outlives a component that ends while answers wait for it", async () => {
    const server = await TestServer.start({ sandboxUse: "wall", componentNetwork: "public" });
    const source = await server.deploy(`import dns from "node:dns"; export default { name: "t", version: "1", async run({ ends }) {
      if (!ends) return "alive";
      for (let n = 0; n < 50; n++) dns.lookup("localhost", () => {});
      await new Promise((resolve) => setImmediate(resolve));
      const started = Date.now(); while (Date.now() - started < 300);
      process.exit(1);
    } };`);
    expect((await source.run({ ends: true }))["outcome"]).toBe("exited");
    expect((await source.run({ ends: false }))["returned"]).toBe("alive");
  });

  it("gives places back at once, and refuses no one who closes what he has opened", async () => {
    const port = await listening(createServer((socket) => socket.on("error", () => {}).resume()));
    const body = `
      const failed = [];
      for (let round = 0; round < 40; round++)
        await Promise.all(Array.from({ length: 40 }, () => new Promise((resolve) => {
          const socket = net.connect(${port}, "127.0.0.1", () => { socket.destroy(); resolve(); });
          socket.on("error", ({ code }) => { failed.push(code); resolve(); });
        })));
      return failed;`;
    expect(await returnedOf(body, { apiUrl: `http://127.0.0.1:${port}`, imports: 'import net from "node:net";' })).toEqual([]);
  });

  it("carries http with connections that are kept, fetch and redirects", async () => {
    const server = createHttpServer((request, response) => {
      if (request.url === "/from") return response.writeHead(302, { location: "/to" }).end();
      return response.end(`${request.method} ${request.url}`);
    });
    const port = await listening(server);
    const body = `
      const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
      const get = (path) => new Promise((resolve, reject) => http.get({ host: "127.0.0.1", port: ${port}, path, agent }, (answer) => {
        let text = ""; answer.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
      }).on("error", reject));
      const kept = []; for (let n = 0; n < 5; n++) kept.push(await get("/" + n));
      return [kept.join(" "), await fetch("http://127.0.0.1:${port}/from").then((answer) => answer.text())];`;
    const found = await returnedOf(body, { apiUrl: `http://127.0.0.1:${port}`, imports: 'import http from "node:http";' });
    expect(found).toEqual(["GET /0 GET /1 GET /2 GET /3 GET /4", "GET /to"]);
  });

  it("carries TLS: its certificates are checked, and what is refused is told", async () => {
    const { key, cert } = await certificate();
    const port = await listening(createHttpsServer({ key, cert }, (_request, response) => response.end("secret")));
    const body = `
      const ca = ${JSON.stringify(cert)};
      const get = (options) => new Promise((resolve) => https.get({ host: "127.0.0.1", port: ${port}, ...options }, (answer) => {
        let text = ""; answer.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
      }).on("error", ({ code }) => resolve(code)));
      const raw = await new Promise((resolve) => { const socket = tls.connect({ host: "127.0.0.1", port: ${port}, ca }, () => { resolve(socket.authorized); socket.destroy(); }); });
      // A second error would be nobody's.
      const inside = await new Promise((resolve) => tls.connect({ host: "10.0.0.1", port: 443 }).once("error", ({ code }) => setTimeout(() => resolve(code), 50)));
      return [await get({ ca }), await get({ ca }), await get({}), raw, inside];`;
    const imports = 'import https from "node:https"; import tls from "node:tls";';
    const found = await returnedOf(body, { apiUrl: `https://127.0.0.1:${port}`, imports });
    expect(found).toEqual(["secret", "secret", expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/), true, "EACCES"]);
  });

  it("looks names up as far as they are public", async () => {
    const body = `
      const told = (promise) => promise.then((value) => value, ({ code }) => code);
      return [await told(dns.promises.lookup("127.0.0.1")), await told(dns.promises.lookup("localhost", { all: true })),
        await new Promise((resolve) => dns.lookup("localhost", (error) => resolve(error.code))), await told(dns.promises.resolve4("no-such-name.invalid"))];`;
    const found = await returnedOf(body, { apiUrl: "http://127.0.0.1:1", imports: 'import dns from "node:dns";' });
    expect(found).toEqual([{ address: "127.0.0.1", family: 4 }, "EACCES", "EACCES", expect.stringMatching(/^E[A-Z]+$/)]);
  });

  it("wants the wall, and says so", async () => {
    await expect(TestServer.start({ sandboxUse: "belt", componentNetwork: "public" })).rejects.toMatchObject({
      code: "PD_SANDBOX_UNAVAILABLE",
      message: "Cannot limit components to public addresses: this needs the wall, which is not available (--sandbox belt)",
    });
  });
});

async function certificate(): Promise<{ key: string; cert: string }> {
  const folder = await temporaryFolder();
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1";
  execFileSync("openssl", [...words.split(" "), "-keyout", "key.pem", "-out", "cert.pem"], { cwd: folder, stdio: "ignore" });
  const [key = "", cert = ""] = ["key.pem", "cert.pem"].map((name) => readFileSync(join(folder, name), "utf8"));
  return { key, cert };
}
