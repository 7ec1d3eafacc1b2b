import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import type { Reply } from "../testing/agents.ts";
import { writeReply } from "../testing/write-reply.ts";
import { readWholeReply } from "./read-whole-reply.ts";

const REPLY: Reply = {
  text: "I look it up.",
  thinking: "hm",
  calls: ["a", "b"].map((id) => ({ id, name: "session_search", args: { query: `"${id}" é` } })),
};

const written = (api: (typeof DOOR_APIS)[number], reply: Reply, streaming: boolean) =>
  writeReply(api, reply, { id: "r", usage: { input: 1, output: 1 }, streaming }).pieces.join("");

describe.each(DOOR_APIS)("a whole reply of %s", (api) => {
  it("is the same messages, streamed or not, with words, calls and proofs", () => {
    const whole = readWholeReply(api, written(api, REPLY, false), []);
    const streamed = readWholeReply(api, written(api, REPLY, true), []);
    const text = JSON.stringify(whole);
    for (const words of ["I look it up.", "session_search"]) expect(text).toContain(words);
    // Google's parts come in pieces, and go back as they came.
    if (api === "google-generative-ai") {
      const parts = (streamed[0]!.parts as object[]).filter((part) => "functionCall" in part);
      expect(text).toContain(JSON.stringify(parts).slice(1, -1));
    } else expect(streamed).toEqual(whole);
    if (api !== "google-generative-ai") expect(text).toContain("hm");
  });

  it("is the same whatever ends its lines", () => {
    const stream = written(api, REPLY, true);
    expect(readWholeReply(api, stream.replaceAll("\n", "\r\n"), [])).toEqual(
      readWholeReply(api, stream, []),
    );
  });
});

describe("a reply of Chat Completions", () => {
  it("gets the ids that its server did not give", () => {
    const nameless = { ...REPLY, calls: REPLY.calls.map((call) => ({ ...call, id: "" })) };
    const [message] = readWholeReply(
      "openai-completions",
      written("openai-completions", nameless, true),
      ["x", "y"],
    );
    expect((message!.tool_calls as { id: string }[]).map(({ id }) => id)).toEqual(["x", "y"]);
  });
});
