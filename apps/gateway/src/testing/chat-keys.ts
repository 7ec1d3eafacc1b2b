// Makes states and keys of a chat for tests, by words.
import fc from "fast-check";
import type { Approval } from "../approvals/approval.ts";
import type { Key, KeyName } from "../cli/chat/key.ts";
import { planKey } from "../cli/chat/plan-key.ts";
import { type ChatState, createChatState, type Effect } from "../cli/chat/state.ts";

export const KEY = "agent:main:main";

/** A session that is open, with nothing said in it. */
export const ready = (change: Partial<ChatState> = {}): ChatState => ({
  ...createChatState(),
  conversation: { key: KEY, turn: null },
  isReady: true,
  ...change,
});

/** A reply is being written. */
export const working = (change: Partial<ChatState> = {}): ChatState =>
  ready({
    conversation: {
      key: KEY,
      turn: {
        ...{ since: 0, isQuiet: true, thought: null, hasBegun: false, tools: {} },
        ...{ ended: null },
        reply: { fence: null, rows: [], rest: "", whole: "" },
      },
    },
    ...change,
  });

export const text = (written: string): Key => ({ kind: "text", text: written });
export const paste = (pasted: string): Key => ({ kind: "paste", text: pasted });
export const press = (name: KeyName): Key => ({ kind: "press", name });

/** What all of them do, one after the other. */
export function typed(
  before: ChatState,
  ...keys: readonly Key[]
): { state: ChatState; effects: Effect[] } {
  return keys.reduce<{ state: ChatState; effects: Effect[] }>(
    ({ state, effects }, key) => {
      const step = planKey(state, key);
      return { state: step.state, effects: [...effects, ...step.effects] };
    },
    { state: before, effects: [] },
  );
}

export const approvalOf = (change: Partial<Approval> = {}): Approval => ({
  ...{ id: "a1", asker: { kind: "tool", id: "gateway" }, agentId: "main", sessionKey: KEY },
  ...{ above: [], label: null, name: "write_file", arguments: { path: "a.txt" } },
  ...{ grants: "any call of write_file", askedAt: "", expiresAt: "" },
  ...change,
});

/** What people see as one character, of many scripts; some of no width, some of two columns. */
export const anyCharacter = fc.constantFrom(
  ...[
    "a",
    "B",
    "7",
    " ",
    " ",
    "-",
    "|",
    "`",
    "*",
    "#",
    ".",
    "é",
    "e\u0301",
    "\u0301",
    "ß",
    "漢",
    "字",
  ],
  ...["か", "한", "ｗ", "🎉", "👩‍👧", "🇩🇪", "❤️", "ש", "ل", "\u200b", "\u00ad", "…", "𝒳", "क्षि"],
);

/** Whatever can stand in a text, halves of characters and control characters too. */
export const anySign = fc.oneof(
  fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCodePoint(code)),
  fc.constantFrom("\u202e", "\u2066", "\u2028", "\u001b[31m", "\u001b]0;x\u0007", "\r\n"),
);
