import { PdError } from "../../domain/errors.ts";
import { type CliContext, connect } from "../context.ts";
import { printNote, printRecords, text } from "../reporter.ts";

/** `pd list [sources|components|streams]`. */
export async function list(cli: CliContext, kind: string): Promise<number> {
  switch (kind) {
    case "sources":
    case "so":
      return listSources(cli);
    case "components":
      return listComponents(cli);
    case "streams":
    case "st":
      return listStreams(cli);
    default:
      throw new PdError("PD_BAD_INPUT", `Cannot list ${JSON.stringify(kind)}: there are sources, components and streams`, { fix: "pd list sources" });
  }
}

async function listSources(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const sources = await client.all("/v1/users/me/sources");
  for (const source of sources)
    for (const problem of Array.isArray(source["problems"]) ? source["problems"] : []) printNote(cli, `${text(source, "name_slug")}: ${String(problem)}`);
  return printRecords(cli, sources, {
    columns: ["name", "id", "active", "version", "endpoint"],
    cells: (source) => [
      text(source, "name_slug"),
      text(source, "id"),
      source["active"] === true ? "yes" : "no",
      text(source, "component_version"),
      text(source, "endpoint_url"),
    ],
    none: "No sources yet: pd deploy <file>, or pd init source <name> for one to begin with",
  });
}

async function listComponents(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await client.all("/v1/components"), {
    columns: ["name", "id", "version", "key", "published"],
    cells: (component) => [...["name", "id", "version", "key"].map((member) => text(component, member)), component["published"] === true ? "yes" : "no"],
    none: "No components yet: pd publish <file> keeps one",
  });
}

async function listStreams(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const sources = await client.all("/v1/users/me/sources");
  const streams = sources.map((source) => ({
    name: text(source, "name_slug"),
    type: "source",
    visibility: "private",
    sse: `${client.baseUrl}/sse/dc/${text(source, "id")}/emits`,
  }));
  return printRecords(cli, streams, {
    columns: ["name", "type", "visibility", "sse"],
    cells: (stream) => ["name", "type", "visibility", "sse"].map((member) => text(stream, member)),
    none: "No sources yet, so there are no streams",
  });
}
