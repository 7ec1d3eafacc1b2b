// What is said in a generated conversation, before any wire writes it down.

export interface SaidCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
}

/**
 * `uid` is its own in all conversations; null: the client made it up and goes on by another, or it
 * is an example, which a client gives in each conversation.
 */
export type Said = { uid: string | null; isSummary?: true; isExample?: true } & (
  | { by: "person" | "system"; text: string }
  | { by: "model"; text: string; thinking?: string; calls: readonly SaidCall[] }
  | { by: "tools"; results: readonly { id: string; name: string; text: string }[] }
);

/** How a client writes a conversation down. */
export interface Writing {
  model: string;
  /** Leads; Codex has two. */
  head: readonly string[];
  tools: readonly string[];
  /** Anthropic: the newest message bears a marker. Absent: none does. */
  marks?: boolean;
  /** Anthropic: said in the newest message, behind what is its own. Absent: nothing is. */
  reminder?: string;
  /** True: thinking does not go back. Absent: it does. */
  forgetsThinking?: boolean;
  /** Responses: tools are listed in the input, and take a text. Absent: they are functions. */
  code?: boolean;
  /** False: calls have no ids. Absent: they have. */
  ids?: boolean;
  maxTokens?: number;
  more?: Record<string, unknown>;
}

/** True: a model that was asked has said it. */
export const isReply = ({ by, isExample }: Said): boolean => by === "model" && !isExample;

export interface WrittenRequest {
  path: string;
  body: Record<string, unknown>;
  /** Which messages were made of which Said, behind the leading ones. */
  uids: readonly (string | null)[];
}
