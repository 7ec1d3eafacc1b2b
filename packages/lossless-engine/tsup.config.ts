import { defineConfig } from "tsup";
import { base } from "../../tsup.shared.ts";

export default defineConfig([
  { ...base, entry: ["src/index.ts"] },
  // What hosts load: one file that needs nothing installed. Exact counts are never asked for.
  {
    ...base,
    entry: ["src/plugin.ts"],
    clean: false,
    splitting: false,
    noExternal: [/./],
    external: ["tiktoken", /^tiktoken\//],
  },
]);
