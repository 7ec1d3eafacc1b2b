import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../contract/message.ts";
import { assistant, toolCall, toolResult, user } from "../testing/messages.ts";
import type { TranscriptEntry } from "./entries.ts";
import { openRequest } from "./open-request.ts";

const branch = (...messages: (AgentMessage | "reset")[]): TranscriptEntry[] =>
  messages.map((message, index) => {
    const place = {
      id: `e${index}`,
      parentId: index === 0 ? null : `e${index - 1}`,
      timestamp: "2026-01-01T00:00:00.000Z",
    };
    return message === "reset"
      ? { type: "reset", ...place }
      : { type: "message", message, ...place };
  });

describe("openRequest", () => {
  const call = toolCall("read", {}, "c");

  it("is the last user message while no answer was accepted", () => {
    const request = user("do it");
    expect(openRequest(branch(user("before"), assistant("done"), request))).toEqual({
      entryId: "e2",
      message: request,
    });
    expect(openRequest(branch(request, assistant([call]), toolResult(call, "text")))).toEqual({
      entryId: "e0",
      message: request,
    });
    expect(
      openRequest(branch(request, assistant("half", { stopReason: "aborted" })))?.entryId,
    ).toBe("e0");
    expect(openRequest(branch(request, assistant("", { stopReason: "error" })))?.entryId).toBe(
      "e0",
    );
    expect(openRequest(branch(request, assistant("  ")))?.entryId).toBe("e0");
  });

  it("is none once it was answered, after a reset, and where nobody asked", () => {
    expect(
      openRequest(
        branch(user("do it"), assistant([call]), toolResult(call, "text"), assistant("done")),
      ),
    ).toBeUndefined();
    expect(openRequest(branch(user("do it"), "reset"))).toBeUndefined();
    expect(openRequest([])).toBeUndefined();
  });
});
