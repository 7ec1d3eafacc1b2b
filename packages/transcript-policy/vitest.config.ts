import { mergeConfig } from "vitest/config";
import { sharedByPackages } from "../../vitest.shared.ts";

export default mergeConfig(sharedByPackages, { test: { name: "transcript-policy" } });
