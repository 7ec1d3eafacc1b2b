import { describe, expect, it } from "vitest";
import { read, told } from "../testing/import-world.ts";
import { CHAT, RESPONSES } from "../testing/transcripts.ts";

const SAID = [
  ...["user: What is in a?", "assistant: →read", "toolResult: A", "assistant: A is in it."],
];

describe("messages of OpenAI's API", () => {
  it.each([
    ["a list of chat messages", [CHAT], ["custom_message", ...SAID]],
    ["a list of items of Responses", [RESPONSES], SAID],
    [
      "a request of Chat Completions",
      [{ model: "m", messages: CHAT }],
      ["custom_message", ...SAID],
    ],
    ["a request of Responses", [{ model: "m", input: RESPONSES }], SAID],
    ["chat messages line by line", CHAT, ["custom_message", ...SAID]],
    ["items line by line", RESPONSES, SAID],
  ])("are one conversation as %s", (_what, values, expected) => {
    const { branch, names, tally } = read("openai", values);
    expect(told(branch())).toEqual(expected);
    expect(names).toEqual([""]);
    expect(tally.kept).toEqual({});
  });

  it("are as many conversations as there are lines that hold one", () => {
    const { names, branch } = read("openai", [{ messages: CHAT }, { messages: CHAT.slice(0, 2) }]);
    expect(names).toEqual(["1", "2"]);
    expect(told(branch("2"))).toEqual(["custom_message", "user: What is in a?"]);
  });

  it("carry the model, the usage and the times that are told beside them", () => {
    const usage = {
      ...{ prompt_tokens: 100, completion_tokens: 7 },
      prompt_tokens_details: { cached_tokens: 60 },
    };
    const created = 1_770_000_000;
    const messages = CHAT.map((message) => ({ ...(message as object), created_at: created }));
    const branch = read("openai", [{ model: "gpt-5.5", messages, usage }]).branch();
    expect(branch.at(-1)).toMatchObject({
      timestamp: new Date(created * 1000).toISOString(),
      message: {
        ...{ model: "gpt-5.5", provider: "openai", timestamp: created * 1000 },
        usage: { input: 40, cacheRead: 60, output: 7, totalTokens: 107 },
      },
    });
  });

  it("may be in Anthropic's form", () => {
    const messages = [
      { role: "user", content: "What is in a?" },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "A" }] },
      { role: "assistant", content: "A is in it." },
    ];
    const { branch } = read("openai", [{ system: "Be brief.", messages }]);
    expect(told(branch())).toEqual(["custom_message", ...SAID]);
  });

  it("have the same ids whenever they are read, and others where anything before differs", () => {
    const ids = (values: readonly unknown[]) =>
      read("openai", values)
        .branch()
        .map(({ id }) => id);
    expect(ids([CHAT])).toEqual(ids(CHAT));
    expect(ids([CHAT]).slice(0, 3)).toEqual(ids([CHAT.slice(0, 3)]));
    const other = ids([[{ role: "system", content: "Be long." }, ...CHAT.slice(1)]]);
    expect(other.some((id) => ids([CHAT]).includes(id))).toBe(false);
  });
});
