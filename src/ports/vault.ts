/** `auto`: where the key lies already; of a new home in the keyring, where there is one. */
export type KeyringUse = "auto" | "always" | "never";

const SEALED = /^sealed:1:(\w+):/;

/** Id of the key that a text is sealed with; `undefined`: it lies in clear. */
export function sealedWith(text: string): string | undefined {
  return SEALED.exec(text)?.[1];
}

/** Seals what must not lie on a disk in clear. */
export interface Vault {
  /** `place`: where it is going to lie; it can be opened for that place alone. */
  seal(text: string, place: string): string;
  /** Text that was never sealed comes back as it is. Throws PD_SECRET_KEY_WRONG. */
  open(sealed: string, place: string): string;
  /** Whether it is sealed, and with the newest key. */
  isCurrent(text: string): boolean;
  /** What is sealed from now on has a new key; what was sealed before can still be opened. Throws PD_BAD_INPUT where the key is given from outside. */
  rotate(): Promise<void>;
  /** Nothing that lies anywhere is sealed with earlier keys any more; this vault itself opens what was read before. */
  forgetOldKeys(): Promise<void>;
}

/** The member that stands for all that is sealed of an object. */
export const SEALED_MEMBER = "$sealed";
