// How a person can run this command again from where it was started.
import type { Environment } from "../config/environment.ts";

/** Scripts of a checkout's package.json that start this command. */
const OF_CHECKOUT: readonly (string | undefined)[] = ["clew", "start"];

/** Pure. `folder` is where the running command's files are. */
export function ownCommand(folder: string, { variable }: Pick<Environment, "variable">): string {
  const parts = folder.split(/[\\/]/);
  if (parts.includes("_npx")) return "npx @clew/gateway";
  const isInstalled = parts.includes("node_modules");
  return !isInstalled && OF_CHECKOUT.includes(variable("npm_lifecycle_event"))
    ? "npm run clew --"
    : "clew";
}

/** Pure. Commands that stand in quotes in `text`, as the person would call them. */
export const asCalled = (text: string, command: string): string =>
  command === "clew" ? text : text.replace(/"clew (?=[a-z])/g, `"${command} `);
