export interface CodeOrigin {
  /** Throws PD_CODE_UNREACHABLE. */
  fetch(url: string): Promise<string>;
}
