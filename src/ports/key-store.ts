/** A named API key; the key itself is never kept. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** Whoever has it sees everything but secrets, and changes nothing. */
  readonly isReadOnly: boolean;
  readonly createdAt: number;
}

export interface KeyStore {
  /** Throws PD_CONFLICT when the name is taken. */
  saveKey(key: ApiKey): Promise<void>;
  /** By id or name. Resolves to false when there is none. */
  deleteKey(idOrName: string): Promise<boolean>;
  /** Newest first. */
  listKeys(): Promise<readonly ApiKey[]>;
  findKey(hash: string): Promise<ApiKey | undefined>;
}
