import { type SpawnOptions, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { eventually } from "../support/runtime.ts";

export interface DatabaseServer {
  readonly port: number;
  query(sql: string): void;
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root. */
function ownerNamed(name: string): Owner {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync("id", [flag, name]).toString());
  return { uid: id("-u"), gid: id("-g") };
}

export async function startPostgres(): Promise<DatabaseServer> {
  const [folder, port, owner] = [await temporaryFolder(), await freePort(), ownerNamed("postgres")];
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const [version] = readdirSync("/usr/lib/postgresql").toSorted((a, b) => Number(b) - Number(a));
  const bin = (name: string): string => `/usr/lib/postgresql/${version}/bin/${name}`;
  const data = join(folder, "data");
  const tls = selfSigned(folder);
  for (const path of [tls.key, tls.cert]) if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid);
  execFileSync(bin("initdb"), ["-D", data, "-U", "app", "-A", "trust", "--no-sync"], { ...owner, cwd: folder, stdio: "pipe" });
  await startProcess(
    bin("postgres"),
    [
      "-D",
      data,
      "-p",
      String(port),
      "-h",
      "127.0.0.1",
      "-k",
      folder,
      "-c",
      "fsync=off",
      "-c",
      "ssl=on",
      "-c",
      `ssl_key_file=${tls.key}`,
      "-c",
      `ssl_cert_file=${tls.cert}`,
    ],
    { ...owner, cwd: folder },
  );
  const query = (sql: string): void => {
    execFileSync(bin("psql"), ["-h", "127.0.0.1", "-p", String(port), "-U", "app", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", sql], { stdio: "pipe" });
  };
  await untilAnswering(() => query("select 1"));
  return { port, query };
}

export async function startMySql(): Promise<DatabaseServer> {
  const [folder, port] = [await temporaryFolder(), await freePort()];
  const data = join(folder, "data");
  const socket = join(folder, "sql.sock");
  const tls = selfSigned(folder);
  await mkdir(data);
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  execFileSync("mariadb-install-db", ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal", "--skip-test-db", ...user], {
    stdio: "pipe",
  });
  await startProcess(
    "mariadbd",
    [
      "--no-defaults",
      `--datadir=${data}`,
      `--port=${port}`,
      `--socket=${socket}`,
      "--bind-address=127.0.0.1",
      "--skip-name-resolve",
      `--ssl-key=${tls.key}`,
      `--ssl-cert=${tls.cert}`,
      ...user,
    ],
    { cwd: folder },
  );
  const query = (sql: string): void => {
    execFileSync("mariadb", ["--no-defaults", `--socket=${socket}`, "-u", "root", "-e", sql], { stdio: "pipe" });
  };
  await untilAnswering(() => query("select 1"));
  query("create database app; create user app@'%' identified by 'secret'; grant all on *.* to app@'%';");
  return { port, query };
}

/** The published apps require TLS. */
function selfSigned(folder: string): { key: string; cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  chmodSync(key, 0o600);
  return { key, cert };
}

async function startProcess(command: string, words: readonly string[], options: SpawnOptions): Promise<void> {
  const child = spawn(command, words, { ...options, stdio: "ignore" });
  await once(child, "spawn");
  onTestFinished(async () => {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  });
}

async function untilAnswering(ask: () => void): Promise<void> {
  await eventually(async () => {
    try {
      ask();
      return true;
    } catch {
      return false;
    }
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
