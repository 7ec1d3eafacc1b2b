import { defineConfig } from "tsup";
import { base } from "../../tsup.shared.ts";

export default defineConfig({ ...base, entry: ["src/index.ts"] });
