import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { foldChat, type ShownEntry } from "./chat-view.ts";

const place = (id: string) => ({ id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" });

const messages = (...list: Extract<ShownEntry, { type: "message" }>["message"][]): ShownEntry[] =>
  list.map((message, index) => ({ type: "message", ...place(`e${index}`), message }));

describe("a chat", () => {
  it("shows all that the model did for one message as one reply, results with their calls", () => {
    const call = toolCall("search", { query: "cat" }, "c1");
    const items = foldChat(
      messages(
        user("Where is my cat?"),
        assistant([{ type: "text", text: "Let me look." }, call]),
        toolResult(call, "on the roof"),
        assistant("On the roof."),
      ),
    );
    expect(items).toEqual([
      { kind: "person", id: "e0", text: "Where is my cat?", images: 0 },
      {
        kind: "reply",
        id: "e1",
        ending: null,
        parts: [
          { kind: "text", text: "Let me look." },
          {
            kind: "tool",
            callId: "c1",
            name: "search",
            input: '{\n "query": "cat"\n}',
            state: "done",
            output: "on the roof",
          },
          { kind: "text", text: "On the roof." },
        ],
      },
    ]);
  });

  it("shows nothing raw of what a tool is called with", () => {
    const call = toolCall("read_file", { path: "a\u202etxt.b\u009b2K" }, "c1");
    expect(foldChat(messages(user("Read."), assistant([call])))).toMatchObject([
      { kind: "person" },
      { parts: [{ input: '{\n "path": "a\\u202etxt.b\\u009b2K"\n}' }] },
    ]);
  });

  it("shows what another session said as that one's, not as the person's", () => {
    const provenance = {
      kind: "inter_session",
      sourceSessionKey: "agent:main:subagent:1",
    } as const;
    const told = { ...user("[Inter-session message] isUser=false\nIt has completed."), provenance };
    expect(foldChat(messages(told))).toEqual([
      { kind: "mark", id: "e0", text: "From session subagent:1", detail: "It has completed." },
    ]);
  });

  it("shows what a job said as a job's, not as the person's", () => {
    const said = { ...user("How is it?"), __openclaw: { kind: "cron" } } as const;
    expect(foldChat(messages(said))).toEqual([
      { kind: "mark", id: "e0", text: "From a job", detail: "How is it?" },
    ]);
  });

  it("says how a reply ended that did not end by itself", () => {
    const ended = (stopReason: "aborted" | "error" | "length", errorMessage?: string) =>
      foldChat(
        messages({
          role: "assistant",
          content: [],
          stopReason,
          ...(errorMessage !== undefined && { errorMessage }),
        }),
      );
    expect(ended("aborted")).toMatchObject([{ ending: { kind: "stopped" } }]);
    expect(ended("error", "The server is gone; start it.")).toMatchObject([
      { ending: { kind: "failed", text: "The server is gone; start it." } },
    ]);
    expect(ended("length")).toMatchObject([{ ending: { kind: "cut" } }]);
  });

  it("marks where history became a summary, and hides records that are for programs", () => {
    const entries: ShownEntry[] = [
      {
        type: "compaction",
        ...place("a"),
        summary: "We spoke of cats.",
        firstKeptEntryId: "x",
        tokensBefore: 900,
      },
      { type: "custom", ...place("b"), customType: "secret", data: "hidden" },
      {
        type: "custom_message",
        ...place("c"),
        customType: "openclaw.runtime-context",
        content: "hidden",
        display: false,
      },
      {
        type: "custom_message",
        ...place("d"),
        customType: "weather",
        content: "sunny",
        display: true,
      },
      { type: "label", ...place("e"), targetId: "a", label: "hidden" },
    ];
    const items = foldChat(entries);
    expect(items.map(({ id }) => id)).toEqual(["a", "d"]);
    expect(items).toMatchObject([
      { detail: "We spoke of cats." },
      { text: "weather", detail: "sunny" },
    ]);
    expect(JSON.stringify(items)).not.toContain("hidden");
  });

  it("never shows the runtime context that hosts put around a person's words", () => {
    const text =
      "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nhidden\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n\nHello.";
    expect(foldChat(messages(user(text)))).toMatchObject([{ text: "Hello." }]);
  });

  it("shows a result without its call, and contents of shapes it does not know", () => {
    const orphan = toolResult(toolCall("lost", {}, "c9"), "found");
    expect(foldChat(messages(orphan))).toMatchObject([
      { kind: "reply", parts: [{ kind: "tool", name: "lost", output: "found" }] },
    ]);
    const strange = JSON.parse(
      '[{"role":"assistant","content":"plain"},{"role":"user","content":[{"type":"video"}]},{"role":"assistant","content":null}]',
    );
    expect(foldChat(messages(...strange))).toMatchObject([
      { kind: "reply", parts: [{ kind: "text", text: "plain" }] },
    ]);
  });
});
