import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// The viewer as one module and one style sheet with its fonts inside, for notebooks and for files that replay a run. It
// never sets formulas, since a recording has none, so it goes without KaTeX.
export default defineConfig({
  resolve: { alias: [{ find: /^\.\.\/formula$/, replacement: fileURLToPath(new URL("./src/formula.none.ts", import.meta.url)) }] },
  publicDir: false,
  build: {
    outDir: "../src/holonomy/studio/static/player",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 900,
    lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "player.js", cssFileName: "player" },
    rolldownOptions: { output: { codeSplitting: false, minify: true } },
  },
  define: { "process.env.NODE_ENV": '"production"' },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
