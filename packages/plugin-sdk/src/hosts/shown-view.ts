// Recognises an engine's own view when a host hands it back as if it were the history.
import type { AgentMessage } from "../contract/message.ts";

/** One assembly: what it was made of, and the mark that its messages carry. */
export interface ShownView {
  /** Of this session's views no other one's history has it. */
  readonly mark: string;
  /** The history that it was made of. */
  readonly history: readonly AgentMessage[];
}

const MARK = "shownAs";

/** Copies that carry the view's mark: as plain data, so that copies of them carry it too. */
export const marked = (messages: readonly AgentMessage[], mark: string): AgentMessage[] =>
  messages.map((message) => ({
    ...message,
    __openclaw: { ...message.__openclaw, [MARK]: mark },
  }));

/**
 * The history that the host means, without marks: where it begins with messages of `view`, these
 * stand for what the view was made of. Undefined view: nothing was shown.
 */
export function historyMeant(
  messages: readonly AgentMessage[],
  view: ShownView | undefined,
): { history: AgentMessage[]; isOwnView: boolean } {
  const last = view && messages.findLastIndex((message) => markOf(message) === view.mark);
  if (view === undefined || last === undefined || last < 0)
    return { history: messages.map(unmarked), isOwnView: false };
  return {
    history: [...view.history, ...messages.slice(last + 1).map(unmarked)],
    isOwnView: true,
  };
}

const markOf = (message: AgentMessage): unknown => message.__openclaw?.[MARK];

function unmarked(message: AgentMessage): AgentMessage {
  if (message.__openclaw === undefined || markOf(message) === undefined) return message;
  const { [MARK]: _mark, ...envelope } = message.__openclaw;
  if (Object.keys(envelope).length > 0) return { ...message, __openclaw: envelope };
  const { __openclaw: _empty, ...plain } = message;
  return plain as AgentMessage;
}
