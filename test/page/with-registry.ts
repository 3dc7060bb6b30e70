import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";

export async function withRegistry(start = (): Promise<TestServer> => TestServer.inMemory()): Promise<TestServer> {
  const folder = await temporaryFolder();
  const files = {
    "components/shop/shop.app.mjs":
      'export default { type: "app", app: "shop", propDefinitions: { branch: { type: "string", label: "Branch", options({ page }) { return page < 2 ? [{ label: "Branch " + page + " of " + this.$auth.api_key, value: "b" + page }] : []; } } } };',
    "components/shop/sources/new-order/new-order.mjs": `import shop from "../../shop.app.mjs";
export default { key: "shop-new-order", name: "New Order", description: "Emits [orders](https://example.com) as **they** come <img src=x onerror=alert(1)>", version: "0.0.1", type: "source",
  props: { shop, http: { type: "$.interface.http", customResponse: true }, branch: { propDefinition: [shop, "branch"], reloadProps: true }, most: { type: "integer", min: 1 } },
  async additionalProps() { return this.branch ? { ["note_" + this.branch]: { type: "string", label: "Note for " + this.branch } } : {}; },
  run(event) { this.http.respond({ status: 200, body: [this.branch, this.most, this["note_" + this.branch]].join(" ") }); this.$emit(event.body, { summary: "It came" }); } };`,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const server = await start();
  await server.client.registries.remove("pipedream");
  await server.client.registries.add({ name: "mine", kind: "folder", location: folder });
  return server;
}
