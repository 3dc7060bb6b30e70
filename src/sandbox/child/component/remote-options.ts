/** No component code lists the choices of Airtable and Discord prop types. The account of the prop that `appProp` names fetches them. */
import { isRecord } from "../../../domain/text/json.ts";

export interface RemoteProp {
  readonly type: string;
  readonly instance: Record<string, unknown>;
  readonly declared: Record<string, unknown>;
}

interface Choices {
  readonly options: readonly { readonly label: string; readonly value: string }[];
  readonly context?: Record<string, unknown>;
}

const AIRTABLE = "https://api.airtable.com/v0/meta/bases";
const DISCORD = "https://discord.com/api/v10";
/** Text and announcement channels. */
const TEXT_CHANNELS = [0, 5];

export function hasRemoteOptions(type: unknown): type is string {
  return typeof type === "string" && (type.startsWith("$.airtable.") || type.startsWith("$.discord."));
}

/** Throws an Error with the third party's response. */
export async function remoteOptions(prop: RemoteProp, prevContext: Record<string, unknown>): Promise<Choices> {
  return prop.type.startsWith("$.discord.") ? discordChannels(prop) : airtableChoices(prop, prevContext);
}

async function airtableChoices({ type, instance, declared }: RemoteProp, { offset }: Record<string, unknown>): Promise<Choices> {
  const headers = { authorization: `Bearer ${token(instance, declared)}` };
  if (type === "$.airtable.baseId") {
    const page = await getJson(`${AIRTABLE}${typeof offset === "string" ? `?offset=${encodeURIComponent(offset)}` : ""}`, headers);
    return { options: named(page["bases"]), ...(page["offset"] === undefined ? {} : { context: { offset: page["offset"] } }) };
  }
  const { tables } = await getJson(`${AIRTABLE}/${encodeURIComponent(valueOf(instance, declared["baseIdProp"] ?? "baseId"))}/tables`, headers);
  if (type === "$.airtable.tableId") return { options: named(tables) };
  const tableId = valueOf(instance, declared["tableIdProp"] ?? "tableId");
  const table = recordsOf(tables).find(({ id, name }) => id === tableId || name === tableId);
  return { options: named(table?.[type === "$.airtable.viewId" ? "views" : "fields"]) };
}

async function discordChannels({ instance, declared }: RemoteProp): Promise<Choices> {
  const auth = accountOf(instance, declared);
  const headers = { authorization: typeof auth["bot_token"] === "string" ? `Bot ${auth["bot_token"]}` : `Bearer ${token(instance, declared)}` };
  const guilds = await getList(`${DISCORD}/users/@me/guilds`, headers);
  const lists = await Promise.all(
    guilds.map(async (guild) => {
      const channels = await getList(`${DISCORD}/guilds/${String(guild["id"])}/channels`, headers);
      return channels
        .filter(({ type }) => TEXT_CHANNELS.includes(Number(type)))
        .map(({ id, name }) => ({ label: `${String(guild["name"])} #${String(name)}`, value: String(id) }));
    }),
  );
  return { options: lists.flat() };
}

function accountOf(instance: Record<string, unknown>, declared: Record<string, unknown>): Record<string, unknown> {
  const app = instance[String(declared["appProp"])];
  return isRecord(app) && isRecord(app["$auth"]) ? app["$auth"] : {};
}

function token(instance: Record<string, unknown>, declared: Record<string, unknown>): string {
  const { oauth_access_token: oauth, api_key: key } = accountOf(instance, declared);
  return String(oauth ?? key ?? "");
}

function valueOf(instance: Record<string, unknown>, name: unknown): string {
  const value = instance[String(name)];
  return String(isRecord(value) ? value["value"] : (value ?? ""));
}

function named(list: unknown): { label: string; value: string }[] {
  return recordsOf(list).map(({ id, name }) => ({ label: String(name), value: String(id) }));
}

function recordsOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

async function getJson(url: string, headers: Record<string, string>): Promise<Record<string, unknown>> {
  const value = await ask(url, headers);
  return isRecord(value) ? value : {};
}

async function getList(url: string, headers: Record<string, string>): Promise<Record<string, unknown>[]> {
  return recordsOf(await ask(url, headers));
}

async function ask(url: string, headers: Record<string, string>): Promise<unknown> {
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`GET ${url} was answered with status ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
