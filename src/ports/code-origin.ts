export interface CodeOrigin {
  /** Throws PD_CODE_UNREACHABLE with the status or the network error. */
  fetch(url: string): Promise<string>;
}
