/** Fetches code by URL. */
export interface CodeOrigin {
  /** Throws PD_CODE_UNREACHABLE with the status or the network's reason. */
  fetch(url: string): Promise<string>;
}
