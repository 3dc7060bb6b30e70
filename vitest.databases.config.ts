import { defineConfig } from "vitest/config";
import shared from "./vitest.config.ts";

/** Tests that need real database servers on this machine. */
export default defineConfig({ test: { ...shared.test, include: ["test/databases/**/*.test.ts"], exclude: [] } });
