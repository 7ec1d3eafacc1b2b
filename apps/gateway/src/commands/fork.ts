// The command `/fork`, which goes on with a copy of the session under another name.
import { shortName } from "../sessions/keys.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export async function runFork(
  args: string,
  session: Pick<CommandSession, "fork">,
): Promise<Omit<CommandAnswer, "command">> {
  const name = args.trim();
  const forked = await session.fork(name === "" ? undefined : name);
  switch (forked.kind) {
    case "forked": {
      const short = shortName(forked.key);
      const text = `The session "${short}" begins with all that was said here: "/session ${short}" in the terminal, or its name on the page, goes on in it.`;
      return { ok: true, text, data: { session: forked.key } };
    }
    case "empty":
      return {
        ok: false,
        text: "Nothing was said in this session yet, so there is nothing to copy.",
      };
    case "taken":
      return {
        ok: false,
        text: `There is a session "${shortName(forked.key)}" already; choose another name.`,
      };
    case "unnamed":
      return {
        ok: false,
        text: `"${name}" is no name of a session; take letters, digits, dots and dashes.`,
      };
  }
}
