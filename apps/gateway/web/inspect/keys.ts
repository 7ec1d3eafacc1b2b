// What each key does in the inspector, which the help lists too.

export type Action =
  | "call-before"
  | "call-after"
  | "compare-before"
  | "compare-after"
  | "compare-with"
  | "compare-here"
  | "first-call"
  | "last-call"
  | "dearest"
  | "fullest"
  | "search"
  | "help"
  | "close"
  | "chat"
  | "changes"
  | "filter"
  | "zoom-in"
  | "zoom-out"
  | "zoom-all"
  | "column-1"
  | "column-2"
  | "column-3"
  | "why"
  | "what-if"
  | "shadow"
  | "entry"
  | "fold"
  | "export";

export interface Binding {
  action: Action;
  keys: readonly string[];
  /** What a person is told that it does. */
  does: string;
}

export const BINDINGS: readonly Binding[] = [
  { action: "call-before", keys: ["[", "ArrowLeft"], does: "the call before" },
  { action: "call-after", keys: ["]", "ArrowRight"], does: "the call after" },
  {
    action: "compare-before",
    keys: ["Shift+ArrowLeft", "{"],
    does: "compare with an earlier call",
  },
  { action: "compare-after", keys: ["Shift+ArrowRight", "}"], does: "compare with a later call" },
  { action: "compare-here", keys: ["m"], does: "compare other calls with this one, or no more" },
  { action: "compare-with", keys: ["v"], does: "compare with a call that is named" },
  { action: "first-call", keys: ["<"], does: "the first call" },
  { action: "last-call", keys: [">"], does: "the newest call, and follow it" },
  { action: "dearest", keys: ["$"], does: "the dearest call" },
  { action: "fullest", keys: ["%"], does: "the fullest call, against its budget" },
  {
    action: "search",
    keys: ["/"],
    does: "search everything, or go to a call (58.3), a turn (t58), two calls (57.1..58.3)",
  },
  { action: "filter", keys: ["f"], does: "the next filter of the transcript" },
  { action: "changes", keys: ["d"], does: "what changed since the call before" },
  { action: "column-1", keys: ["1"], does: "to the transcript" },
  { action: "column-2", keys: ["2"], does: "to the call as sent" },
  { action: "column-3", keys: ["3"], does: "to the changes, or what is open" },
  { action: "entry", keys: ["e"], does: "open what the cursor is on, and go there" },
  { action: "fold", keys: ["b"], does: "fold what is below the columns, or unfold it" },
  { action: "why", keys: ["w"], does: "why these entries, and what they cost" },
  { action: "what-if", keys: ["p"], does: "play it with another engine or window" },
  { action: "shadow", keys: ["s"], does: "the shadow engine beside the one that answers" },
  { action: "zoom-in", keys: ["+", "="], does: "zoom in around the call" },
  { action: "zoom-out", keys: ["-"], does: "zoom out" },
  { action: "zoom-all", keys: ["0"], does: "all calls" },
  { action: "export", keys: ["x"], does: "export the call" },
  { action: "chat", keys: ["c"], does: "back to the chat" },
  { action: "close", keys: ["Escape"], does: "close what is open" },
  { action: "help", keys: ["?"], does: "this help" },
];

/** What a pointer does in the plot, where keys do the same. */
export const PLOT_DEEDS: readonly (readonly [string, string])[] = [
  ["click", "show the call"],
  ["Shift click", "compare with the call"],
  ["drag", "zoom into these calls; a double click shows all"],
];

/** Keys of a list that has the focus; they are told, and handled there. */
export const LIST_KEYS: readonly (readonly [string, string])[] = [
  ["j k ↑ ↓", "the next or previous row"],
  ["Page ↑ ↓ Home End", "further"],
  ["Enter Space", "open the row"],
];

/** Keys of the chat, which is left by one of them for the calls. */
export const CHAT_KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send"],
  ["Shift Enter", "begin another line"],
  ["Esc", "stop the reply, else leave the box"],
  ["i", "outside the box: these calls"],
];

export interface Pressed {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** Pure. Undefined: none of ours. What a browser or system has with Ctrl, Alt or ⌘ stays theirs. */
export function actionOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Pressed): Action | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  // A character says by itself whether Shift was held.
  const name = shiftKey && key.length > 1 ? `Shift+${key}` : key;
  return BINDINGS.find(({ keys }) => keys.includes(name))?.action;
}
