/** With `auto` the key stays where it is. A new home uses the keyring when available. */
export type KeyringUse = "auto" | "always" | "never";

const SEALED = /^sealed:1:(\w+):/;

/** Undefined for text in clear. */
export function sealedWith(text: string): string | undefined {
  return SEALED.exec(text)?.[1];
}

export interface Vault {
  /** `place` is where the result is stored. It opens only with the same place. */
  seal(text: string, place: string): string;
  /** Returns text that was never sealed unchanged. Throws PD_SECRET_KEY_WRONG. */
  open(sealed: string, place: string): string;
  /** True with the newest key. */
  isCurrent(text: string): boolean;
  /** Text that was sealed before still opens. Throws PD_BAD_INPUT when the key is given from outside. */
  rotate(): Promise<void>;
  /** Nothing stored may use earlier keys. This instance still opens what was read before. */
  forgetOldKeys(): Promise<void>;
}

/** Replaces all sealed members of an object. */
export const SEALED_MEMBER = "$sealed";
