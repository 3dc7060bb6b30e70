import { expect, it } from "vitest";
import { startHttpServer } from "../support/http-server.ts";
import { TestServer } from "../support/runtime.ts";
import { openPage } from "./open-page.ts";

it("an account is not tested until somebody tests it, and again after its credentials were changed", async () => {
  const url = await startHttpServer((request, response) => response.writeHead(request.headers.authorization === "Bearer good" ? 200 : 401).end());
  const server = await TestServer.inMemory();
  const { id } = await server.client.accounts.connect({ app: "demo", name: "mine", credentials: { token: "good" } });
  const page = await openPage(server, "/accounts");
  await page.getByText("not tested").waitFor();
  const test = () => server.client.accounts.test(id, { url, headers: { authorization: "Bearer {token}" } });
  expect(await test()).toMatchObject({ verdict: "accepted" });
  await page.reload();
  await page.locator(".state.good", { hasText: "working" }).waitFor();
  await server.client.accounts.update(id, { credentials: { token: "bad" } });
  await page.reload();
  await page.getByText("not tested").waitFor();
  expect(await test()).toMatchObject({ verdict: "refused" });
  await page.reload();
  await page.getByText("not working").waitFor();
});
