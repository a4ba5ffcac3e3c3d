import { defineConfig } from "vite";

/** KaTeX names each font in three formats for browsers of three ages. Those that run this page read the first of them. */
const oneFormat = {
  name: "one-format",
  enforce: "pre" as const,
  transform(code: string, id: string) {
    return id.includes("katex") && id.endsWith(".css") ? code.replace(/,url\([^)]*\) format\("(?:woff|truetype)"\)/g, "") : null;
  },
};

// The built page is package data of holonomy.studio, so the wheel carries it and needs no Node.
export default defineConfig({
  base: "./",
  plugins: [oneFormat],
  build: {
    outDir: "../src/holonomy/studio/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // no data: addresses, so the content security policy can stay strict
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
