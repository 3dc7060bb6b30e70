import { defineConfig } from "vitest/config";

/** Only what hangs runs into these, whatever else the machine does. */
const patient = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 120_000, interval: 20 } } };
const env = { NODE_EXTRA_CA_CERTS: "", NO_COLOR: "1" };
const shared = {
  ...patient,
  env,
  // Files share what they import: each test has its own folder, ports and database.
  isolate: false,
  globalSetup: ["test/support/leftovers.ts", "test/support/build.ts"],
};
/** Test files that `npm test` leaves to `npm run verify`, by the project that runs them there. */
const ELSEWHERE = {
  /** Servers that are killed, whose disk is full, whose database is damaged, whose program is replaced. */
  deaths: ["test/deaths/**"],
  /** What depends on this version of Node, or on how much memory it takes. */
  node: ["test/node/**"],
  /** Components of databases against real servers, a keyring, shells. */
  services: ["test/services/**"],
  /** The store on PostgreSQL, which has to be installed. */
  postgres: ["test/postgres/**"],
  /** Installs from the registry: published components, scripts of strangers, the code blocks of the guides. */
  installs: ["test/installs/**"],
  /** The web page in a real browser: Debian's chromium, or the one that CHROMIUM names. */
  page: ["test/page/**"],
} as const;

export default defineConfig({
  test: {
    maxWorkers: 3,
    projects: [
      { test: { ...shared, name: "promises", include: ["test/**/*.test.ts"], exclude: [...Object.values(ELSEWHERE).flat(), "test/attack/**"] } },
      ...Object.entries(ELSEWHERE).map(([name, [folder]]) => ({ test: { ...shared, name, include: [`${folder}/*.test.ts`] } })),
      {
        test: {
          ...patient,
          env,
          name: "attack",
          include: ["test/attack/**/*.test.ts"],
          globalSetup: ["test/support/leftovers.ts", "test/attack/installed.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
