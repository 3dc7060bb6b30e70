import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // They need databases and a keyring, install from the registry, or open a browser: test:services, test:installs, test:page.
    exclude: ["test/services/**", "test/installs/**", "test/page/**"],
    globalSetup: ["test/support/build.ts"],
    // Only what hangs runs into them, whatever else the machine does.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    maxWorkers: 3,
    // Files share what they import: each test has its own folder, ports and database.
    isolate: false,
    env: { NODE_EXTRA_CA_CERTS: "", NO_COLOR: "1" },
  },
});
