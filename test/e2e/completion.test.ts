import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Attachments } from "../../src/cli/code/attachments.ts";
import { PdHome } from "../support/pd.ts";

const CODE = `export default { name: "Orders", version: "1", dedupe: "unique",
  props: {
    db: "$.service.db", crm: { type: "app", app: "crm" },
    size: { type: "string", label: "Size", options: ["small", "large"] }, loud: { type: "boolean", optional: true },
  },
  run(event) { this.db.set("cursor", 1); this.$emit(event, { id: 1, summary: "First\\norder" }); } };`;

async function filled() {
  const home = await PdHome.inProcess();
  await home.up();
  const path = await home.file("orders.mjs", CODE);
  await home.pd("accounts", "connect", "crm", "--name", "main", "--field", "api_key=k");
  await home.json("deploy", path, "--prop", "crm=main", "--prop", "size=small");
  const { id } = await home.json("describe", "orders");
  const run = await home.json("run", "orders");
  await home.pd("stores", "create", "shared");
  await home.pd("stores", "set", "shared", "color", "1");
  const offered = async (...words: string[]): Promise<string[]> => {
    const { stdout } = await home.pd("complete", "--", ...words);
    return stdout.split("\n").filter((line) => line !== "");
  };
  return { home, offered, run, id: String(id) };
}

const values = (lines: readonly string[]): string[] => lines.map((line) => line.split("\t")[0] ?? "");

describe("whoever presses Tab", () => {
  it("is offered commands, flags and their own words, with what they are", async () => {
    const home = await PdHome.inProcess();
    const offered = async (...words: string[]) => (await home.pd("complete", "--", ...words)).stdout.trimEnd().split("\n");
    expect(values(await offered("de"))).toEqual(["dev", "deploy", "delete", "describe", "deliveries"]);
    expect(await offered("deplo")).toEqual([expect.stringMatching(/^deploy\t\S/)]);
    expect(values(await offered("deploy", "--prop"))).toEqual(["--prop", "--props"]);
    expect(values(await offered("accounts", "re"))).toEqual(["reconnect", "rename"]);
    expect(values(await offered("list", ""))).toEqual(["sources", "workflows", "components", "streams"]);
    expect(values(await offered("completion", "z"))).toEqual(["zsh"]);
    expect(values(await offered("deploy", "--ho"))).toEqual(["--home"]);
    expect(values(await offered("--pro"))).toEqual(["--profile"]);
    expect(values(await offered("-p", "local", "--home", "/a", "deplo"))).toEqual(["deploy"]);
    expect(await offered("backup", "")).toEqual([":files"]);
    expect(await offered("deploy", "--props", "")).toEqual([":files"]);
    expect(await offered("complet")).toEqual([expect.stringMatching(/^completion\t/)]);
  });

  it("is offered what there is on the server: sources, events, invocations, keys, stores, accounts", async () => {
    const { offered, run } = await filled();
    expect(await offered("events", "or")).toEqual(["orders\tOrders"]);
    expect(await offered("dev", "--dc", "")).toEqual(["orders\tOrders"]);
    for (const words of [["runs"], ["deliveries"], ["deliveries", "retry"]]) expect(values(await offered(...words, "or"))).toEqual(["orders"]);
    expect(values(await offered("deploy", "or"))).toEqual(["orders", ":files"]);
    expect(await offered("emit", "orders", "")).toEqual([expect.stringMatching(/^\d+-\d+\tFirst order$/)]);
    expect(values(await offered("replay", "orders", ""))).toContain(String(run["id"]));
    expect(values(await offered("db", "get", "orders", "c"))).toEqual(["cursor"]);
    expect(values(await offered("stores", "get", "s"))).toEqual(["shared"]);
    expect(values(await offered("stores", "get", "shared", ""))).toEqual(["color"]);
    expect(await offered("accounts", "test", "")).toEqual(["main\tcrm"]);
    expect(values(await offered("export", "orders", ""))).toEqual(["orders"]);
  });

  it("is offered props of a source, or of a file that was saved to one, and what they may be", async () => {
    const { home, offered, id } = await filled();
    expect(await offered("deploy", "orders.mjs", "--prop", "si")).toEqual([]);
    await new Attachments(home.home, "").keep(join(home.folder, "orders.mjs"), id);
    expect(await offered("update", "orders", "--prop", "")).toEqual([expect.stringMatching(/^crm=/), "size=\tSize", "loud=\t"]);
    expect(values(await offered("deploy", "orders.mjs", "--prop", "si"))).toEqual(["size="]);
    expect(values(await offered("deploy", "orders.mjs", "--prop", "size="))).toEqual(["size=small", "size=large"]);
    expect(values(await offered("update", "orders", "--name", "--prop", "--prop", "loud=t"))).toEqual(["loud=true"]);
    expect(values(await offered("update", "orders", "--prop", "crm="))).toEqual(["crm=main"]);
    expect(values(await offered("options", "orders", "l"))).toEqual(["loud"]);
  });

  it("is offered nothing that would end the line or hide something, and no code of a file is run for it", async () => {
    const { home, offered } = await filled();
    await home.pd("stores", "set", "shared", "two\nlines\t:files", "1");
    await home.pd("stores", "set", "shared", "\u001b[2Jgone", "1");
    expect(values(await offered("stores", "get", "shared", ""))).toEqual(["color"]);
    await home.file("loud.mjs", 'throw new Error("it was run"); export default { name: "L", version: "1", props: { a: "string" }, run() {} };');
    expect(await offered("deploy", "loud.mjs", "--prop", "")).toEqual([]);
  });

  it("is offered nothing, without a word, where nothing is known, and no server is started", async () => {
    const home = await PdHome.inProcess();
    for (const words of [
      ["events", ""],
      ["emit", "none", ""],
      ["deploy", "none.mjs", "--prop", ""],
      ["nonsense", ""],
      ["deploy", "--nonsense", ""],
      ["events", "-p", "nobody", ""],
      [],
    ]) {
      const { code, stderr } = await home.pd("complete", "--", ...words);
      expect([words, code, stderr]).toEqual([words, 0, ""]);
    }
    expect((await home.pd("status")).code).not.toBe(0);
  });
});
