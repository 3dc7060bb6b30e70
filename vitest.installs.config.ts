import { defineConfig } from "vitest/config";
import shared from "./vitest.config.ts";

/** Tests that install packages from the registry: published components that run unchanged, scripts of strangers. */
export default defineConfig({ test: { ...shared.test, include: ["test/installs/**/*.test.ts"], exclude: [] } });
