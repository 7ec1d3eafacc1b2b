import { defineConfig } from "tsup";
import { base } from "../../tsup.shared.ts";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/store.ts"],
  // Hosts load it from a folder in which nothing is installed. Exact counts are never asked for.
  splitting: false,
  noExternal: [/./],
  external: ["tiktoken", /^tiktoken\//],
});
