import { describe, expect, it } from "vitest";
import { assistant, text, user } from "./__fixtures__/messages.ts";
import { projectForDisplay, projectMessageForDisplay, projectTextForDisplay } from "./display.ts";
import { annotateInterSessionUserMessages } from "./passes/inter-session.ts";
import {
  stripHistoricalRuntimeContextCustomMessages,
  stripRuntimeContextCustomMessages,
} from "./passes/runtime-context.ts";

const context = (content: string) => ({
  role: "custom" as const,
  customType: "openclaw.runtime-context",
  content,
  display: false,
});

describe("what people see of a history", () => {
  it("holds no markers, no runtime context, no metadata and no time stamps", () => {
    const begin = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
    const end = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
    const metadata = 'Sender (untrusted metadata):\n```json\n{"label":"Ann"}\n```';
    expect(
      projectTextForDisplay(
        `${metadata}\n\nConversation info (untrusted, for context):\n\`\`\`json\n{}\n\`\`\`\n\nhello`,
      ),
    ).toBe("hello");
    expect(projectTextForDisplay(`[Fri 2026-05-01 10:00 UTC] hello`)).toBe("hello");
    expect(projectTextForDisplay(`${begin}\nsecret\n${end}\n\nhello`)).toBe("hello");
    expect(projectTextForDisplay("hello (untrusted metadata) there")).toBe(
      "hello (untrusted metadata) there",
    );
  });

  it("shows a message from another session without the marker the model gets", () => {
    const provenance = { kind: "inter_session", sourceTool: "send" };
    const { messages } = annotateInterSessionUserMessages({
      messages: [user("hi", { provenance })],
    });
    expect(projectForDisplay(messages)).toEqual([user("hi", { provenance })]);
  });

  it("leaves out what was never meant to be seen, and everything else as the same object", () => {
    const shown = [user("q"), assistant([text("a")])];
    expect(projectForDisplay(shown)).toBe(shown);
    expect(projectForDisplay([context("secret"), ...shown])).toEqual(shown);
    expect(projectMessageForDisplay(user([text("[Fri 2026-05-01 10:00 UTC]")]))).toBeUndefined();
    expect(projectMessageForDisplay(shown[0]!)).toBe(shown[0]);
  });

  it("keeps runtime context only directly before the last user message, where the running turn needs it", () => {
    const [old, current] = [context("old"), context("current")];
    const messages = [old, user("q"), assistant([text("a")]), current, user("n")];
    expect(stripHistoricalRuntimeContextCustomMessages(messages)).toEqual([
      user("q"),
      assistant([text("a")]),
      current,
      user("n"),
    ]);
    expect(stripRuntimeContextCustomMessages(messages)).toEqual([
      user("q"),
      assistant([text("a")]),
      user("n"),
    ]);
    expect(
      stripHistoricalRuntimeContextCustomMessages([context("x"), assistant([text("a")])]),
    ).toEqual([assistant([text("a")])]);
  });
});
