// Decides what of an ended turn is still shown once the stored history was read again.
import type { ChatItem } from "../src/conversation/chat-view.ts";
import type { Joined } from "./joined-turn.ts";
import { chatItems, isRunning, type LiveTurn, type Problem } from "./live-turn.ts";
import type { PageState } from "./page-state.ts";

export interface SettledTurn {
  /** Null: the history tells everything. */
  problem: Problem | null;
  /** The message, to be put back into the box, when it was not stored; else null. */
  giveBack: string | null;
}

/** Error code of the page's own: the connection broke. */
export const AWAY = "AWAY";

/**
 * Pure. `items` is the stored history, read after the turn ended; `isBusy`: the gateway is
 * still at work in the session.
 */
export function settleTurn(
  turn: LiveTurn,
  items: readonly ChatItem[],
  isBusy: boolean,
): SettledTurn {
  const { problem, text } = turn;
  // A command leaves nothing in the history, and nothing to send again.
  if (turn.answer !== null) return { problem, giveBack: null };
  const lastMessage = items.findLast(({ kind }) => kind === "person");
  const isStored =
    turn.isStored ||
    (problem?.code === AWAY && lastMessage?.kind === "person" && lastMessage.text === text.trim());
  if (!isStored) return { problem, giveBack: text };
  if (problem === null) return { problem: null, giveBack: null };
  const last = items.at(-1);
  // The message is stored, so a reply that comes last is this turn's.
  const isTold = last?.kind === "reply" && (problem.code === AWAY || last.ending !== null);
  if (isTold || (problem.code === AWAY && isBusy)) return { problem: null, giveBack: null };
  return { problem: problem.code === AWAY ? LOST : problem, giveBack: null };
}

type Read = Pick<PageState, "problems" | "session" | "turns">;

/**
 * Pure. Why the turn of the session shown has no reply, whoever began it, once its history was
 * read: a message that a cap refused leaves no reply that tells.
 */
export function problemsAfter({ problems, session, turns }: Read, joined: Joined) {
  const turn = session === null ? undefined : joined[session.key]?.turn;
  if (session === null || turn === undefined || isRunning(turn) || isRunning(turns[session.key]))
    return problems;
  const { problem } = settleTurn(turn, chatItems(session.entries, null), session.busy);
  return problem === null ? problems : { ...problems, [session.key]: problem };
}

type Told = PageState["told"];

/** Pure. What a turn was told, as of a cost cap that comes near, is still to be read behind it. */
export const withTold = (told: Told, key: string, { notices }: LiveTurn): Told =>
  notices.length === 0 ? told : { ...told, [key]: notices };

/** Pure. The same of a turn that somebody else began. */
export function toldAfter(
  { told, session, turns }: Read & Pick<PageState, "told">,
  joined: Joined,
): Told {
  const turn = session === null ? undefined : joined[session.key]?.turn;
  if (session === null || turn === undefined || isRunning(turn) || isRunning(turns[session.key]))
    return told;
  return withTold(told, session.key, turn);
}

const LOST: Problem = {
  code: AWAY,
  message:
    "The gateway stopped before it replied. Your message is kept; send it again to get a reply.",
};
