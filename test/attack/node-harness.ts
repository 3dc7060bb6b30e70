/** Prints what one component returned. other-nodes.test.ts starts this with other versions of Node. */
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { openEnclosure } from "../../src/sandbox/wall/wall.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";

const [entry = "", sandbox = "", code = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "node-harness-"));
const packagesFolder = join(folder, "packages");
mkdirSync(packagesFolder);
const network = sandbox === "public" ? "public" : "open";
const places = { entry, runFolder: join(folder, "run"), packagesFolder, memoryMb: 256, network } as const;
const [api, other] = [await serve("api"), await serve("other")];
const runner = await ProcessRunner.start({
  ...places,
  enclosure: await openEnclosure(sandbox === "belt" ? "belt" : "wall", places),
  apiUrl: () => api,
  clock: systemClock,
  log: silentLog,
});
const bundle = { code, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
const env = { TARGET: folder, SERVER_PID: String(process.pid), API: api, OTHER: other };
const unit = await runner.start({ bundle, env, state: {} }, { late: () => {}, ended: () => {} });
const method = { kind: "run", trigger: { kind: "manual", event: {} } } as const;
const request = { id: "inv_1", method, configured: {}, dataStores: [], secrets: [], endpoint: "", deadlineMs: 10_000 } as const;
const { returned, outcome } = await unit.call(request, { log: () => {}, respond: () => {} });
process.stdout.write(`${JSON.stringify({ returned: JSON.parse(returned ?? "null"), outcome, version: process.version })}\n`);
await runner[Symbol.asyncDispose]();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

async function serve(name: string): Promise<string> {
  const server = createServer((request, response) => request.pipe(response.setHeader("x-name", name)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
