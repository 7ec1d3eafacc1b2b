// Which messages a plugin may put in the place of those that are stored.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { expect, it } from "vitest";
import { planWrite } from "./write-hooks.ts";

const said = (content: unknown) => ({ role: "user", content }) as AgentMessage;

it("stores no text of a plugin that is longer than a message may be, and says so", () => {
  const block = (text: string) => [{ type: "text", text }];
  for (const [before, after] of [
    ["small", "W".repeat(3000)],
    [block("small"), block("W".repeat(3000))],
  ])
    expect(planWrite(said(before), { message: said(after) }, 2048)).toBe(
      "what it returned has 3 KiB of text, and at most 2 KiB are taken (gateway.limits.messageBytes); it was stored as it was",
    );
  const long = said("W".repeat(3000));
  const shorter = said("W".repeat(2900));
  expect(planWrite(long, { message: shorter }, 2048)).toEqual(shorter);
});
