// Lets a session's other name stand wherever a command takes a session.
import type { Command } from "commander";
import { sessionCalled } from "../sessions/labels.ts";
import { takesSession } from "./completion/plan-completion.ts";

/** To be called once the command's words are read: names among them become keys. */
export async function readSessionNames(command: Command, home: string): Promise<void> {
  const keyOf = (value: unknown) =>
    typeof value === "string" ? sessionCalled(home, value) : Promise.resolve(value);
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
