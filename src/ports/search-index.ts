import type { DeployedId } from "../domain/ids.ts";

export type SearchKind = "event" | "run";

export interface SearchDocument {
  readonly kind: SearchKind;
  readonly scope: DeployedId;
  /** Id of the event, or of the run. */
  readonly ref: string;
  /** Epoch ms. */
  readonly at: number;
  readonly text: string;
  readonly hasFailed: boolean;
}

export interface SearchQuery {
  /** In the syntax of the index. Omitted for everything. */
  readonly match?: string;
  readonly kind?: SearchKind;
  readonly scope?: DeployedId;
  readonly failedOnly?: boolean;
  /** Inclusive, epoch ms. */
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
  /** Hits to leave out, from the newest. */
  readonly offset: number;
}

export interface SearchHit extends Omit<SearchDocument, "text"> {
  /** The part of the text with the words. */
  readonly snippet: string;
}

/** Words of events and runs. It can be deleted, and is filled again. Calls are synchronous and short. */
export interface SearchIndex {
  /** Replaces documents of the same kind, scope and id. `seq` is the newest event of the scope that is in it. */
  add(documents: readonly SearchDocument[], progress?: { readonly scope: DeployedId; readonly seq: number }): void;
  has(document: Pick<SearchDocument, "kind" | "scope" | "ref">): boolean;
  /** 0 before the first event. */
  newestEvent(scope: DeployedId): number;
  /** All runs of the scope that were stored before are in it. */
  isComplete(scope: DeployedId): boolean;
  setComplete(scope: DeployedId, isComplete: boolean): void;
  /** Some runs were left out, of any scope. */
  setIncomplete(): void;
  /** Newest first. */
  find(query: SearchQuery): readonly SearchHit[];
  /** Removes some of the documents from before, and of those beyond the limit. Returns the number. 0 means done. */
  prune(before: number): number;
  /** Including those that are not deployed any more. */
  scopes(): readonly string[];
  /** Removes some documents of a scope, and what is known of it. Returns the number. 0 means done. */
  forget(scope: string): number;
  /** Of one kind and scope, oldest first. */
  oldest(of: Pick<SearchDocument, "kind" | "scope">, limit: number): readonly string[];
  /** Events of a scope by their numbers, inclusive, which somebody deleted; removes some of them. Returns the number. 0 means done. */
  dropEvents(scope: DeployedId, fromSeq: number, toSeq: number): number;
  /** Leaves nothing of what was removed in its files. */
  purge(): void;
  drop(of: Pick<SearchDocument, "kind" | "scope">, refs: readonly string[]): void;
  close(): void;
}
