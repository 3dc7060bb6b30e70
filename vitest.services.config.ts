import { defineConfig } from "vitest/config";
import shared from "./vitest.config.ts";

/** Tests that need programs of this machine: database servers, a keyring. */
export default defineConfig({ test: { ...shared.test, include: ["test/services/**/*.test.ts"], exclude: [] } });
