/** Starts PostgreSQL with its usual settings, prints its folder, and stops when its input ends. */
import { PostgresServer } from "../support/postgres-server.ts";

const server = await PostgresServer.start([]);
process.stdout.write(`${server.folder}\n`);
process.stdin.resume().once("end", () => void server[Symbol.asyncDispose]());
