// Reads one request as each wire writes it, and expects the same.
import { describe, expect, it } from "vitest";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { readAsk } from "./read-ask.ts";

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const read = { name: "read", description: "Reads a file." };
const user = { role: "user", content: "Hi" };

const BODIES: Record<DoorApi, JsonObject> = {
  "openai-completions": {
    messages: [{ role: "system", content: "Be brief." }, user],
    tools: [
      { type: "function", function: { ...read, parameters: schema } },
      { type: "custom", custom: { name: "patch" } },
    ],
    tool_choice: { type: "function", function: { name: "read" } },
    parallel_tool_calls: false,
    max_completion_tokens: 100,
    temperature: 0.5,
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: { name: "reply", schema } },
  },
  "openai-responses": {
    instructions: "Be brief.",
    input: [user],
    tools: [{ type: "function", ...read, parameters: schema }, { type: "web_search" }],
    tool_choice: { type: "function", name: "read" },
    parallel_tool_calls: false,
    max_output_tokens: 100,
    temperature: 0.5,
    reasoning: { effort: "low" },
    text: { format: { type: "json_schema", name: "reply", schema } },
  },
  "anthropic-messages": {
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [user],
    tools: [
      { ...read, input_schema: schema },
      { type: "web_search_20250305", name: "web_search" },
    ],
    tool_choice: { type: "tool", name: "read", disable_parallel_tool_use: true },
    max_tokens: 100,
    temperature: 0.5,
    thinking: { type: "adaptive" },
    output_config: { effort: "low", format: { type: "json_schema", schema } },
  },
  "google-generative-ai": {
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    tools: [
      {
        functionDeclarations: [
          {
            ...read,
            parameters: {
              type: "OBJECT",
              properties: { path: { type: "STRING" } },
              required: ["path"],
            },
          },
        ],
      },
      { googleSearch: {} },
    ],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } },
    generationConfig: {
      maxOutputTokens: 100,
      temperature: 0.5,
      thinkingConfig: { thinkingLevel: "LOW" },
      responseMimeType: "application/json",
      responseJsonSchema: schema,
    },
  },
};

function asked(api: DoorApi, body: JsonObject) {
  const request = DOOR_WIRES[api].read(body, "/v1beta/models/m:generateContent")!;
  return readAsk(api, body, request);
}

describe.each(Object.entries(BODIES) as [DoorApi, JsonObject][])("a request of %s", (api, body) => {
  it("asks the same as that of any other wire", () => {
    const { parallelToolCalls, ...rest } = asked(api, body);
    expect(rest).toEqual({
      system: "Be brief.",
      tools: [{ ...read, parameters: schema }],
      maxOutputTokens: 100,
      temperature: 0.5,
      reasoning: { effort: "low" },
      toolChoice: { name: "read" },
      responseFormat: { type: "json_schema", name: "reply", schema },
    });
    // Google's has no word for it.
    expect(parallelToolCalls).toBe(api === "google-generative-ai" ? undefined : false);
  });

  it("asks nothing where it says nothing", () => {
    const list = DOOR_WIRES[api].list;
    const messages = (body[list] as JsonObject[]).filter(({ role }) => role === "user");
    expect(asked(api, { [list]: messages })).toEqual({ system: "", tools: [] });
  });
});

describe("what a request asks", () => {
  it("is no tool that is not among its own", () => {
    const { tools: _, ...body } = BODIES["openai-completions"];
    expect(asked("openai-completions", body)).not.toHaveProperty("toolChoice");
  });

  it.each([
    [{ type: "disabled" }, { effort: "off" }],
    [{ type: "enabled", budget_tokens: 2000 }, { budgetTokens: 2000 }],
    [{ type: "adaptive" }, undefined],
  ])("is of Anthropic's thinking %j: %j", (thinking, reasoning) => {
    const { output_config: _, ...body } = BODIES["anthropic-messages"];
    expect(asked("anthropic-messages", { ...body, thinking }).reasoning).toEqual(reasoning);
  });

  it.each([
    [{ thinkingBudget: 0 }, { effort: "off" }],
    [{ thinkingBudget: -1 }, undefined],
    [{ thinkingBudget: 512 }, { budgetTokens: 512 }],
  ])("is of Google's thinking %j: %j", (thinkingConfig, reasoning) => {
    const body = { ...BODIES["google-generative-ai"], generationConfig: { thinkingConfig } };
    expect(asked("google-generative-ai", body).reasoning).toEqual(reasoning);
  });
});
