// What a chat shows of a session when it begins.
import { expect, it } from "vitest";
import type { ChatItem } from "../../conversation/chat-view.ts";
import { lastPieces } from "./last-pieces.ts";

const said = (text: string): ChatItem => ({ kind: "person", id: text, text, images: 0 });
const reply = (text: string): ChatItem => ({
  ...{ kind: "reply", id: text, ending: null },
  parts: [{ kind: "text", text }],
});
const long = Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join("\n");
const shown = (...items: ChatItem[]) => lastPieces(items, false, 80);

it("what fits is shown whole, with nothing said of earlier messages", () => {
  const pieces = shown(said("one"), reply("heard one"));
  expect(pieces.map(({ kind }) => kind)).toEqual(["person", "reply"]);
});

it("a long message is begun where the reply to it is shown, and says how much more there is", () => {
  const [earlier, message, answer] = shown(said("before"), said(long), reply("Noted."));
  expect(earlier).toMatchObject({ kind: "note", text: expect.stringContaining("Ctrl-O") });
  const text = "line 1\nline 2\nline 3\n… (197 more lines: Ctrl-O)";
  expect(message).toMatchObject({ kind: "person", text });
  expect(answer).toMatchObject({ kind: "reply" });
});

it("one line of any length is begun, too", () => {
  const [message] = shown(said("x".repeat(5_000)), reply("Noted."));
  expect(message).toMatchObject({ kind: "person", text: `${"x".repeat(200)}…` });
});

it("the newest item is shown whole, however long it is", () => {
  expect(shown(said("before"), said(long)).at(-1)).toMatchObject({ kind: "person", text: long });
});
