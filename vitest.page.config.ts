import { defineConfig } from "vitest/config";
import shared from "./vitest.config.ts";

/** The web page in a real browser: Debian's chromium, or the one that CHROMIUM names. */
export default defineConfig({ test: { ...shared.test, include: ["test/page/**/*.test.ts"], exclude: [], maxWorkers: 1 } });
