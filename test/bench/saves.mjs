import { spawn } from "node:child_process";
import { Agent, get } from "node:http";
import { writeFileSync } from "node:fs";
import { env, pd, sleep } from "./support.mjs";

export function answering(version, { name, imports = "" }) {
  return `${imports}\nexport default { name: "${name}", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ status: 200, body: "${version}" }); } };\n`;
}

export async function dev(path) {
  const session = spawn(process.execPath, [pd, "dev", path], { env, stdio: ["ignore", "pipe", "inherit"] });
  let shown = "";
  await new Promise((resolve) => session.stdout.setEncoding("utf8").on("data", (text) => (shown += text).includes("Ready for updates!") && resolve()));
  return { session, endpoint: /Endpoint: (\S+)/.exec(shown)[1] };
}

const agent = new Agent({ keepAlive: true });

function ask(url) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve(text));
    });
    request.on("error", reject);
  });
}

/** Milliseconds to the new code's first answer, polled every millisecond. */
export async function save(path, code, { url, text }) {
  const started = performance.now();
  writeFileSync(path, code);
  while ((await ask(url)) !== text) await sleep(1);
  return performance.now() - started;
}
