// Runs `clew sessions rename`, which gives a session a name that people choose.
import { shortName } from "../../sessions/keys.ts";
import { requireLabel } from "../../sessions/labels.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { sessionsToChange } from "../stored-sessions.ts";

/**
 * "" takes the name away, and so does the one that it has by itself. Throws SESSION_NOT_FOUND,
 * SESSION_NAME_INVALID, REQUEST_INVALID.
 */
export async function renameSession(
  name: string,
  wanted: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const session = requireSessionName(name);
  const short = shortName(session.key);
  // What it is called anyway is no other name.
  const isItsOwn = [short, session.key].includes(wanted.trim());
  const label = isItsOwn || wanted.trim() === "" ? null : requireLabel(wanted);
  const { sessions, label: call, close } = await sessionsToChange(environment);
  try {
    if (!(await call(session.key, label))) throw await sessions.notFound(name);
  } finally {
    await close();
  }
  if (json) output.json({ session: session.key, label });
  else
    output.line(
      printable(
        label === null
          ? isItsOwn
            ? `Session "${short}" has that name by itself, and no other one.`
            : `Session "${short}" has no other name any more.`
          : `Session "${short}" is called "${label}" now; both names mean it.`,
      ),
    );
  return EXIT.done;
}
