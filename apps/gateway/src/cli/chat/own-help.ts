// Lists the commands and keys that only a chat at a terminal has.
import { alignColumns } from "../../terminal/table.ts";
import type { Option } from "./menu.ts";

export const OWN_COMMANDS: readonly Option[] = [
  { text: "/edit", about: "write the message in your editor" },
  { text: "/session", about: "go on in another session" },
  { text: "/quit", about: "leave" },
];

const KEYS = [
  ["Enter", "sends; a paste of many lines is one message"],
  ["Alt-Enter, Ctrl-J", "another line; also \\ before Enter"],
  ["Esc", "stops the reply; what was typed stays"],
  ["Ctrl-C", "clears the line, else stops the reply, else asks to leave"],
  ["Ctrl-D", "leaves, on an empty line"],
  ["Ctrl-Z", "puts the chat aside; fg brings it back"],
  ["Up, Down, Ctrl-R", "earlier messages, and a search in them"],
  ["Tab", "completes commands, files, sessions and models"],
  ["Ctrl-O", "the whole session, with thoughts and tool calls to open"],
  ["Ctrl-W, -U, -K, -Y", "cut a word, to the beginning, to the end; put back"],
] as const;

/** Pure. What "/help" says besides the commands that work everywhere. */
export const ownHelp = (): string =>
  [
    "In this terminal:",
    alignColumns([...OWN_COMMANDS.map(({ text, about = "" }) => [text, about]), ...KEYS]),
  ].join("\n");
