import { z } from "zod";

/** What runs here. */
export const status = z.object({
  version: z.string(),
  pid: z.int(),
  in_background: z.boolean().describe("a command has started it"),
  home: z.string(),
  secret_key: z.enum(["keyring", "file", "environment"]),
  api_url: z.string(),
  endpoint_url: z.string(),
  started_at_ms: z.int(),
  sources: z.int(),
  processes: z.int().optional().describe("processes of components"),
  sandbox: z.enum(["wall", "belt"]).describe("what encloses components"),
  no_wall: z.string().optional().describe("why there is no wall"),
  component_network: z.enum(["open", "public"]).describe("what components reach; public: neither this machine nor its network"),
  damage: z.string().optional().describe("what is wrong with the database, which is not written any more"),
});
