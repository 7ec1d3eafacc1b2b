// Lets a session's other name stand wherever a command takes a session.
import type { Command } from "commander";
import type { Environment } from "../config/environment.ts";
import { takesSession } from "./completion/plan-completion.ts";
import { sessionTyped } from "./stored-sessions.ts";

/** To be called once the command's words are read: names among them become keys. */
export async function readSessionNames(command: Command, environment: Environment): Promise<void> {
  const keyOf = (value: unknown) =>
    typeof value === "string" ? sessionTyped(environment, value) : Promise.resolve(value);
  for (const [at, argument] of command.registeredArguments.entries()) {
    if (!takesSession(command, argument)) continue;
    const given: unknown = command.processedArgs[at];
    command.processedArgs[at] = Array.isArray(given)
      ? await Promise.all(given.map(keyOf))
      : await keyOf(given);
  }
  const { session } = command.opts() as { session?: unknown };
  if (typeof session === "string") command.setOptionValue("session", await keyOf(session));
}
