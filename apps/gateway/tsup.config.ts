import { fileURLToPath } from "node:url";
import { defineConfig, type Options } from "tsup";
import { base } from "../../tsup.shared.ts";

const web = (path: string) => fileURLToPath(new URL(`web/${path}`, import.meta.url));

/** The page: everything bundled, from sources, into files that need nothing from anywhere. */
export const page: Options = {
  ...base,
  entry: { app: web("main.tsx") },
  outDir: "dist/web",
  publicDir: web("public"),
  platform: "browser",
  target: "es2023",
  minify: true,
  sourcemap: false,
  splitting: false,
  noExternal: [/./],
  esbuildOptions(options) {
    options.jsx = "automatic";
    options.jsxImportSource = "preact";
    options.conditions = ["@clew/source"];
  },
};

export default defineConfig([
  // The page cleans its own folder: cleaning all of dist would take away what it has just built.
  {
    ...base,
    target: "node24",
    entry: {
      main: "src/main.ts",
      "sdk-core": "src/plugins/load/sdk/core.ts",
      "plugin-entry": "src/plugins/load/sdk/plugin-entry.ts",
      "session-transcript-runtime": "src/plugins/load/sdk/session-transcript-runtime.ts",
      "logging-core": "src/plugins/load/sdk/logging-core.ts",
      "trial-process": "src/plugins/install/trial-process.ts",
      "isolated-process": "src/plugins/isolate/isolated-process.ts",
      "lab-process": "src/lab/lab-process.ts",
      "engine-check-hooks": "src/plugins/check/hooks.ts",
      "checked-legacy": "src/plugins/check/checked-legacy.ts",
      "watchdog-thread": "src/plugins/contain/watchdog-thread.ts",
    },
    clean: ["!dist/web/**"],
  },
  page,
]);
