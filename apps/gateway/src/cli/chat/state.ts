// Everything a chat at a terminal knows, as one value, and what it asks to be done.
import type { Approval, ApprovalAnswer } from "../../approvals/approval.ts";
import type { Conversation } from "./conversation.ts";
import { type Draft, NO_DRAFT } from "./draft.ts";
import { type History, historyOf } from "./history.ts";
import type { Menu } from "./menu.ts";
import type { View } from "./view.ts";

export interface ChatState {
  draft: Draft;
  /** What was cut last, to be put back. */
  cut: string;
  history: History;
  menu: Menu | null;
  /** True: the same key once more leaves. */
  asksToQuit: boolean;
  conversation: Conversation;
  /** What was sent and is not in the conversation yet, oldest first. */
  sent: readonly SentText[];
  /** How often something was sent. */
  sentCount: number;
  /** Questions of tools, oldest first. */
  approvals: readonly AskedApproval[];
  status: StatusLine | null;
  /** What is the matter right now, until the next key; null = nothing. */
  hint: string | null;
  /** False: what is typed waits until there is somebody to say it to. */
  isReady: boolean;
  /** What is looked at in full; null = the conversation goes on. */
  view: View | null;
}

export interface SentText {
  id: number;
  text: string;
}

export interface AskedApproval {
  approval: Approval;
  /** False: what stands in the draft was begun before it was asked, and is no answer. */
  mayBeAnswered: boolean;
}

/** How the session stands, between two turns. */
export interface StatusLine {
  /** "provider/model". */
  model: string;
  engine: string;
  /** Of messages, and above how many it is compacted; null = not known. */
  context: { tokens: number; highWater: number } | null;
  /** Share of the prompts that came from a cache, 0 to 1; null = nothing was asked yet. */
  fromCache: number | null;
  /** "$0.12"; null = nothing was asked yet. */
  cost: string | null;
  /** Of the newest turn; null = none ended here. */
  turnMs: number | null;
}

/** What is to be done; whoever does it tells what came of it by an event or a step of its own. */
export type Effect =
  | { kind: "send"; sent: SentText }
  | { kind: "cancel" }
  | { kind: "answer"; approval: Approval; answer: ApprovalAnswer }
  | { kind: "quit" }
  /** Finds what may stand where the cursor is. */
  | { kind: "complete"; draft: Draft }
  | { kind: "edit"; text: string }
  | { kind: "remember"; text: string }
  /** Goes on in another session. */
  | { kind: "move"; session: string }
  /** Reads the session, to be looked at in full. */
  | { kind: "look" }
  /** Puts the chat aside, as a shell does with any program. */
  | { kind: "suspend" }
  /** Nothing on the screen is known to be as it was. */
  | { kind: "redraw" };

export interface Step {
  state: ChatState;
  effects: readonly Effect[];
}

export function createChatState(): ChatState {
  return {
    ...{ draft: NO_DRAFT, cut: "", history: historyOf([]), menu: null, asksToQuit: false },
    ...{ conversation: { key: "", turn: null }, sent: [], sentCount: 0, approvals: [] },
    ...{ status: null, hint: null, isReady: false, view: null },
  };
}
