// Gives a command of the chat and waits for its answer.
import type { Api } from "../api.ts";
import { ApiError } from "../http.ts";

export interface CommandOutcome {
  ok: boolean;
  text: string;
  /** The same as data. Absent: there is no more than the sentence. */
  data?: unknown;
}

/** "/compact --dry-run" in a session. A refusal is an answer, too. */
export async function runCommand(
  api: Pick<Api, "send">,
  key: string,
  line: string,
): Promise<CommandOutcome> {
  let outcome: CommandOutcome | undefined;
  for await (const event of api.send(key, line)) {
    if (event.type === "command") outcome = event;
    if (event.type === "error") outcome = { ok: false, text: event.error.message };
  }
  if (outcome !== undefined) return outcome;
  throw new ApiError("AWAY", `The gateway stopped before it answered ${line}.`);
}
