import { describe, expect, it } from "vitest";
import { Guide } from "../support/guide.ts";
import { PostgresServer } from "../support/postgres-server.ts";

describe("docs/postgresql.md", () => {
  it("leads to a server on PostgreSQL, and to one whose secret key comes from outside", async () => {
    await using server = await PostgresServer.start();
    const guide = await Guide.open("docs/postgresql.md", { PGHOST: server.folder, PGUSER: "headwater" });
    const first = await guide.runs();
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^Database: +PostgreSQL \d/m)]);
    // With another key, the secrets of this database cannot be opened.
    await server.ask("drop database headwater");
    await server.ask("create database headwater");
    const second = await guide.runs("sh", (text) => `export PD_DATABASE_URL=postgres:///headwater\n${text}`);
    expect([second.code, second.stdout]).toEqual([0, expect.stringMatching(/^Secret key: +environment/m)]);
    await server.ask("drop database headwater");
    await server.ask("create database headwater");
    await guide.home.pd("up", "--detach", "--home", "./sqlite");
    await guide.home.pd("down", "--home", "./sqlite");
    const third = await guide.runs();
    expect([third.code, third.stdout]).toEqual([0, expect.stringMatching(/^(Copied and compared \d+ rows\n){2}/)]);
  });
});

describe("docs/cluster.md", () => {
  it("leads from nothing to two nodes, of which one is killed and the other leads", async () => {
    await using server = await PostgresServer.start();
    const guide = await Guide.open("docs/cluster.md", { PGHOST: server.folder, PGUSER: "headwater" });
    const first = await guide.runs("sh", (text) => text.replace(" --port 4151 --endpoint-port 4152", ""));
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/leading(.*\n)+.*standby|standby(.*\n)+.*leading/)]);
    const second = await guide.runs();
    expect([second.code, second.stdout]).toEqual([0, expect.stringMatching(/leading(.*\n)+orders /)]);
    // These need containers, and two machines.
    for (const _block of ["containers", "drain"]) guide.next("console");
  });
});
