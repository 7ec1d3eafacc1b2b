// Answers calls of a session's own tools from what is stored of it.
import type { HostSession, ToolPort } from "@clew/engine-core";
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { withSessionTools } from "../../recall/session-tools.ts";
import type { Conversations } from "../../sessions/conversations.ts";

export interface LookUp {
  /** What models are offered; empty: the settings do not want it. */
  tools: readonly ToolDefinition[];
  /** After all that was stored before. `room`: tokens that a result may take. */
  run(asked: LookUpAsked): Promise<{ text: string; isError: boolean }>;
}

export interface LookUpAsked {
  /** Canonical key of the session. */
  key: string;
  call: ToolCallBlock;
  room: number;
  signal: AbortSignal;
}

/** So few that a text of so many characters fits whatever it is made of. */
const CHARS_PER_TOKEN = 2.5;

const NO_TOOLS: ToolPort = {
  list: () => [],
  run: async () => ({ content: [], isError: true }),
};

export function createLookUp(conversations: Pick<Conversations, "run">, isWanted: boolean): LookUp {
  const nobody: HostSession = { agentId: "", sessionId: "", sessionKey: "" };
  const listed = withSessionTools({ base: NO_TOOLS, branch: () => [], contextWindow: 0 });
  return {
    tools: isWanted ? listed.list(nobody) : [],
    run: ({ key, call, room, signal }) =>
      conversations.run(
        key,
        async ({ session }) => {
          const { branch } = session;
          const port = withSessionTools({
            ...{ base: NO_TOOLS, branch, searchChars: Math.floor(room * CHARS_PER_TOKEN) },
            // A page takes 0.3 of the window it is for.
            contextWindow: 3 * room,
          });
          const outcome = await port.run({ call, session: session.session, signal });
          const texts = outcome.content.map((block) => (block.type === "text" ? block.text : ""));
          return { text: texts.join("\n"), isError: outcome.isError };
        },
        signal,
      ),
  };
}
