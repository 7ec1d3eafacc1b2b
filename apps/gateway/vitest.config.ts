import { mergeConfig } from "vitest/config";
import shared from "../../vitest.shared.ts";

<<<<<<< HEAD
// Plugins are loaded by Node itself, also in tests: module hooks do not see what a test runner loads in Node's place.
const external = [/src\/plugins\/load\/native-import\.ts$/];
=======
// Plugins are loaded by Node itself, also in tests: module hooks do not see what a test
// runner loads in Node's place.
const external = [/src\/plugins\/native-import\.ts$/];
>>>>>>> 8c81f50 (Gateway: first sentences of one clause, comments within 100 columns, command-line help in plain English; loadEverything is loadPlugins)

export default mergeConfig(shared, {
  test: {
    name: "gateway",
    include: ["web/**/*.test.ts"],
    globalSetup: ["vitest.build.ts"],
    // Of the person who runs the tests: plugins would keep their files there.
    env: { OPENCLAW_STATE_DIR: "" },
    server: { deps: { external } },
  },
});
