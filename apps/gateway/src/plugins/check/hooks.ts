// What a process that checks an engine imports first, so that it loads plugins as Clew does.
import { fileURLToPath } from "node:url";
import { exposeSdkTo } from "../load/module-hooks.ts";
import { createStrays } from "../strays.ts";

const { searchParams } = new URL(import.meta.url);
const root = searchParams.get("root");
const home = searchParams.get("home");
if (root === null || home === null)
  throw new Error(`${fileURLToPath(import.meta.url)} is imported by "clew engine check" only.`);
exposeSdkTo(root, {
  pluginId: "checked",
  strays: createStrays({ error: () => {} }),
  // What an engine needs of it, it says itself when it is called.
  lacks: () => {},
  ownHome: home,
});
