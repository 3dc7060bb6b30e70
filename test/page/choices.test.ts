import { expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";
import { openPage } from "./open-page.ts";

const CODE = `export default { name: "Chooses", version: "1", props: {
  http: { type: "$.interface.http", customResponse: true },
  owner: { type: "string", options: async () => ["ann", "bob"] },
  repo: { type: "string", options() { return [this.owner + "-one", this.owner + "-two"]; } },
  branch: { type: "string", optional: true, async options() { return [this.repo + "/main"]; } },
  color: { type: "string", optional: true, options: async () => ["red", "blue"] },
}, run() { this.http.respond({ status: 200, body: [this.owner, this.repo, this.branch, this.color].join(" ") }); } };`;

it("a choice that depends on another is cleared when that one changes, and others stay", async () => {
  const server = await TestServer.inMemory();
  const source = await server.client.sources.deploy({
    component_code: CODE,
    configured_props: { owner: "ann", repo: "ann-one", branch: "ann-one/main", color: "red" },
  });
  const page = await openPage(server, `/sources/${source.id}/configuration`);
  const choose = async (prop: string, choice: string): Promise<void> => {
    await page.getByRole("searchbox", { name: prop }).click();
    await page
      .getByRole("list", { name: `Choices of ${prop}` })
      .getByRole("button", { name: choice })
      .click();
  };
  const chosen = (choice: string) => page.getByRole("button", { name: `${choice} remove` });
  await choose("owner", "bob");
  await chosen("bob").waitFor();
  await chosen("ann-one").waitFor({ state: "detached" });
  await chosen("ann-one/main").waitFor({ state: "detached" });
  await chosen("red").waitFor();
  await choose("repo", "bob-two");
  await choose("branch", "bob-two/main");
  await choose("repo", "bob-one");
  await chosen("bob-two/main").waitFor({ state: "detached" });
  await choose("branch", "bob-one/main");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved: the source uses the new values").waitFor();
  expect(await (await fetch(source.endpoint_url ?? "")).text()).toBe("bob bob-one bob-one/main red");
});

it("a value that is typed into a field with choices counts without Enter", async () => {
  const server = await TestServer.inMemory();
  const page = await openPage(server, "/sources/new?by=code");
  await page.getByLabel("Code of the component").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(CODE);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("searchbox", { name: "owner" }).fill("carol");
  await page.getByRole("searchbox", { name: "repo" }).fill("carol-zero");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByText("No events yet").waitFor();
  const [source] = (await server.client.sources.list()).data;
  expect(source?.configured_props).toMatchObject({ owner: "carol", repo: "carol-zero" });
});
