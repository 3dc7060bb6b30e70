import { defineConfig } from "vitepress";

/** A guide, by its name in `docs`. */
const page = (text, name) => ({ text, link: `/docs/${name}` });
/** A file beside `docs`. */
const file = (text, name) => ({ text, link: `/${name}` });

/** The documentation site: the guides of `docs`, in the order in which they are read. */
export default defineConfig({
  title: "Headwater",
  description: "Runs event-source components on your own machine",
  cleanUrls: true,
  markdown: {
    // Expressions of workflows are written as the site's own templates are, and are no templates here.
    config(markdown) {
      const { code_inline: render } = markdown.renderer.rules;
      markdown.renderer.rules.code_inline = (...given) => render(...given).replace("<code", "<code v-pre");
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [file("Guide", ""), page("Commands", "commands"), page("API", "api")],
    sidebar: [
      {
        text: "Begin",
        items: [
          file("What it is", ""),
          page("The command", "command"),
          page("The web page", "page"),
          page("Published components", "published-components"),
          page("Accounts", "accounts"),
        ],
      },
      {
        text: "Write",
        items: [
          page("Types and tests", "testing"),
          page("A debugger", "debugging"),
          page("Workflows", "workflows"),
          page("Compatibility", "compatibility"),
          page("Sources in Git", "git"),
          page("Agents", "agents"),
        ],
      },
      {
        text: "Run",
        items: [
          page("Webhooks", "webhooks"),
          page("A server that others use", "operating"),
          page("PostgreSQL", "postgresql"),
          page("Cluster", "cluster"),
          page("What is promised", "promises"),
          page("Performance", "performance"),
          file("Security", "SECURITY"),
        ],
      },
      { text: "Look up", items: [page("Commands and flags", "commands"), page("The API and the client", "api"), file("Changes", "CHANGELOG")] },
      {
        text: "Take part",
        items: [file("How it is built", "ARCHITECTURE"), page("Why so", "decisions/README"), file("Contributing", "CONTRIBUTING")],
      },
    ],
  },
});
