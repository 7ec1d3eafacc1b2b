import { mergeConfig } from "vitest/config";
import shared, { limitsWithProcesses } from "../../vitest.shared.ts";

export default mergeConfig(shared, { test: { name: "bench", ...limitsWithProcesses } });
