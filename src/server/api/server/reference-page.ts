import { escapedHtml } from "../../../domain/text/html.ts";
import type { Route } from "../route.ts";

/** Loads nothing from other sites. */
export function referencePage(routes: readonly Route[], version: string): string {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const calls = routes.filter((declared) => declared.tag === tag).map(callEntry);
    return `<section><h2>${escapedHtml(tag)}</h2>${calls.join("")}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Headwater API</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
  summary { cursor: pointer; padding: .3rem 0; }
  code { font-family: ui-monospace, monospace; font-size: .9em; }
  .method { display: inline-block; min-width: 4.5em; font-weight: 600; }
  dl { margin: .2rem 0 1rem 1.2rem; } dt { font-weight: 600; } dd { margin: 0 0 .3rem 1rem; }
</style></head>
<body><h1>Headwater API <small>${escapedHtml(version)}</small></h1>
<p>Each call needs <code>Authorization: Bearer &lt;key&gt;</code>. Parameters go in the query or in a JSON body; every list and record accepts
<code>include</code> and <code>exclude</code>. Machine-readable: <a href="/v1/openapi.json">openapi.json</a>.</p>
${sections.join("\n")}
</body></html>
`;
}

function callEntry({ address, summary, params }: Route): string {
  const [method, path = ""] = address.split(" ");
  const members = Object.entries(params.shape).map(
    ([name, schema]) => `<dt><code>${escapedHtml(name)}</code></dt><dd>${schema.isOptional() ? "optional" : "required"}</dd>`,
  );
  const list = members.length === 0 ? "<p>No parameters.</p>" : `<dl>${members.join("")}</dl>`;
  return `<details><summary><code><span class="method">${method}</span>${escapedHtml(path)}</code> — ${escapedHtml(summary)}</summary>${list}</details>`;
}
