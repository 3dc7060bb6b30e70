import type { Client } from "../client/client.ts";
import type { JsonObject, JsonValue } from "../domain/text/json.ts";

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Changes nothing, here or at third parties. */
  readonly isReadOnly: boolean;
  readonly isDestructive: boolean;
  /** Throws the server's errors, and PD_BAD_INPUT. */
  run(client: Client, given: JsonObject): Promise<ToolResult>;
}

export interface ToolResult {
  readonly value: JsonObject;
  /** The action was called and failed. */
  readonly isFailed?: boolean;
}

/** A third party offers choices for its arguments. */
export interface ChoosingTool extends Tool {
  readonly choosing: readonly string[];
  choices(client: Client, argument: string, asked: { readonly query: string; readonly given: JsonObject }): Promise<Choices>;
}

export interface Choices {
  readonly choices: readonly Choice[];
  readonly hasMore: boolean;
}

export interface Choice {
  readonly label: string;
  readonly value: JsonValue;
}
