import { mergeConfig } from "vitest/config";
import shared from "../../vitest.shared.ts";

// Plugins are loaded by Node itself, also in tests: module hooks do not see what a test runner loads in Node's place.
const external = [/src\/plugins\/native-import\.ts$/];

export default mergeConfig(shared, {
  test: {
    name: "gateway",
    include: ["web/**/*.test.ts"],
    globalSetup: ["vitest.build.ts"],
    server: { deps: { external } },
  },
});
