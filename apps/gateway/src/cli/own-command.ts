// How a person can run this command again from where it was started.
import type { Environment } from "../config/environment.ts";
import type { Output } from "../terminal/output.ts";

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

/** What `clew` is followed by where it is called, and not spoken of. */
export const COMMANDS = [
  ...["acp", "approvals", "chat", "compare", "completion", "config", "connect", "cron"],
  ...["demo", "doctor", "emulate", "engine", "init", "inspect", "logs", "lossless"],
  ...["mcp", "models", "plugins", "policy", "replay", "service", "sessions", "start"],
  ...["status", "stop", "storage", "usage", "whatif"],
] as const;

const CALLED = new RegExp(`(?<![\\w./@-])clew (?=(?:${COMMANDS.join("|")})(?![\\w-]))`, "g");

/** Pure. Commands in `text`, as the person would call them. */
export const asCalled = (text: string, command: string): string =>
  command === "clew" ? text : text.replace(CALLED, `${command} `);

/** Says commands as the person would call them, but in what `showsStored`: others wrote that. */
export function outputAsCalled(
  output: Output,
  command: string,
  showsStored: () => boolean = () => false,
): Output {
  if (command === "clew") return output;
  return {
    ...output,
    line: (text = "") => output.line(showsStored() ? text : asCalled(text, command)),
    note: (text) => output.note(asCalled(text, command)),
  };
}
