import { PdError } from "../../domain/errors.ts";
import { type CliContext, connect } from "../context.ts";
import { printJson, printLine, printNote, table, text } from "../reporter.ts";

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
  if (cli.isJson) printJson(cli, [...sources]);
  else if (sources.length === 0) printNote(cli, "No sources yet: pd deploy <file>, or pd init source <name> for one to begin with");
  else
    printLine(
      cli,
      table(
        ["name", "id", "active", "version", "endpoint"],
        sources.map((source) => [
          text(source, "name_slug"),
          text(source, "id"),
          source["active"] === true ? "yes" : "no",
          text(source, "component_version"),
          text(source, "endpoint_url"),
        ]),
      ),
    );
  return 0;
}

async function listComponents(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const components = await client.all("/v1/components");
  if (cli.isJson) printJson(cli, [...components]);
  else
    printLine(
      cli,
      table(
        ["name", "id", "version", "key"],
        components.map((component) => [text(component, "name"), text(component, "id"), text(component, "version"), text(component, "key")]),
      ),
    );
  return 0;
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
  if (cli.isJson) printJson(cli, streams);
  else
    printLine(
      cli,
      table(
        ["name", "type", "visibility", "sse"],
        streams.map(({ name, type, visibility, sse }) => [name, type, visibility, sse]),
      ),
    );
  return 0;
}
