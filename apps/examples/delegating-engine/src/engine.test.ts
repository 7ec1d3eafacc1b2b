import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, testEngine, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { textOf } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import { createEngine } from "./engine.ts";

testEngine({ test: it, create: createEngine });

it("halves no character of an earlier result, wherever the cut falls", async () => {
  for (const before of ["", "a"]) {
    const call = toolCall("read", { path: "faces.txt" }, "c1");
    const result = toolResult(call, `${before}${"😀".repeat(2_000)}`);
    const messages: AgentMessage[] = [
      ...[user("Read the faces."), assistant([call]), result, assistant("Read.")],
      ...[user("Thanks."), assistant("Yes."), user("And now?")],
    ];
    const view = await createEngine().assemble({ sessionId: "s", messages });
    const text = textOf(view.messages[2]!);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain(`[${before === "" ? 2_000 : 2_002} more characters not shown]`);
  }
});
