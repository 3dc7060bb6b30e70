import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { openPrivately } from "../../open-browser.ts";
import { pageWithTicket } from "../../page-address.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";

/** The address contains a ticket instead of the key. */
export async function open(cli: CliContext, source: string | undefined): Promise<number> {
  const client = await connect(cli);
  const url = await pageWithTicket(client, source === undefined ? undefined : (await findDeployed(client, source)).record.id);
  if (cli.isJson) printJson(cli, { url });
  else {
    printLine(cli, url);
    printNote(cli, "The address works once, within a minute");
  }
  await openPrivately(cli, url, { isShown: true });
  return 0;
}
