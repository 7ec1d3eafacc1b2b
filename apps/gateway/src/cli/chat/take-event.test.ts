import { describe, expect, it } from "vitest";
import type { GatewayEvent } from "../../events/shapes.ts";
import { textOfLine } from "../../terminal/styled.ts";
import { KEY, ready } from "../../testing/chat-keys.ts";
import type { Piece } from "./piece.ts";
import { renderPiece } from "./render-pieces.ts";
import { takeEvent } from "./take-event.ts";

type Told = Record<string, unknown> & { type: GatewayEvent["type"] };

/** What is shown of events, and what is known after them. */
function follow(...events: readonly Told[]) {
  let { conversation } = ready();
  const pieces: Piece[] = [];
  let last: ReturnType<typeof takeEvent> | undefined;
  for (const [index, event] of events.entries()) {
    const told = { id: `a.${index}`, at: "", session: KEY, ...event } as unknown as GatewayEvent;
    last = takeEvent(conversation, told, 1000 * index);
    ({ conversation } = last);
    pieces.push(...last.pieces);
  }
  const shown = pieces.flatMap((piece) => renderPiece(piece, 60)).map(textOfLine);
  return { conversation, pieces, shown: shown.filter((line) => line !== ""), last: last! };
}

const message = (message: object) => ({ type: "message" as const, entryId: "e", message });
const reply = (text: string) => message({ role: "assistant", content: [{ type: "text", text }] });

describe("a turn", () => {
  it("is shown as it goes, with thoughts and tools folded", () => {
    const { shown, conversation, last } = follow(
      { type: "started", kind: "user" },
      { type: "accepted", entryId: "1", message: { role: "user", content: "count the lines" } },
      { type: "thinking", delta: "I should look at " },
      { type: "thinking", delta: "the file." },
      { type: "tool_start", call: { id: "c", name: "read_file", arguments: { path: "a.txt" } } },
      { type: "tool_end", callId: "c", name: "read_file", isError: false },
      message({ role: "toolResult", content: [], isError: false }),
      { type: "text", delta: "It has **two** li" },
      { type: "text", delta: "nes.\nDone" },
      reply("It has **two** lines.\nDone."),
      { type: "done", outcome: "completed", error: null, turnId: "t", replyEntryId: "e" },
    );
    expect(shown).toEqual([
      "> count the lines",
      '● read_file {"path":"a.txt"}  1 s',
      "∴ thought for 5 s, 6 words",
      "It has two lines.",
      "Done.",
    ]);
    expect(conversation.turn).toBeNull();
    expect(last).toMatchObject({ isChanged: true, turnMs: 10_000 });
  });

  it("shows nothing of a message again that was read from the session", () => {
    const { conversation } = follow({ type: "started", kind: "user" });
    const told = { id: "a.1", at: "", session: KEY, ...reply("Read.") } as unknown as GatewayEvent;
    expect(takeEvent(conversation, told, 0).pieces).toHaveLength(1);
    const again = takeEvent(conversation, told, 0, true);
    expect(again.pieces).toEqual([]);
    const done = { ...told, type: "done", outcome: "completed", error: null } as GatewayEvent;
    expect(takeEvent(again.conversation, done, 0).pieces).toEqual([]);
  });

  it("shows in its place what is said in the middle of it", () => {
    const said = { role: "user", content: "use the other file" };
    const { shown, last } = follow({ type: "started", kind: "user" }, message(said));
    expect(shown).toEqual(["> use the other file"]);
    expect(last.accepted).toEqual({ text: "use the other file" });
  });

  it("that failed says why, and one that was stopped says that", () => {
    const error = { kind: "provider", message: "The provider answered 500.", code: null };
    const ended = { type: "done" as const, turnId: "t", replyEntryId: null };
    expect(follow({ ...ended, outcome: "failed", error }).shown).toEqual([
      "clew: The provider answered 500. [provider]",
    ]);
    expect(follow({ ...ended, outcome: "aborted", error: null }).shown).toEqual([
      "(stopped; what had arrived was kept)",
    ]);
  });

  it("of another session is not shown", () => {
    expect(
      follow({ type: "started", session: "agent:main:other", kind: "user" }).conversation.turn,
    ).toBeNull();
  });

  it("that began before is joined with all that was said of its reply", () => {
    const running = [
      {
        ...{ session: KEY, kind: "user", startedAt: "2026-01-01T00:00:00Z", prompt: null },
        ...{ call: null, text: "so far\nand", thinking: "", tools: [] },
      },
    ];
    const { shown, conversation } = follow(
      { type: "hello", running },
      { type: "text", delta: " on\n" },
    );
    expect(shown).toEqual(["so far", "and on"]);
    expect(conversation.turn).not.toBeNull();
  });

  it("whose end was missed says so", () => {
    const { shown } = follow(
      { type: "started", kind: "user" },
      { type: "text", delta: "half" },
      { type: "reset", why: "", running: [] },
    );
    expect(shown).toEqual(["half", "(the end of this turn was missed; Ctrl-O shows the session)"]);
  });
});
