import { defineConfig } from "tsup";
import { base } from "../../tsup.shared.ts";

export default defineConfig({ ...base, target: "node24", entry: ["src/main.ts"] });
