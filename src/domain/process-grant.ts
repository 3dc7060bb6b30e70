/** What whoever deploys code grants its processes, beyond what all processes of the server have. */
export interface ProcessGrant {
  /** They may start programs of this machine. */
  readonly allowsPrograms?: boolean | undefined;
  /** They may load native code of packages. */
  readonly allowsAddons?: boolean | undefined;
  /** JavaScript memory of each process. Absent: as the server's setting says. */
  readonly memoryMb?: number | undefined;
}

/** Least megabytes with which a process of Node starts. */
export const LEAST_MEMORY_MB = 32;
/** Most megabytes: what Node takes for its heap on a large machine. */
export const MOST_MEMORY_MB = 65_536;

/** Only what is granted. Equal grants become equal JSON. */
export function granted({ allowsPrograms, allowsAddons, memoryMb }: ProcessGrant): ProcessGrant {
  return {
    ...(allowsPrograms === true ? { allowsPrograms } : {}),
    ...(allowsAddons === true ? { allowsAddons } : {}),
    ...(memoryMb === undefined ? {} : { memoryMb }),
  };
}

/** Whether these processes are like all others of the server, so that a spare one will do. */
export function isOrdinary(grant: ProcessGrant): boolean {
  return Object.keys(granted(grant)).length === 0;
}
