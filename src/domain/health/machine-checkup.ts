import { type CheckedFacts, type Finding, disk, wall, worstFirst } from "./checkup.ts";

export interface CheckedPort {
  readonly purpose: string;
  readonly flag: string;
  readonly port: number;
  readonly isTaken?: true;
  readonly problem?: string;
}

export interface MachineFacts extends Pick<CheckedFacts, "disk" | "sandbox"> {
  readonly node: string;
  readonly version: string;
  /** Omitted when no server is running. */
  readonly serverVersion?: string;
  readonly home: { readonly path: string; readonly problem?: string };
  readonly driver: { readonly name: string } | { readonly problem: string };
  /** Omitted without a database, or while a server uses it. `problem` says why the check failed. */
  readonly database?: { readonly path: string; readonly damage?: string; readonly problem?: string };
  readonly ports: readonly CheckedPort[];
  readonly keyring: { readonly isUsable: boolean; readonly isWanted: boolean; readonly reason?: string };
  readonly npm: string | undefined;
  readonly now: number;
  readonly timeZone: string;
  /** Newest file in the home, epoch ms. Omitted when the home is empty. */
  readonly newestMs?: number;
}

/** Tolerated difference between the clock and file times. */
const CLOCK_MS = 60_000;

export function machineFindings(facts: MachineFacts): readonly Finding[] {
  return worstFirst([
    server(facts),
    home(facts),
    driver(facts),
    ...database(facts),
    ...facts.ports.map(port),
    keyring(facts),
    npm(facts),
    clock(facts),
    // The disk of an unusable home cannot be checked.
    ...(facts.home.problem === undefined ? [disk(facts)] : []),
    wall(facts),
  ]);
}

function server({ version, serverVersion, node }: MachineFacts): Finding {
  const about = "versions";
  const text = `Headwater ${version} on Node ${node}`;
  if (serverVersion === undefined)
    return { level: "attention", about: "server", text: `not running; ${text}`, fix: "Run pd up; commands that need a server also start one" };
  if (serverVersion === version) return { level: "good", about, text };
  return { level: "attention", about, text: `${text}, but the running server is ${serverVersion}`, fix: "Run pd down, then pd up" };
}

function home({ home: { path, problem } }: MachineFacts): Finding {
  const about = "home";
  if (problem === undefined) return { level: "good", about, text: `${path} is writable and private to this user` };
  return { level: "bad", about, text: `${path}: ${problem}`, fix: "Use another folder with --home or PD_HOME, or correct its owner and permissions" };
}

function driver({ driver: known }: MachineFacts): Finding {
  const about = "sqlite";
  if ("name" in known) return { level: "good", about, text: `the SQLite driver is ${known.name}` };
  return { level: "bad", about, text: known.problem, fix: "Use Node 22.13 or later, which includes SQLite" };
}

function database({ database: known }: MachineFacts): readonly Finding[] {
  if (known === undefined) return [];
  const about = "database";
  if (known.problem !== undefined)
    return [
      {
        level: "bad",
        about,
        text: `${known.path} cannot be opened: ${known.problem}`,
        fix: "Check that you may read it and that no other program uses it",
      },
    ];
  if (known.damage === undefined) return [{ level: "good", about, text: `every page of ${known.path} is intact` }];
  return [
    {
      level: "bad",
      about,
      text: `${known.path} is damaged: ${known.damage}`,
      fix: "Restore a backup with pd restore <backup>; the damaged file is moved aside",
    },
  ];
}

function port({ purpose, flag, port: number, isTaken, problem }: CheckedPort): Finding {
  const about = `port ${number}`;
  if (problem !== undefined)
    return {
      level: "bad",
      about,
      text: `cannot listen on it for ${purpose}: ${problem}`,
      fix: `Use another port with --${flag} (0: any free port), or another address with --host`,
    };
  if (isTaken === undefined) return { level: "good", about, text: `free, for ${purpose}` };
  return {
    level: "bad",
    about,
    text: `another program listens on it, but ${purpose} need it`,
    fix: `Stop that program, or use another port with --${flag} (0: any free port)`,
  };
}

function keyring({ keyring: { isUsable, isWanted, reason = "" } }: MachineFacts): Finding {
  const about = "keyring";
  if (!isWanted) return { level: "good", about, text: "disabled by setting; the secret key is stored in the home" };
  if (isUsable) return { level: "good", about, text: "this machine's keyring can store the secret key" };
  return {
    level: "attention",
    about,
    text: `cannot be used (${reason}): the secret key is stored in the home`,
    fix: "Start your desktop's keyring, or keep backups of the home apart from the key",
  };
}

function npm({ npm: version }: MachineFacts): Finding {
  const about = "npm";
  if (version !== undefined) return { level: "good", about, text: `${version} installs the packages of components` };
  return { level: "bad", about, text: "not found: components that use packages cannot be deployed", fix: "Install npm, which comes with Node" };
}

function clock({ now, newestMs, timeZone }: MachineFacts): Finding {
  const about = "clock";
  if (newestMs === undefined || newestMs <= now + CLOCK_MS) return { level: "good", about, text: `${new Date(now).toISOString()}, time zone ${timeZone}` };
  return {
    level: "bad",
    about,
    text: `it is behind: files in the home were written at ${new Date(newestMs).toISOString()}`,
    fix: "Set the machine's clock; timers depend on it",
  };
}
