import { defineConfig } from "vitest/config";

// The built page is package data of holonomy.studio, so the wheel carries it and needs no Node.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/holonomy/studio/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // no data: addresses, so the content security policy can stay strict
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: { include: ["tests/**/*.test.ts"], environment: "node" },
});
