import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["attack/**/*.test.ts"],
    globalSetup: ["attack/installed.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    env: { NODE_EXTRA_CA_CERTS: "", NO_COLOR: "1" },
  },
});
