import { describe, expect, it } from "vitest";
import { dataOf } from "../support/api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { componentParams } from "../support/components.ts";
import { published } from "../support/published.ts";
import { DeployedSource, TestServer } from "../support/runtime.ts";
import { startMySql, startPostgres } from "./database-servers.ts";

async function deployed(server: TestServer, path: string, props: JsonObject): Promise<DeployedSource> {
  return new DeployedSource(server, dataOf(await server.api.post("/v1/sources", { ...(await componentParams(published(path))), configured_props: props })));
}

async function run(server: TestServer, path: string, props: JsonObject): Promise<JsonObject> {
  return server.api.post("/v1/actions/run", { ...(await componentParams(published(path))), configured_props: props });
}

async function choices(server: TestServer, path: string, { prop, props, ...more }: { prop: string; props: JsonObject } & JsonObject): Promise<unknown> {
  const code = await componentParams(published(path));
  return (await server.api.post("/v1/components/configure", { ...code, prop_name: prop, configured_props: props, ...more }))["string_options"];
}

describe("published components of databases run against real servers:", () => {
  it("postgresql-new-row emits what is there on deploy, then each new row, in the order of its key; choices depend on each other", async () => {
    const [server, postgres] = [await TestServer.start(), await startPostgres()];
    postgres.query("create schema shop; create table shop.orders (id serial primary key, name text); insert into shop.orders (name) values ('a'), ('b');");
    const postgresql = { host: "127.0.0.1", port: postgres.port, user: "app", password: "x", database: "postgres", ssl_verification_mode: "skip_verification" };
    const path = "postgresql/sources/new-row/new-row.mjs";
    expect(await choices(server, path, { prop: "schema", props: { postgresql } })).toContain("shop");
    expect(await choices(server, path, { prop: "table", props: { postgresql, schema: "shop" } })).toEqual(["orders"]);
    expect(await choices(server, path, { prop: "column", props: { postgresql, schema: "shop", table: "orders" } })).toEqual(["id", "name"]);
    const source = await deployed(server, path, { postgresql, schema: "shop", table: "orders" });
    const rows = async () =>
      (await source.events()).map(({ event, metadata }) => ({ event, id: (metadata as JsonObject)["id"], summary: (metadata as JsonObject)["summary"] }));
    const row = (id: number, name: string) => ({ event: { id, name }, id: String(id), summary: "New Row Added" });
    expect(new Set(await rows())).toEqual(new Set([row(1, "a"), row(2, "b")]));
    postgres.query("insert into shop.orders (name) values ('c'); update shop.orders set name = 'changed' where id = 1;");
    await source.run();
    await source.run();
    expect((await rows()).slice(2)).toEqual([row(3, "c")]);
    expect(await source.state()).toMatchObject({ column: "id", lastResult: 3 });
  });

  it("postgresql-new-row-custom-query emits the rows of a query once each", async () => {
    const [server, postgres] = [await TestServer.start(), await startPostgres()];
    postgres.query("create table orders (id serial primary key, total int); insert into orders (total) values (5), (50);");
    const postgresql = { host: "127.0.0.1", port: postgres.port, user: "app", password: "x", database: "postgres", ssl_verification_mode: "skip_verification" };
    const source = await deployed(server, "postgresql/sources/new-row-custom-query/new-row-custom-query.mjs", {
      postgresql,
      schema: "public",
      table: "orders",
      column: "id",
      query: "select * from orders where total > $1",
      values: ["10"],
    });
    await source.run();
    postgres.query("insert into orders (total) values (60), (6);");
    await source.run();
    await source.run();
    expect(await source.payloads()).toEqual([
      { id: 2, total: 50 },
      { id: 3, total: 60 },
    ]);
  });

  it("postgresql's actions query with the sql prop, find rows by paged values, and tell their tables", async () => {
    const [server, postgres] = [await TestServer.start(), await startPostgres()];
    postgres.query("create table people (id serial primary key, name text); insert into people (name) select 'p' || n from generate_series(1, 25) n;");
    const postgresql = { host: "127.0.0.1", port: postgres.port, user: "app", password: "x", database: "postgres", ssl_verification_mode: "skip_verification" };
    const query = "postgresql/actions/execute-custom-query/execute-custom-query.mjs";
    expect(await run(server, query, { postgresql, sql: "select count(*)::int as n from people" })).toMatchObject({
      ret: [{ n: 25 }],
      exports: { $summary: "Returned 1 row" },
    });
    expect(await run(server, query, { postgresql, sql: { query: "select name from people where id = $1", params: [2] } })).toMatchObject({
      ret: [{ name: "p2" }],
    });
    expect(await run(server, query, { postgresql, sql: "select nothing" })).toMatchObject({
      outcome: "threw",
      message: expect.stringContaining('column "nothing" does not exist'),
    });
    const schema = await server.api.post("/v1/components/configure", {
      ...(await componentParams(published(query))),
      prop_name: "sql",
      configured_props: { postgresql },
    });
    expect(schema).toMatchObject({ context: { dbInfo: { people: { schema: { name: { dataType: "text" } } } } } });
    const find = "postgresql/actions/find-row/find-row.mjs";
    const props = { postgresql, schema: "public", table: "people", column: "id" };
    expect(await choices(server, find, { prop: "value", props })).toHaveLength(20);
    expect(await choices(server, find, { prop: "value", props, page: 1, prev_context: { offset: 20 } })).toHaveLength(5);
    expect(await run(server, find, { ...props, value: "7" })).toMatchObject({ ret: { id: 7, name: "p7" }, exports: { $summary: "Row found" } });
  });

  it("mysql-new-row and mysql-new-table poll a real server, and its actions write to it", async () => {
    const [server, mysqlServer] = [await TestServer.start(), await startMySql()];
    mysqlServer.query("use app; create table orders (id int auto_increment primary key, name varchar(20)); insert into orders (name) values ('a'), ('b');");
    const mysql = {
      host: "127.0.0.1",
      port: String(mysqlServer.port),
      username: "app",
      password: "secret",
      database: "app",
      ssl_verification_mode: "skip_verification",
    };
    const path = "mysql/sources/new-row/new-row.mjs";
    expect(await choices(server, path, { prop: "table", props: { mysql } })).toEqual(["orders"]);
    expect(await choices(server, path, { prop: "column", props: { mysql, table: "orders" } })).toEqual(["id", "name"]);
    const rows = await deployed(server, path, { mysql, table: "orders", column: "id" });
    const tables = await deployed(server, "mysql/sources/new-table/new-table.mjs", { mysql });
    expect(new Set(await rows.payloads())).toEqual(
      new Set([
        { id: 1, name: "a" },
        { id: 2, name: "b" },
      ]),
    );
    const insert = await run(server, "mysql/actions/execute-raw-query/execute-raw-query.mjs", { mysql, sql: "insert into orders (name) values ('c')" });
    expect(insert).toMatchObject({ outcome: "returned", ret: { affectedRows: 1, insertId: 3 } });
    mysqlServer.query("use app; create table later (id int primary key);");
    for (const source of [rows, tables]) await source.run();
    await rows.run();
    expect((await rows.events()).at(-1)).toMatchObject({ event: { id: 3, name: "c" }, metadata: { id: "3", summary: "New Row Added id: 3" } });
    expect(await rows.payloads()).toHaveLength(3);
    expect(JSON.stringify(await tables.payloads())).toContain("later");
    const found = await run(server, "mysql/actions/find-row/find-row.mjs", { mysql, table: "orders", column: "name", operator: "=", value: "b" });
    expect(JSON.stringify(found["ret"])).toContain('"id":2');
  });
});
