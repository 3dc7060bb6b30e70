import type { Client } from "../client/client.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";

/** Something that an agent may call. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly inputSchema: JsonObject;
  /** It changes nothing, here or anywhere else. */
  readonly isReadOnly: boolean;
  /** What it does cannot be undone. */
  readonly isDestructive: boolean;
  /** Throws what the server refuses, and PD_BAD_INPUT for arguments that are wrong. */
  run(client: Client, given: JsonObject): Promise<ToolResult>;
}

export interface ToolResult {
  readonly value: JsonObject;
  /** It was called, and has failed. */
  readonly isFailed?: boolean;
}

/** A tool whose arguments have choices that a third party tells. */
export interface ChoosingTool extends Tool {
  /** Names of arguments that have choices. */
  readonly choosing: readonly string[];
  choices(client: Client, argument: string, asked: { readonly query: string; readonly given: JsonObject }): Promise<Choices>;
}

/** The first of them, and whether there are more. */
export interface Choices {
  readonly choices: readonly Choice[];
  readonly hasMore: boolean;
}

export interface Choice {
  readonly label: string;
  readonly value: JsonValue;
}
