import { setTimeout as sleep } from "node:timers/promises";
import { type Stage, now } from "./actors.ts";
import type { Random } from "./random.ts";
import type { Tortured, TorturedServer } from "./server.ts";

export async function hitServer(stage: Stage, servers: readonly TorturedServer[]): Promise<void> {
  const random = stage.random.fork();
  while (!stage.signal.aborted) {
    await sleep(random.between(2000, 4000));
    const server = random.pick(servers);
    if (stage.signal.aborted || server === undefined) return;
    const kind = random.pick(["kill", "kill", "kill", "pause", "stop"] as const);
    stage.history.blows.push({ at: now(), kind: `server ${kind}` });
    if (kind === "kill") server.signal("SIGKILL");
    else if (kind === "stop") server.signal("SIGTERM");
    else await pause(server.pid, random.between(100, 800));
    await server.untilReady();
  }
}

export async function hitChildren(stage: Stage): Promise<void> {
  const random = stage.random.fork();
  while (!stage.signal.aborted) {
    await sleep(random.between(100, 900));
    const victim = pickVictim(stage.server, random);
    if (victim === undefined || stage.signal.aborted) continue;
    const kind = random.pick(["kill", "kill", "pause"] as const);
    stage.history.blows.push({ at: now(), kind: `${victim.what} ${kind}` });
    if (kind === "kill") signal(victim.pid, "SIGKILL");
    else await pause(victim.pid, random.between(50, 700));
  }
}

function pickVictim(server: Tortured, random: Random): { pid: number; what: string } | undefined {
  const all = server.children().map(({ pid, command }) => ({ pid, what: whatIs(command) }));
  const known = all.filter(({ what }) => what !== "other");
  // Kinds of processes are equally likely.
  const what = random.pick([...new Set(known.map((one) => one.what))]);
  return random.pick(known.filter((one) => one.what === what));
}

function whatIs(command: string): string {
  if (/^\S*(bwrap|prlimit)/.test(command)) return "enclosure";
  if (command.includes("child.cjs") || command.includes("/python/main.py")) return "component";
  if (command.includes("esbuild")) return "compiler";
  return /\bnpm\b/.test(command) ? "npm" : "other";
}

export async function pause(pid: number, ms: number): Promise<void> {
  signal(pid, "SIGSTOP");
  await sleep(ms);
  signal(pid, "SIGCONT");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, name);
  } catch {
    // The process has already exited.
  }
}
