export interface ProcessGrant {
  readonly allowsPrograms?: boolean | undefined;
  readonly allowsAddons?: boolean | undefined;
  /** JavaScript heap of each process. Omitted when the server's setting applies. */
  readonly memoryMb?: number | undefined;
}

/** Node does not start with less. */
export const LEAST_MEMORY_MB = 32;
/** What Node can use as heap on a large machine. */
export const MOST_MEMORY_MB = 65_536;

/** Equal grants become equal JSON. */
export function granted({ allowsPrograms, allowsAddons, memoryMb }: ProcessGrant): ProcessGrant {
  return {
    ...(allowsPrograms === true ? { allowsPrograms } : {}),
    ...(allowsAddons === true ? { allowsAddons } : {}),
    ...(memoryMb === undefined ? {} : { memoryMb }),
  };
}

export function isOrdinary(grant: ProcessGrant): boolean {
  return Object.keys(granted(grant)).length === 0;
}
