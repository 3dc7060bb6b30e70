import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpServer } from "./http-server.ts";

export function startGitServer(folder: string, login: string): Promise<string> {
  return startHttpServer((request, response) => void serve(request, response, { folder, login }));
}

async function serve(request: IncomingMessage, response: ServerResponse, { folder, login }: { folder: string; login: string }): Promise<void> {
  if (request.headers.authorization !== `Basic ${Buffer.from(login).toString("base64")}`)
    return void response.writeHead(401, { "www-authenticate": "Basic" }).end();
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const env = {
    ...process.env,
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers["content-type"] ?? "",
    HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
    GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
  };
  const program = spawn("git", ["http-backend"], { env, stdio: ["pipe", "pipe", "inherit"] });
  request.pipe(program.stdin);
  const chunks: Buffer[] = [];
  for await (const chunk of program.stdout) chunks.push(chunk);
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf("\r\n\r\n");
  const headers = answer
    .subarray(0, end)
    .toString()
    .split("\r\n")
    .map((line) => line.split(/: (.*)/));
  const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
  response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== "Status")));
  response.end(answer.subarray(end + 4));
}
