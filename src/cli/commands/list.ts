import { everyPage } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import { type CliContext, connect } from "../context.ts";
import { printNote, printRecords } from "../reporter.ts";
import { listWorkflows } from "./workflows.ts";

/** `pd list [sources|workflows|components|streams]`. */
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
    case "workflows":
    case "wf":
      return listWorkflows(cli);
    default:
      throw new PdError("PD_BAD_INPUT", `Cannot list ${JSON.stringify(kind)}: there are sources, workflows, components and streams`, {
        fix: "pd list sources",
      });
  }
}

async function listSources(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const sources = await everyPage(client.sources.list);
  for (const { name_slug: slug, problems = [] } of sources) for (const problem of problems) printNote(cli, `${slug}: ${problem}`);
  return printRecords(cli, sources, {
    columns: ["name", "id", "active", "version", "endpoint"],
    cells: (source) => [source.name_slug, source.id, source.active ? "yes" : "no", source.component_version, source.endpoint_url],
    none: "No sources yet: pd deploy <file>, or pd init source <name> for one to begin with",
  });
}

async function listComponents(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await everyPage(client.components.list), {
    columns: ["name", "id", "version", "key", "published"],
    cells: ({ name, id, version, key, published }) => [name, id, version, key, published ? "yes" : "no"],
    none: "No components yet: pd publish <file> keeps one",
  });
}

async function listStreams(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const streams = (await everyPage(client.sources.list)).map(({ id, name_slug: name }) => ({
    name,
    type: "source",
    visibility: "private",
    sse: `${client.connection.baseUrl}/sse/dc/${id}/emits`,
  }));
  return printRecords(cli, streams, {
    columns: ["name", "type", "visibility", "sse"],
    cells: ({ name, type, visibility, sse }) => [name, type, visibility, sse],
    none: "No sources yet, so there are no streams",
  });
}
