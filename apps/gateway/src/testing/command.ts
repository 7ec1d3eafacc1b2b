// Starts `clew` as people do: the built command, in a process and a home of its own.
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "./child.ts";

const SOURCE = new URL("../main.ts", import.meta.url);
/** The tests' global setup sees to it that it is current. */
const BUILT = new URL("../../dist/main.js", import.meta.url);
export const BUILT_CLEW = fileURLToPath(BUILT);

export interface StartOptions {
  env?: NodeJS.ProcessEnv;
  ipc?: boolean;
  /** Run the TypeScript sources instead of what was built from them. */
  fromSource?: boolean;
}

export interface CommandResult {
  code: number | null;
  output: string;
  errors: string;
}

/** Its standard input is open, its standard error collected. */
export function startClew(
  home: string,
  args: readonly string[],
  { env, ipc, fromSource = false }: StartOptions = {},
): Child {
  return startChild(fromSource ? SOURCE : BUILT, [...args], {
    env: { CLEW_HOME: home, OPENCLAW_STATE_DIR: "", ...env },
    stderr: true,
    ...(ipc !== undefined && { ipc }),
  });
}

/** Runs a command with nothing on its standard input, to its end. */
export async function clew(
  home: string,
  args: readonly string[],
  options?: StartOptions,
): Promise<CommandResult> {
  const child = startClew(home, args, options);
  child.process.stdin!.end();
  const code = await child.exit;
  return { code, output: child.lines.join("\n"), errors: child.errors().trim() };
}
