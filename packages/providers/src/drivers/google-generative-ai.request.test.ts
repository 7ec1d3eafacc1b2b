import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../provider.ts";
import { checkRequest } from "../testing/emulators.ts";
import { googleGenerativeAi } from "./google-generative-ai.ts";

const API = "google-generative-ai";
const PNG = "iVBORw0KGgo=";
const STUDIO = { baseUrl: "https://generativelanguage.googleapis.com/v1beta", apiKey: "key-1" };
const LOCATION =
  "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1";
const tool = { name: "read", description: "Reads.", parameters: { type: "object" } };

function callOf(id: string, more: Partial<ModelCall> = {}, provider = "google"): ModelCall {
  return {
    model: { provider, api: API, id, contextWindow: 1_000_000, maxOutputTokens: 10_000 },
    systemPrompt: "",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
    ...more,
  };
}

interface Body {
  contents: { role: string; parts: Record<string, unknown>[] }[];
  generationConfig?: Record<string, unknown>;
  tools?: unknown;
  toolConfig?: unknown;
}

/** The body, which must break no rule. */
function bodyOf(call: ModelCall, endpoint: Endpoint = STUDIO): Body {
  const { body: json, url } = googleGenerativeAi.buildRequest(call, endpoint);
  const body = JSON.parse(json) as Body;
  expect(checkRequest({ api: API, body, path: new URL(url).pathname })).toEqual([]);
  return body;
}

const configOf = (id: string, more: Partial<ModelCall>) =>
  bodyOf(callOf(id, more)).generationConfig;
const thinkingOf = (id: string, reasoning: NonNullable<ModelCall["reasoning"]>) =>
  configOf(id, { reasoning })?.thinkingConfig;

/** One step: a reply with calls, and their results. */
function step(
  content: AssistantMessage["content"],
  from: Partial<AssistantMessage> = { api: API, provider: "google" },
  image = false,
): AgentMessage[] {
  const calls = content.filter((block) => block.type === "toolCall");
  return [
    { role: "assistant", content, stopReason: "toolUse", ...from },
    ...calls.map(
      ({ id, name }): AgentMessage => ({
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content: [
          { type: "text", text: `${id} says` },
          ...(image ? [{ type: "image" as const, data: PNG, mimeType: "image/png" }] : []),
        ],
        isError: false,
      }),
    ),
  ];
}

const called = (id: string, thoughtSignature?: string) => ({
  type: "toolCall" as const,
  id,
  name: "read",
  arguments: { path: id },
  ...(thoughtSignature !== undefined && { thoughtSignature }),
});
const asked: AgentMessage = { role: "user", content: "Go" };
const contentsOf = (id: string, messages: AgentMessage[], endpoint?: Endpoint, provider?: string) =>
  bodyOf(callOf(id, { messages, tools: [tool] }, provider), endpoint).contents;

describe("the address of a Gemini request", () => {
  it.each([
    ["gemini-3-pro", STUDIO.baseUrl, "google", `${STUDIO.baseUrl}/models/gemini-3-pro`],
    ["tunedModels/mine", `${STUDIO.baseUrl}/`, "google", `${STUDIO.baseUrl}/tunedModels/mine`],
    ["../x?y#z", STUDIO.baseUrl, "google", `${STUDIO.baseUrl}/-/x%3Fy%23z`],
    ["gemini-3-pro", LOCATION, "mine", `${LOCATION}/publishers/google/models/gemini-3-pro`],
    ["meta/llama-4", LOCATION, "mine", `${LOCATION}/publishers/meta/models/llama-4`],
    ["endpoints/12", LOCATION, "mine", `${LOCATION}/endpoints/12`],
    [
      "gemini-3-pro",
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global",
      "mine",
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/gemini-3-pro",
    ],
    [
      "gemini-3-pro",
      "http://127.0.0.1:1/v1",
      "google-vertex",
      "http://127.0.0.1:1/v1/publishers/google/models/gemini-3-pro",
    ],
  ])("of %s at %s for %s is %s", (id, baseUrl, provider, url) => {
    const request = googleGenerativeAi.buildRequest(callOf(id, {}, provider), { baseUrl });
    expect(request.url).toBe(`${url}:streamGenerateContent?alt=sse`);
  });

  it("holds no key, which stands in the header that the place wants", () => {
    const headersAt = (baseUrl: string, apiKey: string) => {
      const request = googleGenerativeAi.buildRequest(callOf("gemini-3-pro"), { baseUrl, apiKey });
      expect(request.url).not.toContain(apiKey);
      const { authorization, "x-goog-api-key": key } = request.headers;
      return { authorization, key };
    };
    expect(headersAt(STUDIO.baseUrl, "key-1")).toEqual({ key: "key-1" });
    expect(headersAt(LOCATION, "ya29.token")).toEqual({ authorization: "Bearer ya29.token" });
    expect(headersAt(LOCATION, "AIzaKey")).toEqual({ key: "AIzaKey" });
  });
});

describe("what a call asks of Gemini", () => {
  it("has the provider's words", () => {
    const body = bodyOf(
      callOf("gemini-3-flash", {
        systemPrompt: "Be brief.",
        tools: [tool],
        toolChoice: { name: "read" },
        maxOutputTokens: 100,
        temperature: 0.5,
        reasoning: { effort: "medium" },
        responseFormat: { type: "json_schema", name: "x", schema: { type: "object" } },
        serviceTier: "flex",
      }),
    );
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "read", description: "Reads.", parametersJsonSchema: { type: "object" } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } },
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object" },
        thinkingConfig: { includeThoughts: true, thinkingLevel: "MEDIUM" },
      },
      serviceTier: "flex",
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    });
  });

  it("is no format beside tools where older models refuse both", () => {
    const responseFormat = { type: "json" } as const;
    const format = (id: string, tools: readonly (typeof tool)[]) => {
      const body = bodyOf(callOf(id, { tools, responseFormat }));
      return (body.generationConfig as { responseMimeType?: string } | undefined)?.responseMimeType;
    };
    expect(format("gemini-2.5-flash", [tool])).toBeUndefined();
    expect(format("gemini-2.5-flash", [])).toBe("application/json");
    expect(format("gemini-3-pro", [tool])).toBe("application/json");
  });

  it.each([
    ["auto", "AUTO"],
    ["none", "NONE"],
    ["required", "ANY"],
  ] as const)("says %s as %s", (toolChoice, mode) => {
    const { toolConfig } = bodyOf(callOf("gemini-3-pro", { tools: [tool], toolChoice }));
    expect(toolConfig).toEqual({ functionCallingConfig: { mode } });
  });

  it("is a level where models know words, the nearest one of those they know", () => {
    const level = (id: string, effort: "off" | "minimal" | "medium" | "max") =>
      (thinkingOf(id, { effort }) as { thinkingLevel: string }).thinkingLevel;
    expect(level("gemini-3-pro-preview", "minimal")).toBe("LOW");
    expect(level("gemini-3-pro-preview", "medium")).toBe("HIGH");
    expect(level("gemini-3.1-pro-preview", "medium")).toBe("MEDIUM");
    expect(level("gemini-3.5-flash", "off")).toBe("MINIMAL");
    expect(level("gemini-4-argon", "max")).toBe("HIGH");
  });

  it("is a budget where they know numbers, which leaves room for the reply", () => {
    const budget = (id: string, reasoning: NonNullable<ModelCall["reasoning"]>) =>
      thinkingOf(id, reasoning);
    expect(budget("gemini-2.5-flash", { effort: "off" })).toEqual({ thinkingBudget: 0 });
    expect(budget("gemini-2.5-pro", { effort: "off" })).toEqual({
      includeThoughts: false,
      thinkingBudget: 512,
    });
    expect(budget("gemini-2.5-pro", { effort: "medium", display: "none" })).toEqual({
      includeThoughts: false,
      thinkingBudget: 5000,
    });
    expect(budget("gemini-2.5-pro", { budgetTokens: 9_000_000 })).toEqual({
      includeThoughts: true,
      thinkingBudget: 9999,
    });
  });

  it("is nothing where a model does not think, or a call does not ask", () => {
    expect(thinkingOf("gemini-2.0-flash", { effort: "high" })).toBeUndefined();
    expect(thinkingOf("gemma-3-27b-it", { effort: "high" })).toBeUndefined();
    expect(configOf("gemini-3-pro", {})).toBeUndefined();
  });
});

describe("calls and results on the Gemini wire", () => {
  it("keep their ids and signatures, with all results before what a person says", () => {
    const messages = [
      asked,
      ...step([
        { type: "thinking", thinking: "Hm.", carrier: "thought" },
        { type: "text", text: "So.", textSignature: "dGV4dA==" },
        called("a", "c2ln"),
        called("b"),
      ]),
      { role: "user", content: "Wait" } as const,
    ];
    expect(contentsOf("gemini-3-pro", messages)).toEqual([
      { role: "user", parts: [{ text: "Go" }] },
      {
        role: "model",
        parts: [
          { text: "Hm.", thought: true },
          { text: "So.", thoughtSignature: "dGV4dA==" },
          {
            functionCall: { id: "a", name: "read", args: { path: "a" } },
            thoughtSignature: "c2ln",
          },
          { functionCall: { id: "b", name: "read", args: { path: "b" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "read", response: { output: "a says" } } },
          { functionResponse: { id: "b", name: "read", response: { output: "b says" } } },
          { text: "Wait" },
        ],
      },
    ]);
  });

  it("have no arguments nested deeper than the wire can be read", () => {
    const deep = (levels: number): Record<string, unknown> =>
      levels === 0 ? { end: 1 } : { in: deep(levels - 1) };
    const sent = (levels: number) => {
      const content = [{ ...called("a"), arguments: deep(levels) }];
      return JSON.stringify(contentsOf("gemini-2.5-flash", [asked, ...step(content)]));
    };
    expect(sent(20)).toContain('{"end":1}');
    expect(sent(150)).toContain("[left out: nested deeper than 64 levels]");
  });

  it("of another model get the documented stand-in on the first, where one is required", () => {
    const foreign = [asked, ...step([called("a"), called("b")], { api: "x", provider: "y" })];
    const signatures = (id: string) =>
      contentsOf(id, foreign)[1]!.parts.map(({ thoughtSignature }) => thoughtSignature);
    expect(signatures("gemini-3-pro")).toEqual(["skip_thought_signature_validator", undefined]);
    expect(signatures("gemini-4-argon")).toEqual(signatures("gemini-3-pro"));
    expect(signatures("gemini-2.5-pro")).toEqual([undefined, undefined]);
  });

  it("have no id that we made up, and at Vertex none that it did not give", () => {
    const ids = (id: string, from: object, baseUrl: string, provider = "google") =>
      contentsOf(
        id,
        [asked, ...step([called("noidXn0"), called("b")], from)],
        { baseUrl },
        provider,
      )
        .slice(1)
        .map(({ parts }) =>
          parts.map((part) => {
            const named = (part.functionCall ?? part.functionResponse) as { id?: string };
            return named.id;
          }),
        );
    const both = [
      [undefined, "b"],
      [undefined, "b"],
    ];
    const none = [
      [undefined, undefined],
      [undefined, undefined],
    ];
    const vertex = { api: API, provider: "google-vertex", model: "gemini-3-pro" };
    expect(ids("gemini-3-pro", { api: "x", provider: "y" }, STUDIO.baseUrl)).toEqual(both);
    expect(ids("gemini-3-pro", vertex, LOCATION, "google-vertex")).toEqual(both);
    expect(ids("gemini-2.5-pro", { api: "x" }, LOCATION, "google-vertex")).toEqual(none);
    expect(ids("gemini-2.5-pro", vertex, LOCATION, "google-vertex")).toEqual(none);
  });

  it("hold images inside a result where a model takes them there, and behind it elsewhere", () => {
    const messages = [asked, ...step([called("a", "c2ln")], {}, true)];
    const image = { inlineData: { mimeType: "image/png", data: PNG } };
    const response = { id: "a", name: "read", response: { output: "a says" } };
    expect(contentsOf("gemini-3-pro", messages)[2]!.parts).toEqual([
      { functionResponse: { ...response, parts: [image] } },
    ]);
    expect(contentsOf("gemini-2.5-pro", messages)[2]!.parts).toEqual([
      { functionResponse: response },
      { text: "Images that the tool read returned:" },
      image,
    ]);
  });

  it("say that a tool failed, and what a model without eyes misses", () => {
    const [reply, result] = step([called("a", "c2ln")], {}, true);
    const messages = [asked, reply!, { ...result, isError: true } as AgentMessage];
    const { model, ...call } = callOf("gemini-3-pro", { messages });
    const { contents } = bodyOf({ ...call, model: { ...model, acceptsImages: false } });
    expect(contents[2]!.parts).toEqual([
      {
        functionResponse: {
          id: "a",
          name: "read",
          response: { error: "a says\n[image left out: this model takes no images]" },
        },
      },
    ]);
  });
});

describe("parts only Gemini understands", () => {
  it("go back as they came, to the wire they came from", () => {
    const data = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "c2ln" };
    const block = { type: "provider", provider: "google", model: "m", kind: "x", data } as const;
    const said = (api: string): AgentMessage => ({
      role: "assistant",
      content: [
        { ...block, api },
        { type: "text", text: "One." },
      ],
      stopReason: "stop",
    });
    const partsFrom = (api: string) =>
      contentsOf("gemini-3-pro", [asked, said(api), asked])[1]!.parts;
    expect(partsFrom(API)).toEqual([data, { text: "One." }]);
    expect(partsFrom("anthropic-messages")).toEqual([{ text: "One." }]);
  });

  it("are not thoughts and proofs of others", () => {
    const reply: AgentMessage = {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln", carrier: "signed" },
        { type: "redacted_thinking", data: "b3BhcXVl" },
        { type: "text", text: "One.", textSignature: "msg_1" },
      ],
      stopReason: "stop",
    };
    expect(contentsOf("gemini-3-pro", [asked, reply, asked])[1]!.parts).toEqual([{ text: "One." }]);
  });
});
