import { defineConfig, mergeConfig } from "vitest/config";
import pages from "./vite.config";

// Apart from vite.config.ts, so that building the pages needs no package for tests.
export default mergeConfig(pages, defineConfig({ test: { include: ["tests/**/*.test.ts"], environment: "node" } }));
