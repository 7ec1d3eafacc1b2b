// What plugins get as `openclaw/plugin-sdk/session-transcript-runtime`.
import { runningPlugin } from "../running.ts";
import type { TranscriptAsk, TranscriptMessage } from "../session-transcripts.ts";

/**
 * The messages of a session's active branch, oldest first; none when there is no such session.
 * Throws outside code of a plugin.
 */
export async function readVisibleSessionTranscriptMessageEntries(
  ask: TranscriptAsk,
): Promise<TranscriptMessage[]> {
  const transcripts = runningPlugin()?.transcripts;
  if (transcripts === undefined)
    throw new Error(
      "A transcript can be read only while a gateway runs the plugin's code: in a tool, a hook, a command, a service or an engine.",
    );
  return transcripts.messages(ask ?? {});
}
