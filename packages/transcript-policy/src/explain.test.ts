import { describe, expect, it } from "vitest";
import {
  asking,
  assistant,
  call,
  reasoning,
  result,
  SIGNATURE,
  text,
  thinking,
  user,
} from "./__fixtures__/messages.ts";
import { explainInvalid } from "./explain.ts";

const rules = (messages: unknown[], modelApi = "anthropic-messages", modelId = "claude-opus-4-6") =>
  explainInvalid({ messages: messages as never, modelApi, modelId }).map(
    ({ rule, index }) => `${index} ${rule}`,
  );

describe("why a provider would reject a history", () => {
  it("has nothing to say about a valid one", () => {
    const messages = [
      user("q"),
      asking([thinking(SIGNATURE), call("toolu_1")]),
      result("toolu_1"),
      assistant([text("a")]),
      user("n"),
    ];
    for (const api of [
      "anthropic-messages",
      "bedrock-converse-stream",
      "google-generative-ai",
      "openai-completions",
    ])
      expect(rules(messages, api)).toEqual([]);
  });

  it.each<[string, unknown[], string[]]>([
    ["an entry that is no message", [null, user("q")], ["0 role.invalid"]],
    [
      "a history that starts with an assistant",
      [assistant([text("a")]), user("q")],
      ["0 first.user"],
    ],
    [
      "a history that ends with an answer",
      [user("q"), assistant([text("a")])],
      ["1 prefill.model"],
    ],
    ["two messages of one role in a row", [user("q"), user("r")], ["1 roles.alternate"]],
    ["a blank message", [user(" ")], ["0 content.empty"]],
    ["a message without content", [user([])], ["0 content.empty"]],
    ["content that is no list", [user("q"), assistant("a"), user("n")], ["1 content.type"]],
    ["a blank text", [user([text(" ")])], ["0 text.whitespace"]],
    ["half a character", [user("\udc00")], ["0 unicode.surrogate"]],
    ["a block of another role", [user([thinking(SIGNATURE)])], ["0 block.type"]],
    [
      "thinking without a signature",
      [user("q"), assistant([thinking(), text("a")]), user("n")],
      ["1 thinking.signature"],
    ],
    [
      "thinking another provider signed",
      [user("q"), assistant([reasoning("rs_1"), text("a")]), user("n")],
      ["1 thinking.signature"],
    ],
    [
      "thinking at the end of a message",
      [user("q"), assistant([text("a"), thinking(SIGNATURE)]), user("n")],
      ["1 thinking.must_not_end"],
    ],
    ["an illegal id", [user("q"), asking([call("a b")]), result("a b")], ["1 tool_use.id"]],
    [
      "an illegal name",
      [user("q"), asking([call("a", { name: "a.b" })]), result("a")],
      ["1 tool_use.name"],
    ],
    [
      "arguments that are no object",
      [user("q"), asking([call("a", { arguments: "" })]), result("a")],
      ["1 tool_use.input"],
    ],
    [
      "an id used twice",
      [user("q"), asking([call("a")]), result("a"), asking([call("a")]), result("a")],
      ["3 tool_use.unique"],
    ],
    [
      "a call without a result",
      [user("q"), asking([call("a")]), user("n")],
      ["1 tool_use.unanswered"],
    ],
    [
      "a result that comes too late",
      [user("q"), asking([call("a")]), user("n"), result("a")],
      ["1 tool_use.unanswered", "3 tool_result.orphan"],
    ],
    [
      "a second result",
      [user("q"), asking([call("a")]), result("a"), result("a")],
      ["3 tool_result.orphan"],
    ],
    [
      "a damaged image",
      [user([{ type: "image", data: "%", mimeType: "image/png" }])],
      ["0 image.source"],
    ],
  ])("finds %s", (_what, messages, expected) => {
    expect(rules(messages)).toEqual(expected);
  });

  it("judges each wire by its own rules, under its own names", () => {
    const messages = [
      assistant([thinking(), text("x")]),
      user("q"),
      asking([call("call_1")]),
      result("call_1"),
      assistant([text("a")]),
    ];
    expect(rules(messages, "openai-responses", "gpt")).toEqual([]);
    expect(rules(messages, "mistral-conversations", "mistral-large")).toEqual([
      "2 tool_call.id",
      "4 last",
    ]);
    expect(rules(messages, "google-generative-ai", "gemini")).toEqual([
      "0 first.user",
      "4 last.model",
    ]);
    expect(rules(messages, "some-api", "x")).toEqual([]);
    expect(
      rules(
        [user("q"), assistant([thinking(SIGNATURE), text("a")]), user("n")],
        "bedrock-converse-stream",
        "amazon.nova-pro",
      ),
    ).toEqual(["1 reasoning.signature"]);
    expect(
      rules(
        [user("q"), asking([call("a.b")]), result("a.b")],
        "openai-completions",
        "anthropic/claude-x",
      ),
    ).toEqual(["1 tool_calls.id_length40"]);
  });

  it("finds reasoning without a follower and items that are sent twice", () => {
    const step = [asking([reasoning("rs_1"), call("call_1|fc_1")]), result("call_1|fc_1")];
    expect(rules([user("q"), ...step], "openai-responses", "gpt")).toEqual([]);
    const again = [asking([reasoning("rs_1"), call("call_2|fc_1")]), result("call_2|fc_1")];
    expect(rules([user("q"), ...step, ...again], "openai-responses", "gpt")).toEqual([
      "3 id.duplicate",
    ]);
    expect(
      rules([user("q"), assistant([text("a"), reasoning("rs_9")])], "openai-responses", "gpt"),
    ).toEqual(["1 reasoning.orphan"]);
  });

  it("never repeats what a message says", () => {
    const secret = [user("top secret \ud800"), asking([call("top secret")])];
    expect(
      JSON.stringify(explainInvalid({ messages: secret, modelApi: "anthropic-messages" })),
    ).not.toContain("secret");
  });
});
