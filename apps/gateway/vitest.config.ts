import { mergeConfig } from "vitest/config";
import shared, { limitsWithProcesses } from "../../vitest.shared.ts";

// Plugins are loaded by Node itself, also in tests: module hooks do not see what a test
// runner loads in Node's place.
const external = [/src\/plugins\/load\/native-import\.ts$/];

export default mergeConfig(shared, {
  test: {
    name: "gateway",
    ...limitsWithProcesses,
    include: ["web/**/*.test.ts"],
    globalSetup: ["vitest.build.ts"],
    // Of the person who runs the tests: plugins would keep their files there.
    env: { OPENCLAW_STATE_DIR: "" },
    server: { deps: { external } },
  },
});
