import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { expect, it } from "vitest";
import { replyNotice } from "./reply-notice.ts";

const model = { provider: "acme", id: "m" };
const text = { type: "text", text: "Hello" } as const;
const thinking = { type: "thinking", thinking: "Hm." } as const;
const call = { type: "toolCall", id: "1", name: "read", arguments: {} } as const;

it.each<[AssistantMessage["stopReason"], AssistantMessage["content"], string | undefined]>([
  ["stop", [thinking, text], undefined],
  ["toolUse", [call], undefined],
  ["length", [text], "The reply of acme/m was cut at the limit of its length; ask"],
  ["length", [thinking], "acme/m reached the limit of its length before it said anything; allow"],
  ["stop", [], "acme/m answered without a word; ask again"],
  ["stop", [thinking, { type: "text", text: " \n" }], "acme/m answered without a word"],
  [
    "stop",
    [{ type: "provider", api: "a", provider: "p", model: "m", kind: "k", data: 1 }],
    undefined,
  ],
  ["error", [], undefined],
])("a reply that ended by %s with %j is told as %s", (stopReason, content, expected) => {
  const said = replyNotice({ content, stopReason }, model);
  if (expected === undefined) expect(said).toBeUndefined();
  else expect(said).toContain(expected);
});
