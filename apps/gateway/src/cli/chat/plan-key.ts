// Decides what a key does in a chat at a terminal.
import type { ApprovalAnswer } from "../../approvals/approval.ts";
import { shortName } from "../../sessions/keys.ts";
import { isWorking } from "./conversation.ts";
import { cut, type Draft, insert, type Motion, move, moveLine, NO_DRAFT } from "./draft.ts";
import { find, step, withEntry } from "./history.ts";
import type { Key, KeyName } from "./key.ts";
import { choose } from "./menu.ts";
import type { ChatState, Effect, Step } from "./state.ts";
import { planViewKey } from "./view.ts";

/** Pure. */
export function planKey(before: ChatState, key: Key): Step {
  if (before.view !== null) return inView(before, key);
  const isInterrupt = key.kind === "press" && key.name === "interrupt";
  const state: ChatState = {
    ...before,
    hint: null,
    asksToQuit: isInterrupt && before.asksToQuit,
  };
  if (state.history.search !== null) return planSearchKey(state, key);
  if (key.kind !== "press") return only(write(state, key.text));
  return planPress(state, key.name);
}

function inView(state: ChatState, key: Key): Step {
  const view = state.view && planViewKey(state.view, key);
  return { state: { ...state, view }, effects: view === null ? [{ kind: "redraw" }] : [] };
}

function planPress(state: ChatState, name: KeyName): Step {
  const motion = MOTIONS[name];
  if (motion !== undefined) return only(withDraft(state, move(state.draft, motion)));
  const cutting = CUTS[name];
  if (cutting !== undefined) return only(cutOff(state, name, cutting));
  switch (name) {
    case "enter":
      return planEnter(state);
    case "newline":
      return only(write(state, "\n"));
    case "up":
    case "down":
      return only(planVertical(state, name === "up" ? -1 : 1));
    case "tab":
    case "shift-tab":
      return planTab(state, name === "tab" ? 1 : -1);
    case "escape":
      return planEscape(state);
    case "put-back":
      return only(write(state, state.cut));
    case "interrupt":
      return planInterrupt(state);
    case "end-of-input":
      if (state.draft.text === "") return { state, effects: [{ kind: "quit" }] };
      return only(withDraft(state, cut(state.draft, "right").draft));
    case "search":
      return only({
        ...state,
        menu: null,
        history: { ...state.history, search: { words: "", at: null } },
      });
    case "open":
      return { state, effects: [{ kind: "look" }] };
    case "redraw":
    case "suspend":
      return { state, effects: [{ kind: name }] };
    default:
      return only(state);
  }
}

const MOTIONS: Partial<Record<KeyName, Motion>> = {
  ...{ left: "left", right: "right", home: "line-start", end: "line-end" },
  ...{ "word-left": "word-left", "word-right": "word-right", start: "start", finish: "end" },
};
const CUTS: Partial<Record<KeyName, Motion>> = {
  ...{ backspace: "left", delete: "right", "cut-word": "word-left" },
  ...{ "cut-next-word": "word-right", "cut-to-start": "line-start", "cut-to-end": "line-end" },
};

const only = (state: ChatState): Step => ({ state, effects: [] });

/** A choice is over once something else is done. */
const withDraft = (state: ChatState, draft: Draft): ChatState =>
  freed({ ...state, draft, menu: null });

const write = (state: ChatState, text: string): ChatState =>
  withDraft(state, insert(state.draft, text));

/** What is written from an empty line on may answer what is asked by then. */
function freed(state: ChatState): ChatState {
  if (state.draft.text !== "" || state.approvals.every(({ mayBeAnswered }) => mayBeAnswered))
    return state;
  return { ...state, approvals: state.approvals.map((each) => ({ ...each, mayBeAnswered: true })) };
}

function cutOff(state: ChatState, name: KeyName, motion: Motion): ChatState {
  const { draft, taken } = cut(state.draft, motion);
  const isOneKey = name === "backspace" || name === "delete";
  return { ...withDraft(state, draft), cut: isOneKey || taken === "" ? state.cut : taken };
}

function planVertical(state: ChatState, by: -1 | 1): ChatState {
  if (state.menu !== null) return { ...state, ...choose(state.menu, by) };
  const moved = moveLine(state.draft, by);
  if (moved !== undefined) return withDraft(state, moved);
  const stepped = step(state.history, by, state.draft.text);
  if (stepped === undefined) return state;
  const { history, text } = stepped;
  return { ...withDraft(state, { text, cursor: text.length }), history };
}

function planTab(state: ChatState, by: -1 | 1): Step {
  if (state.menu !== null) return only({ ...state, ...choose(state.menu, by) });
  if (by === -1) return only(state);
  return { state, effects: [{ kind: "complete", draft: state.draft }] };
}

function planEscape(state: ChatState): Step {
  if (state.menu !== null) return only({ ...state, draft: state.menu.draft, menu: null });
  return isWorking(state.conversation) ? { state, effects: [{ kind: "cancel" }] } : only(state);
}

/** Clears what is written, else cancels what runs, else asks, else leaves. */
function planInterrupt(state: ChatState): Step {
  if (state.draft.text !== "")
    return only({ ...withDraft(state, NO_DRAFT), cut: state.draft.text, hint: CLEARED });
  if (isWorking(state.conversation)) return { state, effects: [{ kind: "cancel" }] };
  if (state.asksToQuit) return { state, effects: [{ kind: "quit" }] };
  return only({
    ...state,
    asksToQuit: true,
    hint: "Ctrl-C once more leaves; any other key stays.",
  });
}

const CLEARED = "Cleared; Ctrl-Y puts it back.";

function planEnter(state: ChatState): Step {
  const { draft, menu } = state;
  if (menu !== null && menu.chosen !== null) return only({ ...state, menu: null });
  if (draft.cursor === draft.text.length && /(^|[^\\])(\\\\)*\\$/.test(draft.text))
    return only(write(withDraft(state, cut(draft, "left").draft), "\n"));
  const text = draft.text.trim();
  if (text === "") return only(withDraft(state, NO_DRAFT));
  const [asked] = state.approvals;
  const answer = asked?.mayBeAnswered === true ? answerIn(text) : undefined;
  if (asked !== undefined && answer !== undefined)
    return {
      state: withDraft(state, NO_DRAFT),
      effects: [{ kind: "answer", approval: asked.approval, answer }],
    };
  return planSaid(state, draft.text);
}

function planSaid(before: ChatState, text: string): Step {
  const history = withEntry(before.history, text);
  const state = { ...withDraft(before, NO_DRAFT), history };
  const remember: Effect[] =
    history.entries === before.history.entries ? [] : [{ kind: "remember", text }];
  const [, word, rest = ""] = /^\s*\/(\w+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  switch (word) {
    case "quit":
    case "exit":
      return { state, effects: [...remember, { kind: "quit" }] };
    case "edit":
      return { state, effects: [{ kind: "edit", text: rest }] };
    case "session":
      if (rest.trim() === "") return only({ ...state, hint: whichSession(state) });
      return { state, effects: [...remember, { kind: "move", session: rest.trim() }] };
  }
  const sent = { id: state.sentCount, text };
  return {
    state: { ...state, sent: [...state.sent, sent], sentCount: sent.id + 1 },
    effects: [...remember, ...(state.isReady ? [{ kind: "send" as const, sent }] : [])],
  };
}

const whichSession = ({ conversation: { key } }: ChatState): string =>
  `This is session ${shortName(key)}; "/session NAME" goes on in another, and Tab lists them.`;

/** Only a word that was meant for it. */
function answerIn(text: string): ApprovalAnswer | undefined {
  if (/^y(es)?$/i.test(text)) return "once";
  if (/^s(ession)?$/i.test(text)) return "session";
  return /^no?$/i.test(text) ? "no" : undefined;
}

function planSearchKey(state: ChatState, key: Key): Step {
  const { history } = state;
  const { words, at } = history.search!;
  const to = (next: string, found: number | null): Step =>
    only({ ...state, history: { ...history, search: { words: next, at: found } } });
  if (key.kind !== "press") {
    const next = words + key.text.replace(/\s+/g, " ");
    return to(next, find(history.entries, next));
  }
  switch (key.name) {
    case "search":
      return to(words, find(history.entries, words, at ?? undefined) ?? at);
    case "backspace":
      return to(words.slice(0, -1), find(history.entries, words.slice(0, -1)));
    case "escape":
    case "interrupt":
      return only({ ...state, history: { ...history, search: null }, asksToQuit: false });
    default: {
      const text = at === null ? undefined : history.entries[at];
      const taken = text === undefined ? state : withDraft(state, { text, cursor: text.length });
      const ended = { ...taken, history: { ...history, search: null } };
      // What was found is looked at before it is sent.
      return key.name === "enter" || key.name === "tab" ? only(ended) : planPress(ended, key.name);
    }
  }
}
