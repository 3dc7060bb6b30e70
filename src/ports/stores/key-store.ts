/** The key itself is not stored. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** Reads everything except secrets, and changes nothing. */
  readonly isReadOnly: boolean;
  readonly createdAt: number;
}

export interface KeyStore {
  /** Throws PD_CONFLICT when the name is taken. */
  saveKey(key: ApiKey): Promise<void>;
  /** False when it does not exist. */
  deleteKey(idOrName: string): Promise<boolean>;
  /** Newest first. */
  listKeys(): Promise<readonly ApiKey[]>;
  findKey(hash: string): Promise<ApiKey | undefined>;
}
