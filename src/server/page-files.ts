import { readFile, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Context, Hono } from "hono";
import { codeOf } from "../domain/errors.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const SECTIONS = ["sources", "workflows", "webhooks", "accounts", "actions", "stores", "schedule", "status", "search", "components"];

const OF_PROGRAMS = /^\/(v1|sse|metrics|mcp)(\/|$)/;

/** Only this server's files run, no site may frame the page, and its address is no referrer. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify 'allow-duplicates'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

export function mountPage(app: Hono, folder: string): void {
  const show = (context: Context): Promise<Response> => answer(context, folder, "index.html");
  app.get("/", show);
  for (const section of SECTIONS) {
    app.get(`/${section}`, show);
    app.get(`/${section}/*`, (context, next) => (isStream(context) ? next() : show(context)));
  }
  // Looked up in the folder's list, so the name cannot lead elsewhere.
  app.get("/assets/:name", (context) => answer(context, join(folder, "assets"), context.req.param("name")));
}

/** The page tells a browser that there is nothing at this address. Undefined for a program. */
export async function pageForBrowser(context: Context, folder: string): Promise<Response | undefined> {
  const { req } = context;
  if (req.method !== "GET" || OF_PROGRAMS.test(req.path) || isStream(context) || !(req.header("accept") ?? "").includes("text/html")) return undefined;
  const { body, headers } = await answer(context, folder, "index.html");
  return new Response(body, { status: 404, headers });
}

function isStream({ req }: Context): boolean {
  return req.path.endsWith("/sse");
}

async function answer(context: Context, folder: string, name: string): Promise<Response> {
  const names = await namesIn(folder);
  if (!names.includes(name)) return context.text("This file does not exist", 404, HEADERS);
  const accepted = context.req.header("accept-encoding") ?? "";
  const packing = (
    [
      ["br", "br"],
      ["gzip", "gz"],
    ] as const
  ).find(([coding, ending]) => accepted.includes(coding) && names.includes(`${name}.${ending}`));
  const body = await readFile(join(folder, packing === undefined ? name : `${name}.${packing[1]}`));
  return new Response(new Uint8Array(body), {
    headers: {
      ...HEADERS,
      "content-type": TYPES[extname(name)] ?? "application/octet-stream",
      // Asset names contain a hash. index.html refers to them and must be revalidated.
      "cache-control": name === "index.html" ? "no-cache" : "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(packing === undefined ? {} : { "content-encoding": packing[0] }),
    },
  });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
